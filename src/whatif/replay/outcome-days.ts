import { dayStart } from "../../kernel/calendar.ts";
import { DAY, type DurationMs, type SimTime } from "../../kernel/time.ts";
import { lowerBound, type Period } from "../../traffic/recorded/trace/trace.ts";
import { dayCount, MAX_DAYS } from "../trace/long-gaps.ts";

/** What a replay adds up. */
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
   * What the cold starts are worth, each by the requests that wait for it; so is a resume that requests wait for.
   * First starts are not among them.
   */
  startWorthMs: DurationMs;
  /** The same × size of the compute; the size is 1 CU where none is given. */
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

/** Undefined if the period has too many days to treat them one by one. */
export function emptyDays(period: Period): OutcomeDays | undefined {
  const days = dayCount(period);
  if (days > MAX_DAYS) return undefined;
  const columns = TOTALS.map((name) => [name, new Float64Array(Math.max(1, days))] as const);
  return { firstDay: dayStart(period.startAt), ...(Object.fromEntries(columns) as Columns) };
}

type Columns = Omit<OutcomeDays, "firstDay">;

export function addOnDay(days: OutcomeDays, name: keyof OutcomeTotals, at: SimTime, value: number): void {
  const day = dayOf(days, at);
  const column = days[name];
  column[day] = (column[day] as number) + value;
}

/** In order of time. */
export function addArrivalsByDay(days: OutcomeDays, at: Float64Array): void {
  const { arrivals, firstDay } = days;
  for (let from = 0; from < at.length; ) {
    const day = dayOf(days, at[from] as number);
    const next = firstDay + (day + 1) * DAY;
    const isLast = day === arrivals.length - 1 || (at[at.length - 1] as number) < next;
    const to = isLast ? at.length : lowerBound(at, next);
    arrivals[day] = (arrivals[day] as number) + to - from;
    from = to;
  }
}

/** Divides an active time among its days: `from` to `to`, metered from `readyAt` on. */
export function addActiveByDay(
  days: OutcomeDays,
  { from, readyAt, to }: { readonly from: SimTime; readonly readyAt: SimTime; readonly to: SimTime },
): void {
  const { firstDay, activeMs, startingMs } = days;
  const last = activeMs.length - 1;
  for (let at = from; at < to; ) {
    const day = dayOf(days, at);
    const next = day === last ? to : Math.min(to, firstDay + (day + 1) * DAY);
    const starting = Math.max(0, Math.min(next, readyAt) - at);
    activeMs[day] = (activeMs[day] as number) + next - at;
    startingMs[day] = (startingMs[day] as number) + starting;
    at = next;
  }
}

/** Divides metered time at one size among its days. */
export function addSizeByDay(days: OutcomeDays, from: SimTime, to: SimTime, cu: number): void {
  const { firstDay, cuMs } = days;
  const last = cuMs.length - 1;
  for (let at = from; at < to; ) {
    const day = dayOf(days, at);
    const next = day === last ? to : Math.min(to, firstDay + (day + 1) * DAY);
    cuMs[day] = (cuMs[day] as number) + (next - at) * cu;
    at = next;
  }
}

/** Adds `factor` times another one that begins on the same day and does not end later. */
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
  const columns = TOTALS.map((name) => [name, days[name].map((value) => factor * value)] as const);
  return { firstDay: days.firstDay, ...(Object.fromEntries(columns) as Columns) };
}

/** Over some days, each as often as it is listed. */
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

function dayOf({ firstDay, arrivals }: OutcomeDays, at: SimTime): number {
  return Math.max(0, Math.min(arrivals.length - 1, Math.floor((at - firstDay) / DAY)));
}
