import { isoInstant } from "../../../kernel/calendar.ts";
import { HOUR, SECOND, type SimTime } from "../../../kernel/time.ts";
import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import { confidenceInterval, type PredictionInterval, predictionInterval } from "../../units/replications.ts";
import { silenceText } from "../../units/silent-days.ts";
import { changeSummary, type TrafficChangeSummary } from "../../units/traffic-change.ts";
import { extrapolatedDate, widenedInterval } from "./forecast-interval.ts";
import { type MonthPeriod, monthsOf, type QuotaMonthOutcome } from "./quota-months.ts";
import type { UseOutlook } from "./use-outlook.ts";

/** Computes that share a quota, by their indices in the traffic. */
export type QuotaProject = {
  readonly project: string;
  readonly computes: readonly number[];
  /** CU-seconds per month; `undefined` without a quota. */
  readonly computeSeconds: number | undefined;
};

/**
 * The mean over replications, and half the width of the interval of one more replication, as for dates; null for a
 * single replication.
 */
export type MeanSummary = { readonly mean: number; readonly plus_minus: number | null };

/** The prediction interval of a date over the replications; null if it is not within the month. */
export type DateSummary = {
  readonly median: string | null;
  readonly low: string | null;
  readonly high: string | null;
  /** Probability that one more replication lies between low and high, from 0 to 1. */
  readonly confidence: number;
};

export type QuotaMonth = MonthForecast & {
  readonly month: string;
  /** Start of the counted usage: later than the start of the month if the trace begins within it. */
  readonly from: string;
  /** Later traffic is drawn from recorded days. Null if nothing of the month was recorded. */
  readonly recorded_until: string | null;
  /** Forecast if the use continues to change as in the record; null if it did not change. */
  readonly if_change_continues: MonthForecast | null;
};

/** The interval of the date that the text gives: if the change is not clear, it contains both forecasts. */
export function printedDate(month: QuotaMonth, change: TrafficChangeSummary | null): DateSummary {
  const { reached_at: stays, if_change_continues: continues } = month;
  if (continues === null || change === null) return stays;
  if (change.is_clear) return continues.reached_at;
  const { low, high } = continues.reached_at;
  const dates = (...all: readonly (string | null)[]) => all.filter((date) => date !== null).sort();
  return {
    ...stays,
    low: dates(low, stays.low)[0] ?? null,
    high:
      low === null || high === null || stays.high === null ? null : (dates(high, stays.high).at(-1) ?? null),
  };
}

export type MonthForecast = {
  /** Share of the replications in which the quota was reached. */
  readonly reached_share: number;
  readonly reached_at: DateSummary;
  readonly used_cu_hours: MeanSummary;
  readonly requests: MeanSummary;
  /** Requests that arrived after the quota was used up, until the end of the month. */
  readonly refused: MeanSummary;
};

export type ProjectQuota = {
  readonly project: string;
  readonly computes: number;
  readonly quota_cu_hours: number;
  /** Change of the use of the project in the record; null if there is none. */
  readonly change: TrafficChangeSummary | null;
  /** Days that later days do not repeat, because probably nothing was collected; null if there are none. */
  readonly silent_days: string | null;
  readonly months: readonly QuotaMonth[];
};

/** Summarizes the runs of a project by month. */
export function projectQuota(
  project: QuotaProject,
  runs: readonly ReplicatedMonths[],
  horizon: Period,
  recorded: Period,
): ProjectQuota {
  const quota_cu_hours = ((project.computeSeconds ?? 0) * SECOND) / HOUR;
  const outlook = runs[0]?.outlook;
  const change = outlook?.changes?.change;
  const months = monthsOf(horizon).map((month, index): QuotaMonth => {
    const forecast = (outcomes: readonly QuotaMonthOutcome[], widening = 1) =>
      monthForecast(outcomes, {
        month,
        quotaCuHours: quota_cu_hours,
        widening,
        recordedUntil: recorded.endAt,
      });
    const changed = runs.flatMap(({ changes }) => changes?.[index] ?? []);
    return {
      month: monthName(month),
      from: isoInstant(Math.max(month.startAt, horizon.startAt)),
      recorded_until:
        month.startAt >= recorded.endAt ? null : isoInstant(Math.min(month.endAt, recorded.endAt)),
      ...forecast(
        runs.map(({ stays }) => stays[index] as QuotaMonthOutcome),
        outlook?.stays.widening,
      ),
      if_change_continues: changed.length === 0 ? null : forecast(changed, outlook?.changes?.widening),
    };
  });
  return {
    project: project.project,
    computes: project.computes.length,
    quota_cu_hours,
    change: change === undefined ? null : changeSummary(change),
    silent_days: outlook?.silent === undefined ? null : silenceText(outlook.silent),
    months,
  };
}

type ForecastSetting = {
  readonly month: MonthPeriod;
  readonly quotaCuHours: number;
  readonly widening: number;
  readonly recordedUntil: SimTime;
};

/** `outcomes`: outcomes of the month in each replication. */
function monthForecast(
  outcomes: readonly QuotaMonthOutcome[],
  { month, quotaCuHours, widening, recordedUntil }: ForecastSetting,
): MonthForecast {
  const mean = (of: (outcome: QuotaMonthOutcome) => number) => meanSummary(outcomes.map(of), widening);
  const dates = outcomes.map((outcome) => extrapolatedDate(outcome, quotaCuHours, month));
  return {
    reached_share: outcomes.filter(({ reachedAt }) => Number.isFinite(reachedAt)).length / outcomes.length,
    reached_at: dateSummary(widenedInterval(predictionInterval(dates), widening, recordedUntil), month),
    used_cu_hours: mean(({ usedCuHours }) => usedCuHours),
    requests: mean(({ arrivals: requests }) => requests),
    refused: mean(({ refused }) => refused),
  };
}

/** Months of a replication, without and with a continued change of the use. */
export type ReplicatedMonths = {
  readonly stays: readonly QuotaMonthOutcome[];
  readonly changes: readonly QuotaMonthOutcome[] | undefined;
  /** Undefined if no time after the record is simulated. */
  readonly outlook: UseOutlook | undefined;
};

function meanSummary(values: readonly number[], factor: number): MeanSummary {
  const { low, high } = predictionInterval(values);
  return {
    mean: confidenceInterval(values).mean,
    plus_minus: values.length === 1 ? null : (factor * (high - low)) / 2,
  };
}

function dateSummary(
  { low, median, high, confidence }: PredictionInterval,
  { endAt }: MonthPeriod,
): DateSummary {
  const date = (at: number) => (at < endAt ? isoInstant(Math.round(at)) : null);
  return { median: date(median), low: date(low), high: date(high), confidence };
}

export function monthName({ startAt }: MonthPeriod): string {
  return isoInstant(startAt).slice(0, "2026-01".length);
}

/**
 * Sorts by the instant at which the quota is reached, in `month` if there is one, and then by the smallest remaining
 * share.
 */
export function soonestFirst(
  projects: readonly ProjectQuota[],
  month: MonthPeriod | undefined,
): ProjectQuota[] {
  const name = month === undefined ? undefined : monthName(month);
  const key = ({ months, quota_cu_hours }: ProjectQuota): readonly [string, number] => {
    const considered = months.filter((one) => name === undefined || one.month === name);
    const reached = considered.find(({ reached_at }) => reached_at.median !== null)?.reached_at.median ?? "~";
    return [
      reached,
      -Math.max(0, ...considered.map(({ used_cu_hours }) => used_cu_hours.mean)) / quota_cu_hours,
    ];
  };
  return [...projects].sort((a, b) => {
    const [[atA, shareA], [atB, shareB]] = [key(a), key(b)];
    return atA === atB ? shareA - shareB || (a.project < b.project ? -1 : 1) : atA < atB ? -1 : 1;
  });
}
