import { isoInstant } from "../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import { daysByKind } from "./bootstrap.ts";
import { centeredByKind, type DayEffects, lagCorrelation } from "./day-dependence.ts";
import { amount } from "./number-format.ts";

/** A change of the traffic over the record: a trend per day, or a step to another level on a day. */
export type TrafficChange = {
  /** True if the change is certain enough to be removed when the variation of days is judged. */
  readonly isClear: boolean;
} & (
  | {
      readonly kind: "trend";
      /** Slope per day of the logarithm of a day's traffic, with its 95 % interval. */
      readonly slope: number;
      readonly slopeLow: number;
      readonly slopeHigh: number;
    }
  | {
      readonly kind: "step";
      /** The first day of the new level. */
      readonly since: SimTime;
      /** Change of the logarithm of a day's traffic. */
      readonly step: number;
    }
);

/** A `TrafficChange` in the JSON of reports. */
export type TrafficChangeSummary =
  | {
      readonly kind: "trend";
      readonly percent_per_day: number;
      readonly margin_95: number;
      readonly is_clear: boolean;
    }
  | {
      readonly kind: "step";
      /** The first day (UTC) of the new level. */
      readonly since: string;
      readonly percent: number;
      readonly is_clear: boolean;
    };

const MIN_DAYS = 10;
/** Minimum number of days on each side of a step. */
const MIN_SIDE_DAYS = 5;
/** Standard errors of a two-sided test at 1 %. */
const SIGNIFICANT = 2.58;
/** Standard errors. Busy and quiet weeks that happen to be in order seldom reach it. */
const CLEAR = 4;
/** Standard errors of the 95 % interval of the slope. */
const NORMAL_95 = 1.96;
/** A step explains the days better than a trend if this share of the squares of the trend is left. */
const STEP_SHARE = 0.6;
/** From this share on, a step is tested by its own residuals. */
const CLEAR_STEP_SHARE = 0.5;

/**
 * Detects a change of the traffic, or returns undefined: the seasonal Kendall test (Hirsch and Slack 1984) on workdays
 * and weekend days, with the variance of dependent days (Hamed and Rao 1998), and the slope of Theil and Sen. Days
 * without traffic are omitted. `values`: traffic of each day.
 */
export function changeOf(days: readonly SimTime[], values: readonly number[]): TrafficChange | undefined {
  const used = days.filter((_, index) => (values[index] as number) > 0);
  if (used.length < MIN_DAYS) return undefined;
  const logs = Float64Array.from(
    values.filter((value) => value > 0),
    Math.log,
  );
  const kinds = kindsOf(used);
  const { statistic, variance, slopes } = kendall(used, kinds, logs);
  const slope = at(slopes, 0.5);
  const trendRest = rest(used, kinds, logs, (day) => slope * ((day - (used[0] as SimTime)) / DAY));
  const step = bestStep(used, kinds, logs);
  const z = (left: Float64Array) => Math.abs(statistic) / Math.sqrt(variance * dependence(left));
  const share = step === undefined ? 1 : squares(step.left) / squares(trendRest);
  const isClearStep = step !== undefined && share < CLEAR_STEP_SHARE && z(step.left) > SIGNIFICANT;
  if (z(trendRest) <= SIGNIFICANT && !isClearStep) return undefined;
  if (step !== undefined && share < STEP_SHARE)
    return { kind: "step", since: step.since, step: step.size, isClear: z(step.left) > CLEAR };
  // Sen 1968: the slopes at these ranks bound the true one.
  const spread = (NORMAL_95 * Math.sqrt(variance * dependence(trendRest))) / slopes.length / 2;
  return {
    kind: "trend",
    slope,
    slopeLow: at(slopes, 0.5 - spread),
    slopeHigh: at(slopes, 0.5 + spread),
    isClear: z(trendRest) > CLEAR,
  };
}

export function changeSummary(change: TrafficChange): TrafficChangeSummary {
  const percent = (log: number) => (Math.exp(log) - 1) * 100;
  const is_clear = change.isClear;
  if (change.kind === "step")
    return {
      kind: "step",
      since: isoInstant(change.since).slice(0, "2026-01-01".length),
      percent: percent(change.step),
      is_clear,
    };
  const { slope, slopeLow, slopeHigh } = change;
  return {
    kind: "trend",
    percent_per_day: percent(slope),
    margin_95: (percent(slopeHigh) - percent(slopeLow)) / 2,
    is_clear,
  };
}

/** A clause such as "traffic grows by 3 % a day". `what`: "traffic" or "use". */
export function changeText(what: string, change: TrafficChangeSummary): string {
  const size = (value: number) => `${amount(Math.abs(value))} %`;
  const may = change.is_clear ? "" : " (it may also be chance)";
  if (change.kind === "step")
    return `${what} is ${size(change.percent)} ${change.percent > 0 ? "higher" : "lower"} since ${change.since}${may}`;
  const { percent_per_day, margin_95 } = change;
  const rate = `${size(percent_per_day)} ± ${amount(margin_95)} a day`;
  return `${what} ${percent_per_day > 0 ? "grows" : "shrinks"} by ${rate}${may}`;
}

/** Removes the part of the effects that a clear change explains. `instants`: days of the effects. */
export function changeRemoved(
  of: DayEffects,
  instants: readonly SimTime[],
  change: TrafficChange,
): DayEffects {
  if (!change.isClear) return of;
  const shape = Float64Array.from(instants, (day) => {
    if (change.kind === "step") return day < change.since ? 0 : 1;
    return Math.exp(change.slope * ((day - (instants[0] as SimTime)) / DAY));
  });
  const [effects, form] = [centeredByKind(of), centeredByKind({ kinds: of.kinds, effects: shape })];
  const below = squares(form);
  const factor =
    below === 0 ? 0 : form.reduce((sum, one, i) => sum + one * (effects[i] as number), 0) / below;
  return { ...of, effects: effects.map((effect, index) => effect - factor * (form[index] as number)) };
}

/**
 * Kendall's statistic (rising minus falling pairs of days of one kind), its variance for independent days, and the
 * ascending slopes.
 */
function kendall(days: readonly SimTime[], kinds: readonly number[], logs: Float64Array) {
  let [statistic, variance] = [0, 0];
  const slopes: number[] = [];
  for (const kind of new Set(kinds)) {
    const own = [...kinds.keys()].filter((index) => kinds[index] === kind);
    const count = own.length;
    variance += (count * (count - 1) * (2 * count + 5)) / 18;
    for (const [position, first] of own.entries())
      for (const second of own.slice(position + 1)) {
        const rise = (logs[second] as number) - (logs[first] as number);
        statistic += Math.sign(rise);
        slopes.push(rise / (((days[second] as SimTime) - (days[first] as SimTime)) / DAY));
      }
  }
  return { statistic, variance, slopes: slopes.sort((a, b) => a - b) };
}

/** The step with the least squared residuals; undefined if there are too few days. */
function bestStep(days: readonly SimTime[], kinds: readonly number[], logs: Float64Array) {
  let best: { readonly since: SimTime; readonly size: number; readonly left: Float64Array } | undefined;
  const centered = centeredByKind({ kinds, effects: logs });
  for (let first = MIN_SIDE_DAYS; first <= days.length - MIN_SIDE_DAYS; first += 1) {
    const since = days[first] as SimTime;
    const size = mean(centered.subarray(first)) - mean(centered.subarray(0, first));
    const left = rest(days, kinds, logs, (day) => (day < since ? 0 : size));
    if (best === undefined || squares(left) < squares(best.left)) best = { since, size, left };
  }
  return best;
}

/** Residuals after the kind of day and the change. */
function rest(
  days: readonly SimTime[],
  kinds: readonly number[],
  logs: Float64Array,
  changeAt: (day: SimTime) => number,
): Float64Array {
  const effects = logs.map((log, index) => log - changeAt(days[index] as SimTime));
  return centeredByKind({ kinds, effects });
}

/** Factor by which the variance of Kendall's statistic exceeds that of independent days, for AR(1) days. */
function dependence(left: Float64Array): number {
  const count = left.length;
  const correlation = Math.min(0.9, Math.max(0, (count * lagCorrelation(left) + 2) / (count - 4)));
  let sum = 0;
  for (let lag = 1; lag < count; lag += 1) {
    const ranks = (6 / Math.PI) * Math.asin(correlation ** lag / 2);
    sum += (count - lag) * (count - lag - 1) * (count - lag - 2) * ranks;
  }
  return 1 + (2 * sum) / (count * (count - 1) * (count - 2));
}

function kindsOf(days: readonly SimTime[]): number[] {
  const [, weekends = []] = daysByKind(days);
  const isWeekend = new Set(weekends);
  return days.map((day) => (isWeekend.has(day) ? 1 : 0));
}

function at(ascending: readonly number[], share: number): number {
  const index = Math.round(Math.min(1, Math.max(0, share)) * (ascending.length - 1));
  return ascending[index] as number;
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function squares(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value ** 2, 0);
}
