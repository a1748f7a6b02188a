import type { MeasureName } from "../file/expectation.ts";
import type { ComputeTimeline, FaultMark, OperationInterval } from "../measure/run-figures.ts";

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

/** A place in the scenario file, from 1. */
export type FilePosition = { readonly line?: number; readonly column?: number };

/** A condition that does not hold. */
export type FailedCondition = {
  /** The source of the failure: a step, an expectation of the file, or an invariant. */
  readonly what: string;
  readonly at: string;
  readonly expected: string;
  readonly actual: string;
};

/** The position is absent for what is not in the file, such as an invariant. */
export type RunFailure = FailedCondition &
  FilePosition & {
    /** The name of the expectation that failed, in `expectations`. */
    readonly expectation?: string;
    /** The event, or the response, after which the condition did not hold any more. */
    readonly broken_by?: string;
    /** The last event that changed the measure of a condition that never held. */
    readonly last_change?: string;
    /** The causes of the event, nearest cause first. */
    readonly caused_by: readonly string[];
  };

/** An expectation of the file after a run. */
export type ExpectationResult = FilePosition & {
  readonly what: string;
  readonly expected: string;
  /** `not_checked`: its step was not reached, or its window did not open. */
  readonly result: "passed" | "failed" | "not_checked";
  /** The number of times that it was checked. */
  readonly checks: number;
  readonly measure: MeasureName;
  /** The first failed value; for an expectation that passed, the value closest to the bound. */
  readonly value?: number | string;
  /** The instant of the value. */
  readonly at?: string;
  /** Distance of the value to the bound, negative if it failed. Absent for states. */
  readonly margin?: number;
};

/** The run could not start or continue, so there is no verdict. */
export type CouldNotRun = Pick<Verdict, "scenario" | "file" | "values" | "seed" | "repeat" | "wall_ms"> & {
  readonly verdict: "could_not_run";
  readonly reason: string;
};

/** A verdict without the fields that have other names in the JSON report of a run. */
export type ReportedVerdict = Omit<
  Verdict,
  "expectations" | "operations" | "operations_left_out" | "faults" | "faults_left_out"
> & { readonly expectations: readonly Omit<ExpectationResult, "measure">[] };

/** The result of a run. Without `wall_ms`, the same file, values and seed give the same bytes on every machine. */
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
  readonly expectations: readonly ExpectationResult[];
  readonly measures: Readonly<Record<string, number>>;
  readonly timelines: readonly ComputeTimeline[];
  /** Number of timelines that are not included. */
  readonly timelines_left_out: number;
  readonly operations: readonly OperationInterval[];
  readonly operations_left_out: number;
  readonly faults: readonly FaultMark[];
  readonly faults_left_out: number;
  readonly events: number;
  /** Digest of the world at the end. */
  readonly state: string;
  /** The command that repeats the run. */
  readonly repeat: string;
  /** Wall-clock time that the run took, if it was to be measured. */
  readonly wall_ms?: number;
};
