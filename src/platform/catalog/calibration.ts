import type { DurationDistribution } from "../../kernel/distribution.ts";
import type { OperationAction } from "./operation-actions.ts";

/**
 * Figures of the operations of an account, which replace those of a profile. Other actions keep the profile's figures.
 */
export type Calibration = {
  readonly name: string;
  /** Lists, because the control API renders names of properties in another case. */
  readonly durations: readonly { readonly action: OperationAction; readonly takes: DurationDistribution }[];
  /** The share of operations that fail for good; actions that never fail are not listed. */
  readonly failures: readonly { readonly action: OperationAction; readonly share: number }[];
};
