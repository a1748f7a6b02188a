import type { SimTime } from "../../../kernel/time.ts";
import { ACCEPTED, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { type BranchData, hasDataAt } from "../../model/branch-data.ts";
import type { World } from "../../world/world.ts";

/** `prefix` of the request fields, as in `PointInTime`. */
export function checkDataAvailable(
  world: World,
  branchId: string,
  { prefix, isLsn, at }: { readonly prefix: string; readonly isLsn: boolean; readonly at: SimTime },
): Result<undefined> {
  if (hasDataAt(world.branchData.get(branchId), at)) return ACCEPTED;
  return isLsn
    ? refuse("PARENT_LSN_NOT_ALLOWED", `${prefix}lsn ${describeLimit(branchId)}`)
    : refuse("PARENT_TIMESTAMP_NOT_ALLOWED", `${prefix}timestamp ${describeLimit(branchId)}`);
}

/** A world of the past refers to the data of its branches then. `rows`: where the data is now. */
export function checkPastData(rows: Iterable<BranchData>, past: World, at: SimTime): Result<undefined> {
  for (const row of rows)
    if (past.branches.get(row.id) !== undefined && !hasDataAt(row, at))
      return refuse("DATA_DELETED", `the point ${describeLimit(row.id)}`);
  return ACCEPTED;
}

function describeLimit(branchId: string): string {
  return `must be later: the log of branch "${branchId}" from before is deleted; it is retained for history_retention_seconds, and up to --max-branch-history`;
}
