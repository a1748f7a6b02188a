import { setImmediate as nextTurn } from "node:timers/promises";

const PROGRESS_AFTER_MS = 1_000;

/** Tells how much of a long work is done: a bar on the terminal, and nothing where none is watching. */
export type Progress = {
  readonly report: (done: number, of: number) => Promise<void>;
  readonly end: () => void;
};

/** Shows nothing before a second has passed; lets Ctrl-C and the drawing get a word in. */
export function showProgress(work: string): Progress {
  const startedAt = performance.now();
  let bar: { advance(step: number, message?: string): void; stop(message?: string): void } | undefined;
  let shown = 0;
  return {
    async report(done, of) {
      await nextTurn();
      if (!process.stderr.isTTY || performance.now() - startedAt < PROGRESS_AFTER_MS) return;
      if (bar === undefined) {
        const { progress } = await import("@clack/prompts");
        const made = progress({ max: of, output: process.stderr, withGuide: false });
        made.start(work);
        bar = made;
      }
      bar.advance(done - shown, `${work}: ${done.toLocaleString("en")} of ${of.toLocaleString("en")}`);
      shown = done;
    },
    end: () => bar?.stop(work),
  };
}
