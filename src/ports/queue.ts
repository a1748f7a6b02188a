import type { Satellite } from "./satellite.ts";

/** The Redis server, and the secret that commands and workers share; without a secret, everyone can sign. */
export type QueuePlace = { readonly url: string; readonly secret: string | undefined };

/** Recorded traffic. Only the core knows more about it. */
export type Recording = { readonly rows: number };

type Run = {
  readonly file: string;
  /** The scenario. */
  readonly text: string;
  /** Which combination of its matrix. */
  readonly variant: number;
  /** By what the scenario calls them. */
  readonly recordings: ReadonlyMap<string, Recording>;
  readonly seed?: number | undefined;
  readonly bail: boolean;
};

/** A run of a scenario, as the command has it that asks for it. */
export type QueuedRun = Run & {
  readonly title: string;
  readonly needs: {
    /** Path of the file of the initial world. */
    readonly worldFile?: string | undefined;
    /** Whether a step executes SQL. */
    readonly sql: boolean;
  };
};

/** A run of a scenario, as a worker executes it: it reads no file but `worldCopy`. */
export type WorkerRun = Run & {
  /** A copy of the file of the initial world. */
  readonly worldCopy?: string | undefined;
  /** Directory for the temporary files of the run. */
  readonly temporaryRoot: string;
  readonly isWithoutFiles: true;
};

/** The result of a run, as plain values. Only the core knows more about it. */
export type RunResult =
  | { readonly verdict: "passed" | "failed" }
  | { readonly verdict: "could_not_run"; readonly reason: string };

/** A part of a what-if question, which a command of standin answers. */
export type QueuedPart = {
  readonly title: string;
  /** The arguments of standin. */
  readonly args: readonly string[];
  /** Names of files are relative to it. Workers need the same files there. */
  readonly directory: string;
  /** Inputs of the answer in addition to the arguments, as plain values. */
  readonly input: unknown;
};

export type PartResult =
  | { readonly verdict: "answered"; readonly text: string }
  | { readonly verdict: "could_not_run"; readonly reason: string };

/** Jobs that workers do, with their results. Rejections are errors for the user. */
export type QueuedResults<J, R> = {
  readonly results: ReadonlyMap<J, Promise<R>>;
  /** Removes the line of progress before other output. */
  readonly clearProgress: () => void;
  /** Removes the jobs that no worker has begun. */
  readonly close: () => Promise<void>;
};

/** Executes runs in threads. */
export type WorkerPool = {
  run(job: WorkerRun): Promise<{ readonly title: string; readonly result: RunResult }>;
  close(): Promise<void>;
};

/** Directory and arguments of standin with which a part is answered; or why it may not be answered. */
export type CheckedPart =
  | { readonly directory: string; readonly args: readonly string[] }
  | { readonly problem: string };

/** Functions that the core offers to the queue. */
export interface QueueHost {
  /** The version of the core. */
  readonly version: string;
  /** Digest of its code. Other code could give other results. */
  readonly codeDigest: string;
  /** The file of its command. */
  readonly commandFile: string;
  /** Limits in bytes. */
  readonly limits: {
    /** Size of a file that is sent with a run. */
    readonly file: number;
    /** Size of the answer for a part. */
    readonly part: number;
    /** Total size of files that a worker stores for its next jobs. */
    readonly retained: number;
  };
  recordingBytes(recording: Recording): Buffer;
  /** Throws an error if the bytes are not a recording. */
  recordingFrom(bytes: Buffer): Recording;
  openPool(workers: number): Promise<WorkerPool>;
  /** `traces`: the directory below which a part may read files. */
  checkPart(part: Pick<QueuedPart, "args" | "directory">, traces: string | undefined): CheckedPart;
  /** The text with control characters escaped. */
  printable(text: string): string;
  /** Such as `running: 7 of 20, 19 s left`. */
  progressText(work: string, progress: { done: number; of: number; elapsedMs: number }): string;
}

export type WorkerOptions = {
  readonly place: QueuePlace;
  /** Directory below which parts may read trace files. */
  readonly traces?: string | undefined;
  /** Number of parallel runs. */
  readonly concurrency: number;
  /** After a worker has shown no sign of life for this long, its jobs are given to others. */
  readonly lockMs: number;
  /** Ends the worker after this time without a job. */
  readonly idleMs?: number | undefined;
  readonly onReady: (worker: {
    readonly name: string;
    readonly code: string;
    readonly address: string;
  }) => void;
  readonly onRun: (run: { readonly title: string; readonly verdict: string; readonly ms: number }) => void;
  readonly message: (text: string) => void;
};

/** `@standin/queue`. Its functions reject with a `UserError` if Redis cannot be used. */
export type QueueSatellite = Satellite & {
  /** Runs scenarios on the workers of a queue. `runHere` executes scenarios that cannot be sent. */
  openRuns<J extends QueuedRun, R extends RunResult>(
    host: QueueHost,
    place: QueuePlace,
    jobs: readonly J[],
    runHere: (job: J) => Promise<R>,
    signal: AbortSignal,
  ): Promise<QueuedResults<J, R>>;
  /** Answers for parts on the workers of a queue. */
  openParts<J extends QueuedPart>(
    host: QueueHost,
    place: QueuePlace,
    jobs: readonly J[],
    signal: AbortSignal,
  ): Promise<QueuedResults<J, PartResult>>;
  /** Works off the queue until `stop` is aborted, and then completes the runs that have begun. */
  work(host: QueueHost, options: WorkerOptions, stop: AbortSignal): Promise<void>;
};
