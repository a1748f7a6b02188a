import type { DurationMs, SimTime } from "../../kernel/time.ts";

/** The child branches of a project over time. */
export type ChildBranchUse = {
  /** Branches with a parent × milliseconds. */
  readonly branchMs: DurationMs;
  /** Child branches are booked up to this instant. */
  readonly until: SimTime;
};

export function addChildBranches(one: ChildBranchUse | undefined, other: ChildBranchUse | undefined) {
  if (one === undefined || other === undefined) return one ?? other;
  return { branchMs: one.branchMs + other.branchMs, until: Math.max(one.until, other.until) };
}

/** `undefined` if there were none in between. */
export function childBranchesSince(
  total: ChildBranchUse | undefined,
  before: ChildBranchUse | undefined,
): ChildBranchUse | undefined {
  if (total === undefined || before === undefined) return total;
  const branchMs = total.branchMs - before.branchMs;
  return branchMs === 0 ? undefined : { branchMs, until: total.until };
}
