import jStat from "jstat";
import type { TimedOperation } from "../../account/account-reader.ts";
import { type ObservedAction, observeActions } from "../../account/observed-actions.ts";
import type { OperationAction } from "../../platform/catalog/operation-actions.ts";
import { plural } from "../../whatif/units/number-format.ts";
import type { CheckResult, Surprise } from "./agreement.ts";
import { isKnown } from "./compare-operations.ts";

/** Probability below which a number of failures is a difference. The check of durations uses the same probability. */
const RAREST = 1e-6;

/** The share of operations that should fail. */
export type ExpectedFailures = {
  /** By action. How often an action without a share fails is not known. */
  readonly shares: Readonly<Partial<Record<OperationAction, number>>>;
  /** By action: the size of the sample that the share comes from, if it is one. */
  readonly counts: Readonly<Partial<Record<OperationAction, number>>>;
};

/** Compares how many operations of each known action failed with the share that should. */
export function compareFailures(
  operations: readonly TimedOperation[],
  { shares, counts }: ExpectedFailures,
): CheckResult {
  let [compared, skipped, skippedFailures] = [0, 0, 0];
  const surprises: Surprise[] = [];
  for (const observed of observeActions(operations)) {
    const { action, failed, ended, to } = observed;
    if (!isKnown(action)) continue;
    const share = shares[action];
    if (share === undefined) {
      skipped += ended;
      skippedFailures += failed;
      continue;
    }
    compared += ended;
    const count = counts[action];
    if (probabilityOf(observed, share, count) >= RAREST) continue;
    surprises.push({
      ...{ check: "failure", project: null, compute: null, operation: null, at: to },
      text: `${action}: ${failed} of ${ended} failed, ${(share * 100).toFixed(2)} % expected${count === undefined ? "" : ` by ${count} observations`}`,
    });
  }
  const note = `${skippedFailures} of ${plural(skipped, "operation")} failed. Whether that is usual is not known: the profile states no failure rates. One of standin account calibrate does`;
  return { check: "failure", compared, skipped, surprises, ...(skipped === 0 ? {} : { note }) };
}

/** Two-sided probability of this number of failures if the share has not changed. */
function probabilityOf(
  { failed, ended }: Pick<ObservedAction, "failed" | "ended">,
  share: number,
  count: number | undefined,
): number {
  const [atLeast, atMost] =
    count === undefined
      ? [binomialAtLeast(failed, ended, share), 1 - binomialAtLeast(failed + 1, ended, share)]
      : sampleTails(failed, ended, Math.round(share * count), count);
  return Math.min(1, 2 * Math.min(atLeast, atMost));
}

function binomialAtLeast(failed: number, ended: number, share: number): number {
  if (failed === 0) return 1;
  if (failed > ended) return 0;
  return jStat.ibeta(share, failed, ended - failed + 1);
}

/** Fisher's exact test: the failures of both samples together are distributed at random. */
function sampleTails(failed: number, ended: number, before: number, count: number): [number, number] {
  const total = failed + before;
  const [first, last] = [Math.max(0, total - count), Math.min(total, ended)];
  let [atLeast, atMost] = [0, 0];
  for (let own = first; own <= last; own += 1) {
    const probability = Math.exp(
      logChoose(ended, own) + logChoose(count, total - own) - logChoose(ended + count, total),
    );
    if (own >= failed) atLeast += probability;
    if (own <= failed) atMost += probability;
  }
  return [atLeast, atMost];
}

function logChoose(of: number, chosen: number): number {
  return jStat.gammaln(of + 1) - jStat.gammaln(chosen + 1) - jStat.gammaln(of - chosen + 1);
}
