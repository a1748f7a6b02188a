import { DAY, type DurationMs, type SimTime } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { MAX_DAYS } from "../trace/long-gaps.ts";
import { addDays, copyOfDays, emptyDays, type OutcomeDays, type OutcomeTotals } from "./outcome-days.ts";
import { emptyStartsByCompute, mergeStartsByCompute, type StartsByCompute } from "./starts-by-compute.ts";
import { type PlainWaits, WaitHistogram } from "./wait-histogram.ts";

/** The result of replaying one compute, or the sum over many. */
export type ReplayOutcome = Omit<OutcomeTotals, "waitMs"> & {
  /** How long requests waited for starts. */
  readonly waits: WaitHistogram;
  /** Resumes ahead of time, by whether a request arrived before the compute suspended again. */
  resumesUsed: number;
  resumesWasted: number;
  /**
   * Metered milliseconds by day, counted in whole days from the start of the period; time after it counts for
   * the last day. Empty if there are more than `MAX_DAYS`.
   */
  readonly activeByDay: Float64Array;
  /** The shortest and the longest delay that the policy has chosen in hindsight; undefined for other policies. */
  chosenDelays?: ChosenDelays | undefined;
  /** Undefined if not requested. */
  byCompute?: StartsByCompute | undefined;
  /** Totals by UTC day, for margins; undefined if not requested. */
  readonly days?: OutcomeDays | undefined;
};

/** Delays in seconds; infinite for a compute that never suspends. */
export type ChosenDelays = { readonly shortestS: number; readonly longestS: number };

export function emptyOutcome({ startAt, endAt }: Period): ReplayOutcome {
  const days = Math.max(1, Math.ceil((endAt - startAt) / DAY));
  return {
    arrivals: 0,
    firstStarts: 0,
    coldStarts: 0,
    cuColdStarts: 0,
    activeMs: 0,
    startingMs: 0,
    cuMs: 0,
    startWorthMs: 0,
    cuStartWorthMs: 0,
    waits: new WaitHistogram(),
    resumesUsed: 0,
    resumesWasted: 0,
    activeByDay: new Float64Array(days <= MAX_DAYS ? days : 0),
  };
}

/** An empty outcome with totals by UTC day, unless there are more than `MAX_DAYS`. */
export function emptyOutcomeByDay(period: Period): ReplayOutcome {
  return { ...emptyOutcome(period), days: emptyDays(period) };
}

/** Adds the outcome of other computes in the same period, or of a shorter one with the same start. */
export function mergeOutcome(into: ReplayOutcome, part: ReplayOutcome): void {
  into.arrivals += part.arrivals;
  into.firstStarts += part.firstStarts;
  into.coldStarts += part.coldStarts;
  into.cuColdStarts += part.cuColdStarts;
  into.activeMs += part.activeMs;
  into.startingMs += part.startingMs;
  into.cuMs += part.cuMs;
  into.startWorthMs += part.startWorthMs;
  into.cuStartWorthMs += part.cuStartWorthMs;
  into.waits.merge(part.waits);
  into.resumesUsed += part.resumesUsed;
  into.resumesWasted += part.resumesWasted;
  addChosenDelays(into, part.chosenDelays);
  for (const [day, activeMs] of part.activeByDay.entries())
    into.activeByDay[day] = (into.activeByDay[day] as number) + activeMs;
  if (into.days !== undefined && part.days !== undefined) addDays(into.days, part.days);
  if (part.byCompute === undefined) return;
  into.byCompute ??= emptyStartsByCompute();
  mergeStartsByCompute(into.byCompute, part.byCompute);
}

export function addChosenDelays(into: ReplayOutcome, added: ChosenDelays | undefined): void {
  if (added === undefined) return;
  const { shortestS, longestS } = into.chosenDelays ?? added;
  into.chosenDelays = {
    shortestS: Math.min(shortestS, added.shortestS),
    longestS: Math.max(longestS, added.longestS),
  };
}

/**
 * The outcome between the ends of two replays from the same start, with the same decisions until the first end:
 * the outcome of the longer replay minus that of the shorter one. Without `activeByDay`.
 */
export function outcomeBetween(shorter: ReplayOutcome, longer: ReplayOutcome): ReplayOutcome {
  return {
    arrivals: longer.arrivals - shorter.arrivals,
    firstStarts: longer.firstStarts - shorter.firstStarts,
    coldStarts: longer.coldStarts - shorter.coldStarts,
    cuColdStarts: longer.cuColdStarts - shorter.cuColdStarts,
    activeMs: longer.activeMs - shorter.activeMs,
    startingMs: longer.startingMs - shorter.startingMs,
    cuMs: longer.cuMs - shorter.cuMs,
    startWorthMs: longer.startWorthMs - shorter.startWorthMs,
    cuStartWorthMs: longer.cuStartWorthMs - shorter.cuStartWorthMs,
    waits: longer.waits.without(shorter.waits),
    resumesUsed: longer.resumesUsed - shorter.resumesUsed,
    resumesWasted: longer.resumesWasted - shorter.resumesWasted,
    activeByDay: new Float64Array(0),
    days: daysBetween(shorter.days, longer.days),
  };
}

function daysBetween(
  shorter: OutcomeDays | undefined,
  longer: OutcomeDays | undefined,
): OutcomeDays | undefined {
  if (shorter === undefined || longer === undefined) return undefined;
  const days = copyOfDays(longer);
  addDays(days, shorter, -1);
  return days;
}

/** An outcome in plain values, so that a worker can return it. */
export type PlainOutcome = Omit<ReplayOutcome, "waits"> & { readonly waits: PlainWaits };

export function plainOutcome(outcome: ReplayOutcome): PlainOutcome {
  return { ...outcome, waits: outcome.waits.plain() };
}

export function outcomeFrom(plain: PlainOutcome): ReplayOutcome {
  return { ...plain, waits: WaitHistogram.from(plain.waits) };
}

/** Billed time. */
export function meteredMs({
  activeMs,
  startingMs,
}: Pick<OutcomeTotals, "activeMs" | "startingMs">): DurationMs {
  return activeMs - startingMs;
}

/** Adds the worth of a start of a compute of size `cu`. */
export function addStartWorth(outcome: ReplayOutcome, worthMs: DurationMs, cu: number): void {
  outcome.startWorthMs += worthMs;
  outcome.cuStartWorthMs += worthMs * cu;
}

/** An active time, from the beginning of a start to the suspend: ready at `readyAt`, idle from `busyEnd` on. */
export type ActiveTime = {
  readonly from: SimTime;
  readonly readyAt: SimTime;
  readonly busyEnd: SimTime;
  readonly to: SimTime;
};

/** Adds one active time. After the end of the period only busy time counts, not the idle time that follows it. */
export function addActiveTime(
  outcome: ReplayOutcome,
  { startAt, endAt }: Period,
  { from, readyAt, busyEnd, to }: ActiveTime,
  cu: number,
): void {
  const end = Math.min(to, Math.max(endAt, busyEnd));
  outcome.activeMs += end - from;
  outcome.startingMs += readyAt - from;
  outcome.cuMs += (end - readyAt) * cu;
  addMeteredTime(outcome.activeByDay, startAt, readyAt, end);
}

/** Divides metered time among days, counted from the start of the period, `startAt`. */
export function addMeteredTime(
  activeByDay: Float64Array,
  startAt: SimTime,
  readyAt: SimTime,
  end: SimTime,
): void {
  const lastDay = activeByDay.length - 1;
  if (lastDay < 0) return;
  for (let at = readyAt; at < end; ) {
    const since = Math.floor((at - startAt) / DAY);
    const day = since < lastDay ? since : lastDay;
    const dayEnd = startAt + (day + 1) * DAY;
    const next = day === lastDay || end <= dayEnd ? end : dayEnd;
    activeByDay[day] = (activeByDay[day] as number) + next - at;
    at = next;
  }
}
