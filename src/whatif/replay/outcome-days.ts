import { dayStart } from "../../kernel/calendar.ts";
import { DAY, type DurationMs, type SimTime } from "../../kernel/time.ts";
import { lowerBound, type Period } from "../../traffic/recorded/trace/trace.ts";
import { dayCount, MAX_DAYS } from "../trace/long-gaps.ts";
import { type ActiveTimes, COLD_START, FIRST_START } from "./active-times.ts";

/** Totals of a replay. */
export type OutcomeTotals = {
  arrivals: number;
  /** First starts of computes in the period: no policy avoids them. */
  firstStarts: number;
  /** Arrivals at a suspended compute, except the first one of each compute. */
  coldStarts: number;
  /** Cold starts × size of their computes; the size is 1 CU where none is given. */
  cuColdStarts: number;
  /** From the beginning of a start to the suspend; after the period only until the compute is idle. */
  activeMs: DurationMs;
  /**
   * The part of `activeMs` spent starting. The platform meters a compute from the end of its start: see
   * `meteredMs`.
   */
  startingMs: DurationMs;
  /** Metered time × size, in CU-milliseconds; the size is 1 CU where none is given. */
  cuMs: number;
  /**
   * Worth of the cold starts and of resumes that requests wait for, by the requests that wait. First starts are
   * excluded.
   */
  startWorthMs: DurationMs;
  /** `startWorthMs` times the size of each compute; the size is 1 CU where none is given. */
  cuStartWorthMs: number;
  /** Time that requests wait for starts. */
  waitMs: DurationMs;
};

const TOTALS: readonly (keyof OutcomeTotals)[] = [
  "arrivals",
  "firstStarts",
  "coldStarts",
  "cuColdStarts",
  "activeMs",
  "startingMs",
  "cuMs",
  "startWorthMs",
  "cuStartWorthMs",
  "waitMs",
];

/** The totals by UTC day, numbered from the first one of the period. Time after the last day counts on it. */
export type OutcomeDays = { readonly firstDay: SimTime } & {
  readonly [Name in keyof OutcomeTotals]: Float64Array;
};

/** Empty totals by day; undefined if the period has more than `MAX_DAYS`. */
export function emptyDays(period: Period): OutcomeDays | undefined {
  const days = dayCount(period);
  return days > MAX_DAYS ? undefined : daysOf(dayStart(period.startAt), Math.max(1, days));
}

// Named one by one: V8 finds the fields of a literal faster.
function daysOf(firstDay: SimTime, count: number): OutcomeDays {
  return {
    firstDay,
    arrivals: new Float64Array(count),
    firstStarts: new Float64Array(count),
    coldStarts: new Float64Array(count),
    cuColdStarts: new Float64Array(count),
    activeMs: new Float64Array(count),
    startingMs: new Float64Array(count),
    cuMs: new Float64Array(count),
    startWorthMs: new Float64Array(count),
    cuStartWorthMs: new Float64Array(count),
    waitMs: new Float64Array(count),
  };
}

/** Adds arrivals by day. `at`: ascending. */
export function addArrivalsByDay(days: OutcomeDays, at: Float64Array): void {
  const { arrivals, firstDay } = days;
  for (let from = 0; from < at.length; ) {
    const day = dayIn(firstDay, arrivals.length - 1, at[from] as number);
    const next = firstDay + (day + 1) * DAY;
    const isLast = day === arrivals.length - 1 || (at[at.length - 1] as number) < next;
    const to = isLast ? at.length : lowerBound(at, next);
    arrivals[day] = (arrivals[day] as number) + to - from;
    from = to;
  }
}

/**
 * Adds active times by day. Starts, their worth and the waits for them count on the day of the start. Active time is
 * divided among its days, and is metered from the end of the start. `meteredCu`: 0 if `addSizeByDay` adds the metered
 * time.
 */
export function addActiveTimesByDay(
  days: OutcomeDays,
  times: ActiveTimes,
  cu: number,
  meteredCu: number,
): void {
  const { startedBy, from, readyAt, to, waitMs: waits, worthMs, count } = times;
  const { firstDay, firstStarts, coldStarts, cuColdStarts, startWorthMs, cuStartWorthMs, waitMs } = days;
  const last = waitMs.length - 1;
  for (let index = 0; index < count; index += 1) {
    const startAt = from[index] as number;
    const day = dayIn(firstDay, last, startAt);
    if (startedBy[index] === FIRST_START) firstStarts[day] = (firstStarts[day] as number) + 1;
    if (startedBy[index] === COLD_START) {
      coldStarts[day] = (coldStarts[day] as number) + 1;
      cuColdStarts[day] = (cuColdStarts[day] as number) + cu;
    }
    const worth = worthMs[index] as number;
    startWorthMs[day] = (startWorthMs[day] as number) + worth;
    cuStartWorthMs[day] = (cuStartWorthMs[day] as number) + worth * cu;
    waitMs[day] = (waitMs[day] as number) + (waits[index] as number);
    addActiveByDay(days, day, startAt, readyAt[index] as number, to[index] as number, meteredCu);
  }
}

/** Adds an active time that begins on a day. */
function addActiveByDay(
  { firstDay, activeMs, startingMs, cuMs }: OutcomeDays,
  firstOfTime: number,
  from: SimTime,
  readyAt: SimTime,
  to: SimTime,
  cu: number,
): void {
  const last = activeMs.length - 1;
  for (let [at, day] = [from, firstOfTime]; at < to; day += 1) {
    const dayEnd = firstDay + (day + 1) * DAY;
    const next = day === last || to <= dayEnd ? to : dayEnd;
    const starting = readyAt <= at ? 0 : (readyAt < next ? readyAt : next) - at;
    activeMs[day] = (activeMs[day] as number) + next - at;
    startingMs[day] = (startingMs[day] as number) + starting;
    cuMs[day] = (cuMs[day] as number) + (next - at - starting) * cu;
    at = next;
  }
}

/** Divides metered time at one size among its days. */
export function addSizeByDay(days: OutcomeDays, from: SimTime, to: SimTime, cu: number): void {
  const { firstDay, cuMs } = days;
  const last = cuMs.length - 1;
  for (let at = from; at < to; ) {
    const day = dayIn(firstDay, last, at);
    const next = day === last ? to : Math.min(to, firstDay + (day + 1) * DAY);
    cuMs[day] = (cuMs[day] as number) + (next - at) * cu;
    at = next;
  }
}

/** Adds `factor` times the totals of `part`, which begins on the same day and does not end later. */
export function addDays(into: OutcomeDays, part: OutcomeDays, factor = 1): void {
  for (const name of TOTALS) {
    const [sums, values] = [into[name], part[name]];
    for (let day = 0; day < values.length; day += 1)
      sums[day] = (sums[day] as number) + factor * (values[day] as number);
  }
}

/** The mean over replications. */
export function meanDays(replications: readonly OutcomeDays[]): OutcomeDays {
  const [first] = replications as readonly [OutcomeDays, ...OutcomeDays[]];
  const mean = copyOfDays(first, 0);
  for (const days of replications) addDays(mean, days, 1 / replications.length);
  return mean;
}

export function copyOfDays(days: OutcomeDays, factor = 1): OutcomeDays {
  const copy = daysOf(days.firstDay, days.arrivals.length);
  addDays(copy, days, factor);
  return copy;
}

/** Totals over some days, each counted as often as it is listed. */
export function totalsOfDays(days: OutcomeDays, selected: readonly number[]): OutcomeTotals {
  const sum = (values: Float64Array) => {
    let total = 0;
    for (const day of selected) total += values[day] as number;
    return total;
  };
  return {
    arrivals: sum(days.arrivals),
    firstStarts: sum(days.firstStarts),
    coldStarts: sum(days.coldStarts),
    cuColdStarts: sum(days.cuColdStarts),
    activeMs: sum(days.activeMs),
    startingMs: sum(days.startingMs),
    cuMs: sum(days.cuMs),
    startWorthMs: sum(days.startWorthMs),
    cuStartWorthMs: sum(days.cuStartWorthMs),
    waitMs: sum(days.waitMs),
  };
}

function dayIn(firstDay: SimTime, last: number, at: SimTime): number {
  const day = Math.floor((at - firstDay) / DAY);
  return day < 0 ? 0 : day < last ? day : last;
}
