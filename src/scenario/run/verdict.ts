/** The result of one step. Times are ISO 8601 instants of the world's clock, never wall-clock time. */
export type StepResult = {
  /** The place in the file: `3`, or `3.2` for a nested step. */
  readonly place: string;
  readonly name: string;
  readonly at: string;
  readonly ok: boolean;
  /** A short result, such as the status of a response. */
  readonly detail?: string;
};

export type RunFailure = {
  /** The source of the failure: a step, an expectation of the file, or an invariant. */
  readonly what: string;
  readonly at: string;
  readonly expected: string;
  readonly actual: string;
  /** Its place in the file, from 1; absent for what is not in the file, such as an invariant. */
  readonly line?: number;
  readonly column?: number;
  /** The preceding events, oldest first. */
  readonly events: readonly string[];
};

export type ComputeTimeline = {
  readonly label: string;
  /** For each column, the share of its time in this state, from 0 to 1. */
  readonly active: readonly number[];
  readonly starting: readonly number[];
};

/** The run could not start or continue, so there is no verdict. */
export type CouldNotRun = Pick<Verdict, "scenario" | "file" | "values" | "seed" | "repeat"> & {
  readonly verdict: "could_not_run";
  readonly reason: string;
};

/** The result of a run. The same file, values and seed give the same bytes on every machine. */
export type Verdict = {
  readonly scenario: string;
  readonly file: string;
  /** Values of the matrix; empty without a matrix. */
  readonly values: Readonly<Record<string, string | number | boolean>>;
  readonly seed: number;
  readonly verdict: "passed" | "failed";
  readonly started_at: string;
  readonly ended_at: string;
  readonly steps: readonly StepResult[];
  readonly failures: readonly RunFailure[];
  readonly measures: Readonly<Record<string, number>>;
  readonly timelines: readonly ComputeTimeline[];
  /** Number of timelines that are not included. */
  readonly timelines_left_out: number;
  readonly events: number;
  /** Digest of the world at the end. */
  readonly state: string;
  /** The command that repeats the run. */
  readonly repeat: string;
};
