import type { BranchData } from "../../platform/branch-data/branch-data.ts";
import type { SimTime } from "../../platform/core/time.ts";

/** What is stored of a branch's data. `undefined` if nothing is. */
export type DescribeBranchData = (row: BranchData) => Promise<
  | {
      readonly pgVersion: number;
      readonly asOf: SimTime;
      readonly isExact: boolean;
      readonly sizeBytes: number;
      readonly points: number;
      readonly since?: SimTime;
    }
  | undefined
>;
