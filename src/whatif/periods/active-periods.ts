import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import {
  CONFIGURES,
  type ComputeOperations,
  changesOf,
  isStartOrSuspend,
  isWithoutEffect,
  plausibleOrder,
  STARTS,
} from "./compute-operations.ts";
import { DelayLookup, type SeenDelay } from "./delay-lookup.ts";
import { type ActivePeriod, PeriodColumns, type PeriodEnd } from "./period-columns.ts";

/** S: the API gives instants of operations in whole seconds, so each lies within the second that begins then. */
export const RESOLUTION_MS: DurationMs = SECOND;

/** Numbers of operations that could not be assigned to periods. */
export type UnusedOperations = {
  /** Suspends of periods that began before the oldest operation. */
  readonly beginsUnknown: number;
  /** Starts without a suspend before the next start. */
  readonly endsUnknown: number;
  readonly failed: number;
};

/**
 * The active periods of one compute.
 *
 * `operations`: within a second their order is not known: what fits the state of the compute comes first.
 * `seen`: the readings of its delay, oldest first; without one, no delay is known.
 * `createdAt`: when the compute was created; undefined if that is not known.
 */
export function activePeriods(
  operations: ComputeOperations,
  seen: readonly SeenDelay[],
  createdAt?: SimTime,
): { readonly periods: PeriodColumns; readonly unused: UnusedOperations } {
  const reader = new PeriodReader(operations, seen, createdAt);
  let failed = 0;
  for (const index of plausibleOrder(operations)) {
    const action = operations.action[index] as number;
    if (!isStartOrSuspend(action)) continue;
    if (isWithoutEffect(operations.status[index] as number)) failed += 1;
    else if (action === STARTS) reader.start(index);
    else reader.suspend(index);
  }
  reader.end();
  const { periods, beginsUnknown, endsUnknown } = reader;
  return { periods, unused: { beginsUnknown, endsUnknown, failed } };
}

/** A start without a suspend so far. */
type OpenStart = {
  readonly requestedAt: SimTime;
  readonly startMs: DurationMs;
  readonly restartedAt: readonly SimTime[];
};

const NEVER_RESTARTED: readonly SimTime[] = [];

class PeriodReader {
  readonly periods: PeriodColumns;
  beginsUnknown = 0;
  endsUnknown = 0;
  readonly #operations: ComputeOperations;
  readonly #createdAt: SimTime | undefined;
  readonly #delays: DelayLookup;
  #start: OpenStart | undefined;
  /** The position of the suspend that ended the last period. */
  #suspend: number | undefined;

  constructor(operations: ComputeOperations, seen: readonly SeenDelay[], createdAt: SimTime | undefined) {
    this.#operations = operations;
    this.#createdAt = createdAt;
    this.#delays = new DelayLookup(seen, changesOf(operations));
    this.periods = new PeriodColumns(operations.action.filter((action) => action === STARTS).length);
  }

  start(index: number): void {
    const requestedAt = this.#operations.createdAt[index] as number;
    if (this.#start !== undefined) this.endsUnknown += 1;
    else if (this.#isRestart(requestedAt)) {
      // Requests before a restart and after it belong to one period.
      const last = this.periods.removeLast();
      this.#start = { ...last, restartedAt: [...last.restartedAt, requestedAt] };
      return;
    }
    const startMs = this.#operations.durationMs[index] as number;
    this.#start = { requestedAt, startMs, restartedAt: NEVER_RESTARTED };
  }

  suspend(index: number): void {
    const start = this.#start;
    if (start === undefined) {
      // The first suspend belongs to a period that began earlier. A later one is of a compute that was already
      // suspended.
      if (this.periods.length === 0) this.beginsUnknown += 1;
      return;
    }
    const suspendedAt = this.#operations.createdAt[index] as number;
    const delay = this.#delays.between(start.requestedAt, suspendedAt);
    const activeMs = suspendedAt + RESOLUTION_MS - (start.requestedAt + start.startMs);
    // A compute does not suspend by itself before it was idle for the delay.
    const isTooEarly = delay === "never" || (delay !== undefined && activeMs < delay * SECOND);
    this.#add(start, suspendedAt, delay, isTooEarly || this.#isOrdered(index) ? "other" : "autosuspend");
    this.#start = undefined;
    this.#suspend = index;
  }

  /** Ends the last period. Called after the last operation. */
  end(): void {
    const start = this.#start;
    if (start === undefined) return;
    const delay = this.#delays.between(start.requestedAt, Number.POSITIVE_INFINITY);
    this.#add(start, undefined, delay, "open");
  }

  #add(
    { requestedAt, startMs, restartedAt }: OpenStart,
    suspendedAt: SimTime | undefined,
    delay: ActivePeriod["delay"],
    end: PeriodEnd,
  ): void {
    const isRestarted = restartedAt.length > 0;
    const isFirst = this.periods.length + this.beginsUnknown + this.endsUnknown === 0;
    this.periods.add({
      requestedAt,
      startMs,
      suspendedAt,
      restartedAt,
      startedBy: isFirst && this.#isAtCreation(requestedAt) ? "creation" : "request",
      // The last request of a period with a restart is unknown.
      delay: isRestarted ? undefined : delay,
      end: isRestarted && end === "autosuspend" ? "other" : end,
    });
  }

  /** R: a new compute is started with its creation, so both are in the same second or in two that follow each other. */
  #isAtCreation(startedAt: SimTime): boolean {
    return this.#createdAt === undefined || Math.abs(startedAt - this.#createdAt) <= RESOLUTION_MS;
  }

  /** A restart or a change of settings suspends a compute and then starts it again. The start needs no request. */
  #isRestart(startedAt: SimTime): boolean {
    const { periods } = this;
    if (this.#suspend === undefined || periods.length === 0) return false;
    if (periods.endOf(periods.length - 1) !== "other") return false;
    const { createdAt, durationMs } = this.#operations;
    const suspendMs = durationMs[this.#suspend] as number;
    return startedAt - (createdAt[this.#suspend] as number) <= suspendMs + RESOLUTION_MS;
  }

  /** Whether a change of settings was scheduled within a second of a suspend, or a start in the same second. */
  #isOrdered(suspend: number): boolean {
    const { createdAt, action } = this.#operations;
    const suspendedAt = createdAt[suspend] as number;
    let first = suspend;
    while (first > 0 && (createdAt[first - 1] as number) >= suspendedAt - RESOLUTION_MS) first -= 1;
    for (
      let index = first;
      index < action.length && (createdAt[index] as number) <= suspendedAt;
      index += 1
    ) {
      if (action[index] === CONFIGURES) return true;
      if (action[index] === STARTS && createdAt[index] === suspendedAt) return true;
    }
    return false;
  }
}
