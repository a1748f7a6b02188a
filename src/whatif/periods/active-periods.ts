import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import type { SuspendDelay } from "../gap-curve/curve.ts";

/** S: the API gives instants of operations in whole seconds, so each lies within the second that begins then. */
export const RESOLUTION_MS: DurationMs = SECOND;

/** One operation of a compute, as an account shows it. */
export type ComputeOperation = {
  readonly action: string;
  readonly status: string;
  /** The whole second in which it was scheduled. */
  readonly createdAt: SimTime;
  readonly durationMs: DurationMs;
};

/** The delay that a reading of the account has seen. */
export type SeenDelay = { readonly at: SimTime; readonly delay: SuspendDelay };

/**
 * The time from a start of a compute to its suspend. Instants are the first millisecond of the second that the account
 * shows.
 */
export type ActivePeriod = {
  /** When the start was scheduled: the arrival of the request that caused it, if one did. */
  readonly requestedAt: SimTime;
  /**
   * `creation`: a new compute is started without a request, so that its first request came later, or during the start, or
   * never. Also if it is not known when the compute was created.
   */
  readonly startedBy: "request" | "creation";
  /** How long the start took, to the millisecond. */
  readonly startMs: DurationMs;
  /** Undefined while the compute is active at the end of what was read. */
  readonly suspendedAt: SimTime | undefined;
  /** The delay in force; undefined if it is not known. */
  readonly delay: SuspendDelay | undefined;
  /**
   * Why it ended. `autosuspend`: the last request ended one delay before. `other`: a call, a restart or a change of
   * settings, so that the last request is not known.
   */
  readonly end: "autosuspend" | "other" | "open";
  /** When it was suspended and started again at once, by a restart or a change of settings. */
  readonly restartedAt: readonly SimTime[];
};

const NEVER_RESTARTED: readonly SimTime[] = [];

/** What could not be made into periods. */
export type UnusedOperations = {
  /** Suspends of periods that began before the oldest operation. */
  readonly beginsUnknown: number;
  /** Starts without a suspend before the next start. */
  readonly endsUnknown: number;
  readonly failed: number;
};

/**
 * Which operations start and end activity. R: `start_compute` and `suspend_compute` are recorded for each start and
 * suspend. S: an update schedules `apply_config` with a suspend, and a restart a suspend with a start. A cancelled or failed
 * operation changed nothing. Other actions (`create_branch`, `check_availability` and so on) are not about activity.
 */
const STARTS = "start_compute";
const SUSPENDS = "suspend_compute";
const CONFIGURES = "apply_config";
const WITHOUT_EFFECT: readonly string[] = ["cancelled", "cancelling", "failed", "error", "skipped"];

/**
 * The active periods of one compute, oldest first.
 *
 * `operations`: oldest first. Within a second their order is not known: what fits the state of the compute comes first.
 * `seen`: the readings of its delay, oldest first; without one, no delay is known.
 * `createdAt`: when the compute was created; undefined if that is not known.
 */
export function activePeriods(
  operations: readonly ComputeOperation[],
  seen: readonly SeenDelay[],
  createdAt?: SimTime,
): { readonly periods: readonly ActivePeriod[]; readonly unused: UnusedOperations } {
  const changes = operations.filter(({ action }) => action === CONFIGURES).map(({ createdAt: at }) => at);
  const delays = new DelayLookup(seen, changes);
  const periods: ActivePeriod[] = [];
  let start: ComputeOperation | undefined;
  let suspend: ComputeOperation | undefined;
  let restartedAt: readonly SimTime[] = NEVER_RESTARTED;
  let [beginsUnknown, endsUnknown, failed] = [0, 0, 0];
  const startedBy = () =>
    periods.length + beginsUnknown + endsUnknown === 0 &&
    start !== undefined &&
    isAtCreation(start, createdAt)
      ? "creation"
      : "request";
  for (const operation of inPlausibleOrder(operations)) {
    const { action, status } = operation;
    if (action !== STARTS && action !== SUSPENDS) continue;
    if (WITHOUT_EFFECT.includes(status)) {
      failed += 1;
      continue;
    }
    if (action === STARTS) {
      if (start !== undefined) endsUnknown += 1;
      const last = periods.at(-1);
      restartedAt = NEVER_RESTARTED;
      if (
        start === undefined &&
        last?.end === "other" &&
        suspend !== undefined &&
        isRestart(suspend, operation)
      ) {
        periods.pop();
        start = { ...operation, createdAt: last.requestedAt, durationMs: last.startMs };
        restartedAt = [...last.restartedAt, operation.createdAt];
      } else start = operation;
    } else if (start === undefined) {
      // The first one belongs to a period that began earlier; a later one is of a compute that was suspended already.
      if (periods.length === 0) beginsUnknown += 1;
    } else {
      const period = endedPeriod(start, operation.createdAt, operations, delays);
      periods.push({ ...period, ...sinceRestart(period, restartedAt), startedBy: startedBy() });
      start = undefined;
      suspend = operation;
    }
  }
  if (start !== undefined)
    periods.push({
      ...{ ...openPeriod(start, delays), startedBy: startedBy(), restartedAt },
      ...(restartedAt.length === 0 ? {} : { delay: undefined }),
    });
  return { periods, unused: { beginsUnknown, endsUnknown, failed } };
}

/** A restart or a change of settings suspends a compute and starts it when that is done. No request needs to cause the start. */
function isRestart(suspend: ComputeOperation, start: ComputeOperation): boolean {
  return start.createdAt - suspend.createdAt <= suspend.durationMs + RESOLUTION_MS;
}

/** Requests before a restart and after it belong to one period, whose last request is not known. */
function sinceRestart(
  { end, delay }: PeriodOfUnknownCause,
  restartedAt: readonly SimTime[],
): Pick<ActivePeriod, "end" | "delay" | "restartedAt"> {
  return restartedAt.length === 0
    ? { end, delay, restartedAt }
    : { end: "other", delay: undefined, restartedAt };
}

/** R: a new compute is started with its creation, so both are in the same second or in two that follow each other. */
function isAtCreation(start: ComputeOperation, createdAt: SimTime | undefined): boolean {
  return createdAt === undefined || Math.abs(start.createdAt - createdAt) <= RESOLUTION_MS;
}

/** When the compute began to answer: the earliest possible instant. */
export function activeAt({ requestedAt, startMs }: ActivePeriod): SimTime {
  return requestedAt + startMs;
}

type PeriodOfUnknownCause = Omit<ActivePeriod, "startedBy" | "restartedAt">;

function endedPeriod(
  start: ComputeOperation,
  suspendedAt: SimTime,
  operations: readonly ComputeOperation[],
  delays: DelayLookup,
): PeriodOfUnknownCause {
  const delay = delays.between(start.createdAt, suspendedAt);
  const period = { requestedAt: start.createdAt, startMs: start.durationMs, suspendedAt, delay };
  const activeMs = suspendedAt + RESOLUTION_MS - (start.createdAt + start.durationMs);
  // No compute suspends by itself before it was idle for the delay.
  const isTooEarly = delay === "never" || (delay !== undefined && activeMs < delay * SECOND);
  return { ...period, end: isTooEarly || isOrdered(suspendedAt, operations) ? "other" : "autosuspend" };
}

function openPeriod(start: ComputeOperation, delays: DelayLookup): PeriodOfUnknownCause {
  return {
    requestedAt: start.createdAt,
    startMs: start.durationMs,
    suspendedAt: undefined,
    delay: delays.between(start.createdAt, Number.POSITIVE_INFINITY),
    end: "open",
  };
}

/** Whether a change of settings was scheduled within a second of the suspend, or a start in the same second. */
function isOrdered(suspendedAt: SimTime, operations: readonly ComputeOperation[]): boolean {
  for (let index = firstAtOrAfter(operations, suspendedAt - RESOLUTION_MS); ; index += 1) {
    const operation = operations[index];
    if (operation === undefined || operation.createdAt > suspendedAt) return false;
    if (operation.action === CONFIGURES) return true;
    if (operation.action === STARTS && operation.createdAt === suspendedAt) return true;
  }
}

function firstAtOrAfter(operations: readonly ComputeOperation[], at: SimTime): number {
  let [low, high] = [0, operations.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((operations[middle] as ComputeOperation).createdAt < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Orders the starts and suspends of one second so that they alternate, if they can. */
function* inPlausibleOrder(operations: readonly ComputeOperation[]): Generator<ComputeOperation> {
  let isActive: boolean | undefined;
  for (let from = 0; from < operations.length; ) {
    const first = operations[from] as ComputeOperation;
    let to = from + 1;
    while (operations[to]?.createdAt === first.createdAt) to += 1;
    const rest = to === from + 1 ? [first] : operations.slice(from, to);
    while (rest.length > 0) {
      const expected = isActive === false ? STARTS : SUSPENDS;
      const index = Math.max(
        0,
        rest.findIndex(({ action }) => action === expected),
      );
      const [next] = rest.splice(index, 1) as [ComputeOperation];
      if (next.action === STARTS || next.action === SUSPENDS) isActive = next.action === STARTS;
      yield next;
    }
    from = to;
  }
}

/**
 * The delay in force at an instant. A reading of the account holds for the time before and after it until the settings of
 * the compute were changed, or until another reading differs. A: each change of the delay is recorded as `apply_config`, so
 * readings on both sides of one bracket the change.
 */
class DelayLookup {
  readonly #seen: readonly SeenDelay[];
  readonly #changes: readonly SimTime[];

  constructor(seen: readonly SeenDelay[], changes: readonly SimTime[]) {
    this.#seen = seen;
    this.#changes = changes;
  }

  /** Both inclusive. Undefined if no reading holds for all of that time. */
  between(from: SimTime, to: SimTime): SuspendDelay | undefined {
    if (this.#changes.some((at) => at >= from && at <= to)) return undefined;
    const changedBefore = this.#changes.findLast((at) => at < from) ?? Number.NEGATIVE_INFINITY;
    const changedAfter = this.#changes.find((at) => at > to) ?? Number.POSITIVE_INFINITY;
    // A reading in the second of a change may have seen either delay.
    const readings = this.#seen.filter(({ at }) => at > changedBefore && at < changedAfter);
    const before = readings.findLast(({ at }) => at <= from);
    const after = readings.find(({ at }) => at >= to);
    const within = readings.filter(({ at }) => at > from && at < to);
    const [nearest, ...others] = [before, ...within, after].filter((reading) => reading !== undefined);
    return others.every(({ delay }) => delay === nearest?.delay) ? nearest?.delay : undefined;
  }
}
