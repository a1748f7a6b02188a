import { dayStart, utcDateOf } from "../../src/kernel/calendar.ts";
import { normal, type Random, uniform } from "../../src/kernel/random-port.ts";
import { DAY, HOUR, MINUTE, SECOND, type SimTime } from "../../src/kernel/time.ts";
import type { ComputeArrivals } from "../../src/traffic/recorded/trace/trace.ts";

/** A Sunday: the days that are recorded are February, and those that follow are March. */
export const FIRST_DAY: SimTime = Date.UTC(2026, 1, 1);
const COMPUTES = 4;

/** Generator of the traffic of a fleet. The computes are the same in each replication; days differ. */
export type TrafficKind = {
  readonly name: string;
  /** Level of the traffic on each day; 1 on average. Default: 1. */
  readonly levels?: (days: number, random: Random) => readonly number[];
  /** Share of the full rate in an hour of a day. Default: 1. */
  readonly shareAt?: (hour: number, isWeekend: boolean) => number;
  /** Instants within the days, for kinds that are not a Poisson process. */
  readonly instants?: (days: readonly Day[], compute: number, draw: () => number) => number[];
  /** Additional instants of a program on a timer. Requests then name their source: see `SOURCES`. */
  readonly checks?: (days: readonly Day[], compute: number, draw: () => number) => number[];
  readonly durationMs?: number;
  /** Days of the record that were not collected, numbered from 0. */
  readonly missing?: { readonly from: number; readonly to: number };
  /** The first day of a compute. Default: 0. */
  readonly beginsOn?: (compute: number) => number;
};

/** `level`: of the traffic, times what is usual. */
type Day = { readonly startAt: SimTime; readonly isWeekend: boolean; readonly level: number };

export const TRAFFIC_KINDS: readonly TrafficKind[] = [
  { name: "Poisson" },
  { name: "office hours", levels: independentDays, shareAt: officeHours(0.05) },
  { name: "Monday to Friday", levels: independentDays, shareAt: officeHours(0) },
  { name: "days like the day before", levels: dependentDays },
  { name: "busy and quiet weeks", levels: weeks },
  { name: "growth of 3 % a day", levels: growing(1.03) },
  { name: "decline of 3 % a day", levels: growing(0.97) },
  { name: "heavy tails", levels: independentDays, instants: heavyTails },
  { name: "bursts", levels: independentDays, instants: bursts },
  { name: "cron", instants: cron, durationMs: 30 * SECOND },
  { name: "robots and people", levels: independentDays, shareAt: officeHours(0.02), checks: healthChecks },
  { name: "a week not collected", levels: independentDays, missing: { from: 9, to: 16 } },
  {
    name: "new computes half-way",
    levels: independentDays,
    beginsOn: (compute) => (compute % 2 === 0 ? 0 : 14),
  },
];

/** Sources of kinds with checks. Requests refer to them by index. */
export const SOURCES = ["people", "health-check"] as const;

/** Requests of each compute on `days` days from `FIRST_DAY` on. The same seed gives the same requests. */
export function arrivalsOfKind(kind: TrafficKind, days: number, random: Random): ComputeArrivals[] {
  const levels = kind.levels?.(days, random) ?? new Array<number>(days).fill(1);
  const allDays = levels.map((level, day): Day => {
    const startAt = FIRST_DAY + day * DAY;
    return { startAt, isWeekend: isWeekend(startAt), level };
  });
  const { instants = poisson(kind.shareAt ?? (() => 1)) } = kind;
  return Array.from({ length: COMPUTES }, (_, compute) => {
    const own = allDays.slice(kind.beginsOn?.(compute) ?? 0);
    const draw = random.stream("requests", compute);
    const requests = instants(own, compute, draw).map((at) => ({ at: Math.round(at), source: 0 }));
    const checks = kind.checks?.(own, compute, draw) ?? [];
    const all = [...requests, ...checks.map((at) => ({ at: Math.round(at), source: 1 }))];
    if (checks.length > 0) all.sort((a, b) => a.at - b.at);
    const durationMs = new Float64Array(all.length).fill(kind.durationMs ?? 200);
    const at = Float64Array.from(all, (one) => one.at);
    return kind.checks === undefined
      ? { at, durationMs }
      : { at, durationMs, source: Uint16Array.from(all, ({ source }) => source) };
  });
}

/** Removes the requests that were not collected. */
export function collectedArrivals(
  { missing }: TrafficKind,
  arrivals: ComputeArrivals,
  until: SimTime,
): ComputeArrivals {
  const isMissing = (instant: SimTime) => {
    const day = (dayStart(instant) - FIRST_DAY) / DAY;
    return instant >= until || (missing !== undefined && day >= missing.from && day < missing.to);
  };
  return selectedArrivals(arrivals, (index) => !isMissing(arrivals.at[index] as number));
}

export function selectedArrivals(
  { at, durationMs, source }: ComputeArrivals,
  isSelected: (index: number) => boolean,
): ComputeArrivals {
  const selected = (_: number, index: number) => isSelected(index);
  return {
    at: at.filter(selected),
    durationMs: durationMs.filter(selected),
    source: source?.filter(selected),
  };
}

/** A compute with a number of its own has requests so many times as often as the mean one. */
function rateOf(compute: number): number {
  return 2 ** ((compute - (COMPUTES - 1) / 2) / 2);
}

const MEAN_GAP_MS = 600 * SECOND;
const FRIDAY = 5;

function isWeekend(at: SimTime): boolean {
  return utcDateOf(at).weekday > FRIDAY;
}

function exponential(draw: () => number, mean: number): number {
  return -Math.log(1 - uniform(draw)) * mean;
}

function independentDays(days: number, random: Random): number[] {
  const draw = random.stream("days", 0);
  return Array.from({ length: days }, () => Math.exp(0.15 * normal(draw)));
}

/** An AR(1) process of the logarithm: 0.7 of the deviation of a day is left on the next one. */
function dependentDays(days: number, random: Random): number[] {
  const [left, deviation] = [0.7, 0.4];
  const draw = random.stream("days", 0);
  let state = deviation * normal(draw);
  return Array.from({ length: days }, () => {
    state = left * state + deviation * Math.sqrt(1 - left ** 2) * normal(draw);
    return Math.exp(state);
  });
}

/** Weeks begin on Mondays, the record does not. */
function weeks(days: number, random: Random): number[] {
  const independent = independentDays(days, random);
  const factors = Array.from({ length: Math.ceil((days + 6) / 7) }, (_, week) =>
    Math.exp(0.4 * normal(random.stream("weeks", week))),
  );
  return independent.map((level, day) => level * (factors[Math.floor((day + 6) / 7)] as number));
}

function growing(factor: number) {
  return (days: number, random: Random) =>
    independentDays(days, random).map((level, day) => level * factor ** (day - 14));
}

function officeHours(outside: number) {
  return (hour: number, weekend: boolean) => (!weekend && hour >= 8 && hour < 18 ? 2 : outside);
}

function poisson(shareAt: (hour: number, isWeekend: boolean) => number) {
  return (days: readonly Day[], compute: number, draw: () => number): number[] => {
    const instants: number[] = [];
    for (const { startAt, isWeekend: weekend, level } of days)
      for (let hour = 0; hour < 24; hour += 1) {
        const rate = (rateOf(compute) * level * shareAt(hour, weekend)) / MEAN_GAP_MS;
        if (rate === 0) continue;
        const until = startAt + (hour + 1) * HOUR;
        for (let at = startAt + hour * HOUR + exponential(draw, 1 / rate); at < until; )
          at = addInstant(instants, at) + exponential(draw, 1 / rate);
      }
    return instants;
  };
}

function addInstant(instants: number[], at: number): number {
  instants.push(at);
  return at;
}

/** Mostly minutes, sometimes a day. */
function heavyTails(days: readonly Day[], compute: number, draw: () => number): number[] {
  const instants: number[] = [];
  const [first, end] = endsOf(days);
  for (let at = first; ; ) {
    const { level } = days[Math.floor((at - first) / DAY)] as Day;
    at += (120 * SECOND * Math.exp(2 * normal(draw))) / (rateOf(compute) * level);
    if (at >= end) return instants;
    instants.push(at);
  }
}

/** 10 requests, about a minute apart; then nothing for two hours on average. */
function bursts(days: readonly Day[], compute: number, draw: () => number): number[] {
  const instants: number[] = [];
  const [first, end] = endsOf(days);
  for (let at = first; at < end; ) {
    const { level } = days[Math.floor((at - first) / DAY)] as Day;
    at += exponential(draw, (2 * HOUR) / (rateOf(compute) * level));
    for (let request = 0; request < 10; request += 1) {
      if (at >= end) return instants;
      instants.push(at);
      at += exponential(draw, MINUTE);
    }
  }
  return instants;
}

/** A job each hour that begins up to two minutes late, and for the first computes one each quarter of an hour. */
function cron(days: readonly Day[], compute: number, draw: () => number): number[] {
  const every = compute < 2 ? 15 * MINUTE : HOUR;
  return days.flatMap(({ startAt }) =>
    Array.from({ length: DAY / every }, (_, run) => startAt + run * every + uniform(draw) * 2 * MINUTE),
  );
}

/** About every 4 minutes, for every third compute. */
function healthChecks(days: readonly Day[], compute: number, draw: () => number): number[] {
  if (compute % 3 !== 0) return [];
  const [first, end] = endsOf(days);
  const checks: number[] = [];
  for (let at = first; at < end; at += 4 * MINUTE) checks.push(at + uniform(draw) * 4 * SECOND);
  return checks;
}

function endsOf(days: readonly Day[]): readonly [SimTime, SimTime] {
  return [(days[0] as Day).startAt, (days.at(-1) as Day).startAt + DAY];
}
