// @ts-nocheck
import { expect, test } from "vitest";
import { showRunProgress } from "../../../../src/cli/run/run-progress.ts";
import { showProgress } from "../../../../src/cli/terminal/progress-display.ts";

const START = Date.UTC(2026, 0, 1);

function logOutput() {
  const lines: string[] = [];
  const time = { ms: 5_000 };
  return {
    lines,
    time,
    output: { isTerminal: false, write: (text: string) => void lines.push(text), clock: () => time.ms },
  };
}

test("without a terminal, work prints one line every 10 s and none before", async () => {
  const { lines, time, output } = logOutput();
  const progress = showProgress("replaying computes", output);
  for (let second = 1; second <= 30; second += 1) {
    time.ms += 1_000;
    await progress.report(second, 60);
    expect(lines).toHaveLength(Math.floor(second / 10));
  }
  progress.end();
  expect(lines).toEqual([
    "replaying computes: 10 of 60, 50 s left\n",
    "replaying computes: 20 of 60, 40 s left\n",
    "replaying computes: 30 of 60, 30 s left\n",
  ]);
});

test("without a terminal, a scenario prints one line every 10 s and none before", () => {
  const { lines, time, output } = logOutput();
  const progress = showRunProgress(output);
  for (let second = 1; second <= 20; second += 1) {
    time.ms += 1_000;
    progress.report({ now: START + second, start: START, end: START + 40, events: 1_000 * second });
    expect(lines).toHaveLength(Math.floor(second / 10));
  }
  progress.clear();
  expect(lines).toEqual([
    "running: 2026-01-01T00:00:00.010Z 25 %  10,000 events\n",
    "running: 2026-01-01T00:00:00.020Z 50 %  20,000 events\n",
  ]);
});

test("on a terminal, a scenario draws its progress over the previous one", () => {
  const { lines, time, output } = logOutput();
  const progress = showRunProgress({ ...output, isTerminal: true });
  time.ms += 1_000;
  progress.report({ now: START, start: START, end: undefined, events: 1 });
  progress.clear();
  expect(lines).toEqual(["\r\u001b[2K  2026-01-01T00:00:00.000Z  1 events", "\r\u001b[2K"]);
});
