import { isoInstant } from "../../../kernel/calendar.ts";
import { HOUR, SECOND } from "../../../kernel/time.ts";
import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import { bootstrapWidening, recordedDays } from "../../units/bootstrap.ts";
import { confidenceInterval, type PredictionInterval, predictionInterval } from "../../units/replications.ts";
import { extrapolatedDate, widenedInterval } from "./forecast-interval.ts";
import { type MonthPeriod, monthsOf, type QuotaMonthOutcome } from "./quota-months.ts";

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

export type QuotaMonth = {
  readonly month: string;
  /** Usage counts from here: later than the start of the month if the trace begins within it. */
  readonly from: string;
  /** Later traffic is drawn from recorded days. Null if nothing of the month was recorded. */
  readonly recorded_until: string | null;
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
  readonly months: readonly QuotaMonth[];
};

/** Of the runs of a project, by month. */
export function projectQuota(
  project: QuotaProject,
  runs: readonly QuotaMonthOutcome[][],
  horizon: Period,
  recorded: Period,
): ProjectQuota {
  const quota_cu_hours = ((project.computeSeconds ?? 0) * SECOND) / HOUR;
  const factor = horizon.endAt > recorded.endAt ? bootstrapWidening(recordedDays(recorded)) : 1;
  const months = monthsOf(horizon).map((month, index): QuotaMonth => {
    const outcomes = runs.map((outcome) => outcome[index] as QuotaMonthOutcome);
    const mean = (of: (outcome: QuotaMonthOutcome) => number) => meanSummary(outcomes.map(of), factor);
    return {
      month: monthName(month),
      from: isoInstant(Math.max(month.startAt, horizon.startAt)),
      recorded_until:
        month.startAt >= recorded.endAt ? null : isoInstant(Math.min(month.endAt, recorded.endAt)),
      reached_share: outcomes.filter(({ reachedAt }) => Number.isFinite(reachedAt)).length / outcomes.length,
      reached_at: dateSummary(
        widenedInterval(
          predictionInterval(outcomes.map((outcome) => extrapolatedDate(outcome, quota_cu_hours, month))),
          factor,
          recorded.endAt,
        ),
        month,
      ),
      used_cu_hours: mean(({ usedCuHours }) => usedCuHours),
      requests: mean(({ arrivals: requests }) => requests),
      refused: mean(({ refused }) => refused),
    };
  });
  return { project: project.project, computes: project.computes.length, quota_cu_hours, months };
}

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

/** By when the quota is reached, in `month` if there is one; then by the smallest share left. */
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
