import type { TimedOperation } from "../../account/account-reader.ts";
import { SECOND } from "../../kernel/time.ts";
import type { CheckResult, Surprise } from "./agreement.ts";

/** R: a change of configuration runs at once, whatever else runs. */
const RUNS_AT_ONCE = "apply_config";
const ENDED: readonly string[] = ["finished", "failed"];

/**
 * An operation that was scheduled later than another one of its compute, and ended before it, did not wait for it.
 * Instants are known to a second. `operations`: by project, oldest first.
 */
export function compareLocks(operations: readonly TimedOperation[]): CheckResult {
  const lastEnding = new Map<string, TimedOperation>();
  const surprises: Surprise[] = [];
  let compared = 0;
  for (const operation of operations) {
    const { endpoint, action, status, project, id, created_at: at } = operation;
    if (endpoint === null || action === RUNS_AT_ONCE || !ENDED.includes(status)) continue;
    compared += 1;
    const before = lastEnding.get(endpoint);
    if (before === undefined || endOf(operation) >= endOf(before)) lastEnding.set(endpoint, operation);
    if (before === undefined || at < before.created_at + SECOND) continue;
    if (endOf(operation) + SECOND > endOf(before)) continue;
    surprises.push({
      ...{ check: "lock", project, compute: endpoint, operation: id, at },
      text: `${action} ended ${(endOf(before) - endOf(operation)) / SECOND} s before ${before.action} ${before.id}, which was scheduled ${(at - before.created_at) / SECOND} s earlier`,
    });
  }
  return { check: "lock", compared, skipped: 0, surprises };
}

function endOf({ created_at, duration_ms }: TimedOperation): number {
  return created_at + duration_ms;
}
