import type { TimedOperation } from "../../account/account-reader.ts";
import type { ActivityReading } from "../../account/activity-reader.ts";
import { LEAST_OBSERVATIONS, observeActions } from "../../account/observed-actions.ts";
import { quantileMs } from "../../kernel/distribution.ts";
import { groupBy } from "../../kernel/group-by.ts";
import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import { OPERATION_ACTIONS, type OperationAction } from "../../platform/catalog/operation-actions.ts";
import type { OperationDurations } from "../../platform/catalog/operation-durations.ts";
import { countText, plural } from "../../whatif/units/number-format.ts";
import type { CheckResult, Surprise } from "./agreement.ts";
import type { DelaysInForce } from "./delays-in-force.ts";
import { distanceLimit, durationDistance } from "./duration-distance.ts";

/** S: `OperationStatus`. */
const STATUSES: readonly string[] = [
  "scheduling",
  "running",
  "finished",
  "failed",
  "error",
  "cancelling",
  "cancelled",
  "skipped",
];

/** The durations that operations should have. */
export type ExpectedDurations = {
  readonly durations: OperationDurations;
  /** By action: the size of the sample that they come from. */
  readonly counts: Readonly<Partial<Record<OperationAction, number>>>;
};

/** Compares the durations of each known action with their distribution. */
export function compareDurations(
  operations: readonly TimedOperation[],
  { durations, counts }: ExpectedDurations,
): CheckResult {
  let [compared, skipped] = [0, 0];
  const surprises: Surprise[] = [];
  for (const { action, sortedMs, to } of observeActions(operations)) {
    if (!isKnown(action)) continue;
    if (sortedMs.length < LEAST_OBSERVATIONS) {
      skipped += sortedMs.length;
      continue;
    }
    compared += sortedMs.length;
    const distance = durationDistance(sortedMs, durations[action]);
    const limit = distanceLimit(sortedMs.length, counts[action]);
    if (distance <= limit) continue;
    const [median = 0, p95 = 0] = [0.5, 0.95].map((share) => Math.round(quantileMs(sortedMs, share)));
    surprises.push({
      ...{ check: "duration", project: null, compute: null, operation: null, at: to },
      text: `${action}: ${countText(sortedMs.length)} durations with a median of ${countText(median)} ms and a 95th percentile of ${countText(p95)} ms differ from the profile: distance ${distance.toFixed(3)}, at most ${limit.toFixed(3)} by chance`,
    });
  }
  return { check: "duration", compared, skipped, surprises };
}

/** Each action and status once for each name that standin does not know, with its first operation. */
export function compareNames(operations: readonly TimedOperation[]): readonly CheckResult[] {
  const check = (
    name: "action" | "status",
    isExpected: (operation: TimedOperation) => boolean,
  ): CheckResult => {
    const unknown = groupBy(
      operations.filter((operation) => !isExpected(operation)),
      (operation) => operation[name],
    );
    const surprises = [...unknown].flatMap(([value, [first, ...others]]) =>
      first === undefined
        ? []
        : [
            {
              ...placeOf(first),
              check: name,
              text: `unknown ${name} ${value} of ${plural(others.length + 1, "operation")}`,
            },
          ],
    );
    return { check: name, compared: operations.length, skipped: 0, surprises };
  };
  return [
    check("action", ({ action }) => isKnown(action)),
    check("status", ({ status }) => STATUSES.includes(status)),
  ];
}

/** Checks that starts and suspends of each compute alternate. Within one second, only their numbers are compared. */
export function compareOrder(operations: readonly TimedOperation[]): CheckResult {
  const surprises: Surprise[] = [];
  let compared = 0;
  for (const own of groupBy(changesOfState(operations), ({ endpoint }) => endpoint).values()) {
    let isActive: boolean | undefined;
    for (const together of groupBy(own, ({ created_at }) => created_at).values()) {
      compared += together.length;
      const starts = together.filter(({ action }) => action === "start_compute").length;
      const surplus = 2 * starts - together.length;
      const allowed = isActive === undefined ? [-1, 0, 1] : isActive ? [-1, 0] : [0, 1];
      const last = together.at(-1);
      if (!allowed.includes(surplus) && last !== undefined)
        surprises.push({
          ...placeOf(last),
          check: "order",
          text: `${last.action} of a compute that was ${isActive === true ? "active" : "suspended"} already, or that was not shown to change`,
        });
      if (surplus !== 0) isActive = surplus > 0;
    }
  }
  return { check: "order", compared, skipped: 0, surprises };
}

/** Compares each suspend with the last activity that a pull has seen before it. */
export function compareSuspends(
  readings: readonly ActivityReading[],
  operations: readonly TimedOperation[],
  delayOf: DelaysInForce,
  toleranceMs: DurationMs,
): CheckResult {
  const byCompute = groupBy(
    operations.filter(({ endpoint }) => endpoint !== null),
    ({ endpoint }) => endpoint,
  );
  const differencesMs: DurationMs[] = [];
  const surprises: Surprise[] = [];
  let skipped = 0;
  for (const reading of readings) {
    const { endpoint, project, last_active_at, seen_at } = reading;
    // The operations of the second of the pull are not complete.
    const own = (byCompute.get(endpoint) ?? []).filter(
      ({ created_at }) => created_at > last_active_at && created_at < seen_at,
    );
    const [next] = own;
    // Not the delay of the pull: it may have been changed while the compute was suspended.
    const delayS = delayOf(endpoint, last_active_at, next?.created_at ?? seen_at);
    if (delayS === undefined || delayS === "never") {
      skipped += 1;
      continue;
    }
    const dueAt = last_active_at + delayS * SECOND;
    if (next === undefined) {
      const isOverdue = wasActiveAt(byCompute.get(endpoint) ?? [], last_active_at);
      if (!isOverdue || seen_at <= dueAt + toleranceMs + SECOND) skipped += 1;
      else {
        differencesMs.push(seen_at - dueAt);
        const text = `it did not suspend at ${new Date(dueAt).toISOString()}, ${delayS} s after its last activity`;
        surprises.push({ check: "suspend", project, compute: endpoint, operation: null, at: dueAt, text });
      }
      continue;
    }
    const differenceMs = next.created_at - dueAt;
    // A call, a restart or a change of settings may suspend it earlier.
    if (next.action !== "suspend_compute" || differenceMs < -SECOND) {
      skipped += 1;
      continue;
    }
    differencesMs.push(differenceMs);
    if (differenceMs <= toleranceMs) continue;
    surprises.push({
      ...placeOf(next),
      check: "suspend",
      text: `it suspended ${differenceMs / SECOND} s later than ${delayS} s after its last activity at ${new Date(last_active_at).toISOString()}`,
    });
  }
  return { check: "suspend", compared: differencesMs.length, skipped, differencesMs, surprises };
}

/** Whether the last change of state until an instant was a start. */
function wasActiveAt(operations: readonly TimedOperation[], at: SimTime): boolean {
  const last = changesOfState(operations).findLast(({ created_at }) => created_at <= at);
  return last?.action === "start_compute";
}

/** A failed or cancelled operation changed nothing. */
function changesOfState(operations: readonly TimedOperation[]): TimedOperation[] {
  return operations.filter(
    ({ action, status, endpoint }) =>
      endpoint !== null &&
      status === "finished" &&
      (action === "start_compute" || action === "suspend_compute"),
  );
}

function placeOf({ project, endpoint, id, created_at }: TimedOperation) {
  return { project, compute: endpoint, operation: id, at: created_at };
}

/** Whether standin schedules operations of this action. */
export function isKnown(action: string): action is OperationAction {
  return (OPERATION_ACTIONS as readonly string[]).includes(action);
}
