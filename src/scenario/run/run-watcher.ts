import type { SimTime } from "../../kernel/time.ts";
import type { ExpectationResult, RunFailure, StepResult } from "./verdict.ts";

/** Progress of a run. */
export type RunSoFar = {
  readonly now: SimTime;
  /** The step that begins next, or that has begun. */
  readonly current: Pick<StepResult, "place" | "name"> | undefined;
  readonly steps: readonly StepResult[];
  readonly failures: readonly RunFailure[];
  readonly expectations: () => readonly ExpectationResult[];
};

/** Follows a run, and decides when it continues. */
export interface RunWatcher {
  /** Before a step begins, or after a part of an advance. The run waits for the promise. */
  reached(point: "step" | "advance", soFar: RunSoFar): Promise<void>;
  /** All steps and expectations are done. */
  ended(soFar: RunSoFar): void;
}
