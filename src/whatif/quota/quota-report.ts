import { isoInstant } from "../../platform/core/calendar.ts";
import type { Random } from "../../platform/core/random-port.ts";
import { HOUR, SECOND, type SimTime } from "../../platform/core/time.ts";
import { type ComputeArrivals, collectParts, type Period } from "../../recordings/trace/trace.ts";
import type { DelayChoice } from "../curve/curve.ts";
import { confidenceInterval, type PredictionInterval, predictionInterval } from "../replay/replications.ts";
import type { ReportLimits } from "../report/page-layout.ts";
import {
  fleetSetting,
  type Question,
  type QuestionSummary,
  questionSummary,
  sizeSentence,
} from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { checkPeriodLength, MAX_ARRIVALS } from "../trace/load-all.ts";
import { type TrafficSummary, trafficSummary } from "../trace/traffic-summary.ts";
import {
  type BootstrapBlock,
  bootstrapBlocks,
  bootstrapped,
  bootstrappedLength,
  isBootstrapRandom,
  recordedDays,
} from "./bootstrap.ts";
import { type MonthPeriod, monthsOf, type QuotaMonthOutcome, quotaMonths } from "./quota-months.ts";

/** Computes that share a quota, by their indices in the traffic. */
export type QuotaProject = {
  readonly project: string;
  readonly computes: readonly number[];
  /** CU-seconds a month; `undefined` where none is set. */
  readonly computeSeconds: number | undefined;
};

export type QuotaQuestion = {
  readonly delays: readonly DelayChoice[];
  readonly projects: readonly QuotaProject[];
  /** Whole months that are looked at behind the one in which the trace ends; `undefined`: nothing behind the trace. */
  readonly monthsAhead: number | undefined;
  readonly replications: number;
};

/** A mean of the replications, and half of its 95 % interval; null where there is one replication alone. */
export type MeanSummary = { readonly mean: number; readonly plus_minus: number | null };

/** A date as the replications have it; null where it is not within the month. */
export type DateSummary = {
  readonly median: string | null;
  readonly low: string | null;
  readonly high: string | null;
  /** In how many of such cases it lies between low and high, from 0 to 1. */
  readonly confidence: number;
};

export type QuotaMonth = {
  readonly month: string;
  /** From where it was counted: later than its beginning where the trace begins in it. */
  readonly from: string;
  /** Up to where it was recorded; what comes behind is drawn from recorded days. Null where none of it was. */
  readonly recorded_until: string | null;
  /** Share of the replications in which the quota was reached. */
  readonly reached_share: number;
  readonly reached_at: DateSummary;
  readonly used_cu_hours: MeanSummary;
  readonly requests: MeanSummary;
  /** Requests that came while the quota was reached, until the end of the month. */
  readonly refused: MeanSummary;
};

export type ProjectQuota = {
  readonly project: string;
  readonly computes: number;
  readonly quota_cu_hours: number;
  readonly months: readonly QuotaMonth[];
};

export type QuotaReport = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly replications: number;
  /** Whole days of the trace, out of which those behind its end are drawn. */
  readonly days_recorded: number;
  /** The month that is asked for: the first that is not over when the trace ends and was counted from its beginning; null where there is none. */
  readonly month: string | null;
  /** In the order of the question; projects whose quota is reached soonest in that month first. */
  readonly delays: readonly { readonly delay_s: DelayChoice; readonly projects: readonly ProjectQuota[] }[];
  /** Without a quota: nothing is reached there. */
  readonly projects_without_quota: number;
  readonly limits: ReportLimits;
};

/** A month counts from its beginning where not more of it is missing. */
const MAX_MISSING_MS = HOUR;

/** Each delay through all replications, project by project: tells how many of these runs are done, out of `quotaRuns`. */
export function* quotaReport(
  traffic: Traffic,
  question: Question,
  quotaQuestion: QuotaQuestion,
  randomFor: (seed: number) => Random,
): Generator<number, QuotaReport> {
  const { period } = traffic;
  checkPeriodLength(period);
  const horizon = horizonOf(period, quotaQuestion);
  const limited = quotaQuestion.projects.filter(({ computeSeconds }) => computeSeconds !== undefined);
  const replications = replicationsOf(period, question, quotaQuestion);
  const days = recordedDays(period).length;
  const rows: ProjectQuota[][] = quotaQuestion.delays.map(() => []);
  let [done, arrivals, used] = [0, 0, 0];
  for (const project of limited) {
    const own = project.computes.map((compute) => collectParts(traffic.arrivals(compute)));
    arrivals += own.reduce((sum, { at }) => sum + at.length, 0);
    used += own.filter(({ at }) => at.length > 0).length;
    const runs: QuotaMonthOutcome[][][] = quotaQuestion.delays.map(() => []);
    for (let replication = 0; replication < replications; replication += 1) {
      const random = randomFor(question.seed + replication);
      const repeats = horizon.endAt > period.endAt ? bootstrapBlocks(period, horizon.endAt, random) : [];
      const all = extendArrivals(own, repeats, project.project);
      for (const [index, delay] of quotaQuestion.delays.entries()) {
        runs[index]?.push(simulateProject(all, delay, project, question, horizon, random));
        done += 1;
        yield done;
      }
    }
    for (const [index, outcomes] of runs.entries())
      rows[index]?.push(projectQuota(project, outcomes, horizon, period));
  }
  const month = reportedMonth(period, horizon);
  return {
    question: questionSummary(question),
    traffic: trafficSummary(traffic, used, arrivals),
    replications,
    days_recorded: days,
    month: month === undefined ? null : monthName(month),
    delays: quotaQuestion.delays.map((delay, index) => ({
      delay_s: delay,
      projects: soonestFirst(rows[index] ?? [], month),
    })),
    projects_without_quota: quotaQuestion.projects.length - limited.length,
    limits: quotaLimits(question, period, horizon, days),
  };
}

/** How many runs a report takes. */
export function quotaRuns(traffic: Traffic, question: Question, quotaQuestion: QuotaQuestion): number {
  const limited = quotaQuestion.projects.filter(({ computeSeconds }) => computeSeconds !== undefined).length;
  return limited * quotaQuestion.delays.length * replicationsOf(traffic.period, question, quotaQuestion);
}

/** Where nothing is drawn, one says all. */
function replicationsOf(
  period: Period,
  { latency }: Question,
  { monthsAhead, replications }: QuotaQuestion,
): number {
  const hasRandomness = latency.kind !== "fixed" || (monthsAhead !== undefined && isBootstrapRandom(period));
  return hasRandomness ? replications : 1;
}

/** From the beginning of the trace to the end of the last month that is looked at. Throws a RangeError where no day could come again. */
function horizonOf({ startAt, endAt }: Period, { monthsAhead }: QuotaQuestion): Period {
  if (monthsAhead === undefined) return { startAt, endAt };
  if (recordedDays({ startAt, endAt }).length === 0)
    throw new RangeError(
      "the trace holds no whole day (UTC), so nothing can be said of what comes behind it",
    );
  const months = monthsOf({ startAt, endAt });
  let until = months.at(-1)?.endAt as SimTime;
  for (let offset = 0; offset < monthsAhead; offset += 1)
    until = monthsOf({ startAt: until, endAt: until + 1 })[0]?.endAt as SimTime;
  return { startAt, endAt: until };
}

function extendArrivals(
  own: readonly ComputeArrivals[],
  repeats: readonly BootstrapBlock[],
  project: string,
): readonly ComputeArrivals[] {
  if (own.reduce((sum, arrivals) => sum + bootstrappedLength(arrivals, repeats), 0) > MAX_ARRIVALS) {
    throw new RangeError(
      `project "${project}": more than ${MAX_ARRIVALS.toLocaleString("en")} requests in the time that is looked at; look at fewer months, or at a part of the trace`,
    );
  }
  return repeats.length === 0 ? own : own.map((arrivals) => bootstrapped(arrivals, repeats));
}

function simulateProject(
  arrivals: readonly ComputeArrivals[],
  delay: DelayChoice,
  { computes, computeSeconds = Number.POSITIVE_INFINITY }: QuotaProject,
  question: Question,
  period: Period,
  random: Random,
): QuotaMonthOutcome[] {
  const fleet = {
    period,
    ...fleetSetting(question, delay, computes),
    arrivals,
    clients: [],
    latency: question.latency,
    starts: {},
    random,
  };
  return quotaMonths(fleet, computeSeconds);
}

function projectQuota(
  project: QuotaProject,
  runs: readonly QuotaMonthOutcome[][],
  horizon: Period,
  recorded: Period,
): ProjectQuota {
  const months = monthsOf(horizon).map((month, index): QuotaMonth => {
    const outcomes = runs.map((outcome) => outcome[index] as QuotaMonthOutcome);
    const mean = (of: (outcome: QuotaMonthOutcome) => number) => meanSummary(outcomes.map(of));
    return {
      month: monthName(month),
      from: isoInstant(Math.max(month.startAt, horizon.startAt)),
      recorded_until:
        month.startAt >= recorded.endAt ? null : isoInstant(Math.min(month.endAt, recorded.endAt)),
      reached_share: outcomes.filter(({ reachedAt }) => Number.isFinite(reachedAt)).length / outcomes.length,
      reached_at: dateSummary(predictionInterval(outcomes.map(({ reachedAt }) => reachedAt))),
      used_cu_hours: mean(({ usedCuHours }) => usedCuHours),
      requests: mean(({ arrivals: requests }) => requests),
      refused: mean(({ refused }) => refused),
    };
  });
  const quota_cu_hours = ((project.computeSeconds ?? 0) * SECOND) / HOUR;
  return { project: project.project, computes: project.computes.length, quota_cu_hours, months };
}

function meanSummary(values: readonly number[]): MeanSummary {
  const { mean, halfWidth } = confidenceInterval(values);
  return { mean, plus_minus: values.length === 1 ? null : halfWidth };
}

function dateSummary({ low, median, high, confidence }: PredictionInterval): DateSummary {
  const date = (at: number) => (Number.isFinite(at) ? isoInstant(at) : null);
  return { median: date(median), low: date(low), high: date(high), confidence };
}

/** The first month that is not over when the trace ends and that was counted from its beginning. */
function reportedMonth(recorded: Period, horizon: Period): MonthPeriod | undefined {
  return monthsOf(horizon).find(
    ({ startAt, endAt }) =>
      endAt > recorded.endAt && endAt <= horizon.endAt && horizon.startAt - startAt <= MAX_MISSING_MS,
  );
}

function monthName({ startAt }: MonthPeriod): string {
  return isoInstant(startAt).slice(0, "2026-01".length);
}

/** In the month that is asked for, else in any; then those that have least left. */
function soonestFirst(projects: readonly ProjectQuota[], month: MonthPeriod | undefined): ProjectQuota[] {
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

function quotaLimits(
  { costs, deletedAt = [] }: Question,
  recorded: Period,
  horizon: Period,
  days: number,
): ReportLimits {
  const isExtended = horizon.endAt > recorded.endAt;
  return {
    exact: [
      "The use counts from the end of each start, by calendar months in UTC. In the millisecond in which it is as much as the quota, all computes of the project are suspended; requests are refused until the month is over. These are the rules of the double, event by event.",
    ],
    simulated: isExtended
      ? [
          `Behind ${isoInstant(recorded.endAt)}, each day is one of the ${days} whole days that were recorded, drawn anew in each replication (a bootstrap by days; workdays for workdays and weekends for weekends where both were recorded), the same for all computes.`,
          "The interval of the date is one of prediction: between the least and the greatest of the replications, or nearer where there are more than 39. ± is half of a 95 % interval of the mean.",
        ]
      : [],
    left_out: [
      ...(isExtended
        ? [
            "Growth, weeks that are busy as a whole, and anything that was not recorded: days are drawn one by one, so the interval is too narrow where busy days come together.",
            ...(deletedAt.some((at) => at !== undefined)
              ? ["Deletions behind the end: what a deleted compute was asked on a day comes again with it."]
              : []),
            ...(days < 7
              ? [
                  `Only ${days === 1 ? "one day was" : `${days} days were`} recorded: that is little to draw from.`,
                ]
              : []),
          ]
        : []),
      "What was used in a month before the trace begins: a month in which it begins is counted from there.",
      `Clients that come again because they were refused. ${sizeSentence(costs)}; other quotas than that of compute time.`,
    ],
  };
}
