// @ts-nocheck
import { setImmediate as nextTurn } from "node:timers/promises";
import { progressText, type RowProgress } from "./progress-text.ts";

const PROGRESS_AFTER_MS = 1_000;
/** For logs, such as those of a CI job. */
export const LINE_EVERY_MS = 10_000;

/** A progress bar on stderr; a line every 10 s when stderr is not a terminal. */
export type ProgressDisplay = {
  /** `reading`: rows read so far, when `done` and `of` are bytes. */
  readonly report: (done: number, of: number, reading?: RowProgress) => Promise<void>;
  readonly end: () => void;
};

/** Where progress is shown, and the wall-clock time in milliseconds. */
export type ProgressOutput = {
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
  readonly clock: () => number;
};

export function standardError(): ProgressOutput {
  return {
    isTerminal: process.stderr.isTTY === true,
    write: (text) => process.stderr.write(text),
    clock: () => performance.now(),
  };
}

/** Shows nothing during the first second. Each report yields to the event loop. */
export function showProgress(work: string, output = standardError()): ProgressDisplay {
  const startedAt = output.clock();
  let bar: { advance(step: number, message?: string): void; stop(message?: string): void } | undefined;
  let shown = 0;
  let printedMs = 0;
  return {
    async report(done, of, reading) {
      await nextTurn();
      const elapsedMs = output.clock() - startedAt;
      if (!output.isTerminal) {
        if (elapsedMs - printedMs < LINE_EVERY_MS) return;
        printedMs = elapsedMs;
        output.write(`${progressText(work, { done, of, elapsedMs, reading })}\n`);
        return;
      }
      if (elapsedMs < PROGRESS_AFTER_MS) return;
      if (bar === undefined) {
        const { progress } = await import("@clack/prompts");
        const created = progress({ max: of, output: process.stderr, withGuide: false });
        created.start(work);
        bar = created;
      }
      bar.advance(done - shown, progressText(work, { done, of, elapsedMs, reading }));
      shown = done;
    },
    end: () => bar?.stop(work),
  };
}
