import type { DurationDistribution } from "../../kernel/distribution.ts";
import type { OperationAction } from "./operation-actions.ts";

/** What the operations of an account did, instead of the figures of a profile. Actions without figures keep those. */
export type Calibration = {
  readonly name: string;
  readonly durations: Readonly<Partial<Record<OperationAction, DurationDistribution>>>;
  /** The share of operations that fail for good. */
  readonly failedShares: Readonly<Partial<Record<OperationAction, number>>>;
};
