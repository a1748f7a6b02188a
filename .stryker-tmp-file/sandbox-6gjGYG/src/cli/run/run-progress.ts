// @ts-nocheck
import type { RunProgress } from "../../scenario/run/run-clock.ts";
import { LINE_EVERY_MS, standardError } from "../terminal/progress-display.ts";

const PROGRESS_AFTER_MS = 1_000;
const DRAW_EVERY_MS = 100;
const CLEAR_LINE = "\r\u001b[2K";

/**
 * Shows the simulated time of a long run on a line that the next step overwrites; a line every 10 s when stderr
 * is not a terminal.
 */
export function showRunProgress(output = standardError()): {
  readonly report: (progress: RunProgress) => void;
  readonly clear: () => void;
} {
  const startedAt = output.clock();
  let drawnAt = startedAt;
  let isDrawn = false;
  return {
    report({ now, start, end, events }) {
      const wallTime = output.clock();
      const intervalMs = output.isTerminal ? DRAW_EVERY_MS : LINE_EVERY_MS;
      if (wallTime - startedAt < PROGRESS_AFTER_MS || wallTime - drawnAt < intervalMs) return;
      const share = end === undefined ? "" : ` ${Math.floor(((now - start) / (end - start)) * 100)} %`;
      const text = `${new Date(now).toISOString()}${share}  ${events.toLocaleString("en")} events`;
      output.write(output.isTerminal ? `${CLEAR_LINE}  ${text}` : `running: ${text}\n`);
      drawnAt = wallTime;
      isDrawn = output.isTerminal;
    },
    clear() {
      if (isDrawn) output.write(CLEAR_LINE);
      isDrawn = false;
    },
  };
}
