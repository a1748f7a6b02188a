import type { RunProgress } from "../../scenario/run/run-scenario.ts";

const PROGRESS_AFTER_MS = 1_000;
const DRAW_EVERY_MS = 100;
const CLEAR_LINE = "\r\u001b[2K";

/**
 * Shows the simulated time of a long run on a line that the next step overwrites; nothing if stderr is not a
 * terminal.
 */
export function showRunProgress(): {
  readonly report: (progress: RunProgress) => void;
  readonly clear: () => void;
} {
  const startedAt = performance.now();
  let drawnAt = 0;
  let isDrawn = false;
  return {
    report({ now, start, end, events }) {
      const wallTime = performance.now();
      if (
        !process.stderr.isTTY ||
        wallTime - startedAt < PROGRESS_AFTER_MS ||
        wallTime - drawnAt < DRAW_EVERY_MS
      )
        return;
      const share = end === undefined ? "" : ` ${Math.floor(((now - start) / (end - start)) * 100)} %`;
      process.stderr.write(
        `${CLEAR_LINE}  ${new Date(now).toISOString()}${share}  ${events.toLocaleString("en")} events`,
      );
      drawnAt = wallTime;
      isDrawn = true;
    },
    clear() {
      if (isDrawn) process.stderr.write(CLEAR_LINE);
      isDrawn = false;
    },
  };
}
