import { openAccountFile } from "../../account/account-file.ts";
import {
  type AccountSummary,
  countHoursSince,
  previousPullAt,
  readTimedOperations,
} from "../../account/account-reader.ts";
import { readActivity, readDelaySettings } from "../../account/activity-reader.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { countText } from "../../whatif/units/number-format.ts";
import { openAccount } from "../whatif/account-input.ts";
import type { CheckResult } from "./agreement.ts";
import { compareFailures } from "./compare-failures.ts";
import { compareLocks } from "./compare-locks.ts";
import { compareDurations, compareNames, compareOrder, compareSuspends } from "./compare-operations.ts";
import { delaysInForce } from "./delays-in-force.ts";
import type { ExpectedRules } from "./expected-rules.ts";

export type AccountComparison = {
  readonly results: readonly CheckResult[];
  readonly since: SimTime;
  readonly summary: AccountSummary;
};

/** Runs all checks on a file of `standin account pull`. `since`: by default, the pull before the last one. */
export function compareAccount(
  path: string,
  { durations, failures, defaultDelayS }: ExpectedRules,
  sinceOption: SimTime | undefined,
  suspendToleranceMs: DurationMs,
): AccountComparison {
  const { fleet, summary } = openAccount(path, defaultDelayS);
  const database = openAccountFile(path, "read");
  try {
    const since = sinceOption ?? previousPullAt(database) ?? 0;
    const operations = [...readTimedOperations(database)];
    const recent = operations.filter(({ created_at }) => created_at >= since);
    const order = compareOrder(operations);
    const readings = readActivity(database).filter(({ seen_at }) => seen_at >= since);
    const delays = delaysInForce(readDelaySettings(database), operations, defaultDelayS);
    const results: readonly CheckResult[] = [
      compareSuspends(readings, operations, delays, suspendToleranceMs),
      compareDurations(recent, durations),
      compareFailures(recent, failures),
      compareLocks(recent),
      {
        ...order,
        compared: recent.filter(({ endpoint }) => endpoint !== null).length,
        surprises: order.surprises.filter(({ at }) => at >= since),
      },
      ...compareNames(recent),
      {
        check: "consumption",
        compared: countHoursSince(database, since),
        skipped: 0,
        surprises: fleet.reconciliation.different
          .filter(({ startAt }) => startAt >= since)
          .map(({ project, startAt, activeS, byOperationsS }) => ({
            ...{ check: "consumption", project, compute: null, operation: null, at: startAt },
            text: `${countText(activeS)} s metered, ${countText(Math.round(byOperationsS))} s by operations`,
          })),
      },
    ];
    return { results, since, summary };
  } finally {
    database.close();
  }
}
