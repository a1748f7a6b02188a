/** What became of one step. Times are ISO 8601 instants of the world's clock; nothing here is of the wall. */
export type StepResult = {
  /** Its place in the file: `3`, or `3.2` within a step that has steps. */
  readonly place: string;
  readonly name: string;
  readonly at: string;
  readonly ok: boolean;
  /** What it found, where there is something to tell. */
  readonly detail?: string;
};

export type RunFailure = {
  /** Where it was: a step, an expectation of the file, an invariant. */
  readonly what: string;
  readonly at: string;
  readonly expected: string;
  readonly actual: string;
  /** What led there, oldest first. */
  readonly events: readonly string[];
};

export type ComputeTimeline = {
  readonly label: string;
  /** The share of each column's time in which it was active, from 0 to 1; likewise starting. */
  readonly active: readonly number[];
  readonly starting: readonly number[];
};

/** Why there is no verdict: what the run needs is not there, or refuses. */
export type CouldNotRun = Pick<Verdict, "scenario" | "file" | "values" | "seed" | "repeat"> & {
  readonly verdict: "could_not_run";
  readonly reason: string;
};

/** What a run has come to. The same file, values and seed give the same, to the byte, on every machine. */
export type Verdict = {
  readonly scenario: string;
  readonly file: string;
  /** Values of the matrix; empty where there is none. */
  readonly values: Readonly<Record<string, string | number | boolean>>;
  readonly seed: number;
  readonly verdict: "passed" | "failed";
  readonly started_at: string;
  readonly ended_at: string;
  readonly steps: readonly StepResult[];
  readonly failures: readonly RunFailure[];
  readonly measures: Readonly<Record<string, number>>;
  readonly timelines: readonly ComputeTimeline[];
  /** How many there were beyond those that are shown. */
  readonly timelines_left_out: number;
  readonly events: number;
  /** Of the world at the end. */
  readonly state: string;
  /** The one command that repeats it. */
  readonly repeat: string;
};
