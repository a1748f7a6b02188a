import type { TimedOperation } from "../../account/account-reader.ts";
import type { DelayReading } from "../../account/activity-reader.ts";
import { groupBy } from "../../kernel/group-by.ts";
import type { SimTime } from "../../kernel/time.ts";
import { delayOfSuspendTimeout } from "../../platform/catalog/suspend-timeout.ts";
import type { SuspendDelay } from "../../whatif/gap-curve/delay.ts";
import { DelayLookup } from "../../whatif/periods/delay-lookup.ts";

const CHANGES_SETTINGS = "apply_config";

/** The delay of a compute from one instant to another; undefined if it is not known for all of that time. */
export type DelaysInForce = (endpoint: string, from: SimTime, to: SimTime) => SuspendDelay | undefined;

/** Both oldest first. */
export function delaysInForce(
  readings: readonly DelayReading[],
  operations: readonly TimedOperation[],
  defaultDelayS: number,
): DelaysInForce {
  const seen = groupBy(readings, ({ endpoint }) => endpoint);
  const changes = groupBy(
    operations.filter(({ action }) => action === CHANGES_SETTINGS),
    ({ endpoint }) => endpoint ?? "",
  );
  const lookups = new Map<string, DelayLookup>();
  return (endpoint, from, to) => {
    let lookup = lookups.get(endpoint);
    if (lookup === undefined) {
      const delays = (seen.get(endpoint) ?? []).flatMap((reading) => {
        const delay = delayOfSuspendTimeout(reading.suspend_timeout_seconds, defaultDelayS);
        return [reading.first_seen_at, reading.last_seen_at].map((at) => ({ at, delay }));
      });
      lookup = new DelayLookup(
        delays,
        (changes.get(endpoint) ?? []).map(({ created_at }) => created_at),
      );
      lookups.set(endpoint, lookup);
    }
    return lookup.between(from, to);
  };
}
