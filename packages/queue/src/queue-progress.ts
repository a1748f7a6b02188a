import type { QueueHost } from "@standin/standin/ports/queue";
import type { ListedWorker } from "./worker-list.ts";

const PROGRESS_AFTER_MS = 1_000;
const DRAW_EVERY_MS = 200;
/** Interval of lines in logs, such as the log of a CI job. */
const LINE_EVERY_MS = 10_000;
const CLEAR_LINE = "\r\u001b[2K";
/** Number of workers that are shown by name. Workers with most runs come first. */
const MAX_WORKERS_SHOWN = 4;

/** Progress of all workers on one line of stderr; a line every 10 s when stderr is not a terminal. */
export type QueueProgress = {
  readonly start: (jobs: number) => void;
  /** A run is complete: by this worker if known, or with the result of an earlier command. */
  readonly done: (worker: string | undefined, isReused: boolean) => void;
  /** The workers of all versions; `code` is the version that can run the jobs. */
  readonly workers: (workers: readonly ListedWorker[], code: string) => void;
  readonly message: (text: string) => void;
  /** Removes the line before other output. */
  readonly clear: () => void;
  readonly end: () => void;
};

/** Output of the progress, and the wall-clock time in milliseconds. */
type ProgressOutput = {
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
  readonly clock: () => number;
};

const standardError = (): ProgressOutput => ({
  isTerminal: process.stderr.isTTY === true,
  write: (text) => process.stderr.write(text),
  clock: () => performance.now(),
});

export function showQueueProgress(
  { printable, progressText }: Pick<QueueHost, "printable" | "progressText">,
  output = standardError(),
): QueueProgress {
  const startedAt = output.clock();
  const runsBy = new Map<string, number>();
  let drawnAt = startedAt;
  let isDrawn = false;
  let of = 0;
  let done = 0;
  let reused = 0;
  let present = 0;
  let lastNotice = "";
  const clear = () => {
    if (isDrawn) output.write(CLEAR_LINE);
    isDrawn = false;
  };
  const message = (text: string) => {
    clear();
    output.write(printable(`standin: ${text}\n`));
  };
  const draw = () => {
    const now = output.clock();
    const intervalMs = output.isTerminal ? DRAW_EVERY_MS : LINE_EVERY_MS;
    if (now - startedAt < PROGRESS_AFTER_MS || now - drawnAt < intervalMs || of === 0) return;
    const parts = [
      progressText("running", { done, of, elapsedMs: now - startedAt }),
      ...(reused > 0 ? [`${reused.toLocaleString("en")} reused`] : []),
      `${present} ${present === 1 ? "worker" : "workers"}`,
    ];
    const text = printable(`${parts.join(", ")}${byWorker(runsBy)}`);
    output.write(output.isTerminal ? `${CLEAR_LINE}${text}` : `${text}\n`);
    drawnAt = now;
    isDrawn = output.isTerminal;
  };
  return {
    start(jobs) {
      of = jobs;
    },
    done(worker, isReused) {
      done += 1;
      if (isReused) reused += 1;
      else if (worker !== undefined) runsBy.set(worker, (runsBy.get(worker) ?? 0) + 1);
      draw();
    },
    workers(workers, code) {
      const usable = workers.filter((worker) => worker.code === code);
      present = usable.length;
      const notice = usable.length > 0 || done === of ? "" : noWorkerNotice(workers, code);
      if (notice !== "" && notice !== lastNotice) message(notice);
      lastNotice = notice;
      draw();
    },
    message,
    clear,
    end: clear,
  };
}

function noWorkerNotice(others: readonly ListedWorker[], code: string): string {
  const connected = others.map((worker) => `${worker.name} (${worker.code})`).join(", ");
  return `waiting for a worker: start one with standin worker of version ${code} (build and key)${connected === "" ? "" : `; workers of other versions or keys: ${connected}`}`;
}

function byWorker(runs: ReadonlyMap<string, number>): string {
  const sorted = [...runs].sort(([name, a], [other, b]) => b - a || (name < other ? -1 : 1));
  const shown = sorted
    .slice(0, MAX_WORKERS_SHOWN)
    .map(([name, count]) => `${name} ${count.toLocaleString("en")}`);
  const rest = sorted.length - shown.length;
  return shown.length === 0 ? "" : ` (${[...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(", ")})`;
}
