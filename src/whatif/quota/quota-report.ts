import { isoInstant } from "../../platform/core/calendar.ts";
import type { Chance } from "../../platform/core/random-port.ts";
import { HOUR, SECOND, type SimTime } from "../../platform/core/time.ts";
import { allOf, type Period, type Requests } from "../../recordings/trace/trace.ts";
import type { DelayChoice } from "../curve/curve.ts";
import { intervalOf, type Prediction, predictionOf } from "../replay/replications.ts";
import type { Limits } from "../report/page-layout.ts";
import { fleetSetting, type Question, sizeSentence, type ToldQuestion, toldQuestion } from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { checkLength, MOST_REQUESTS } from "../trace/load-all.ts";
import { type ToldTraffic, toldTraffic } from "../trace/traffic-summary.ts";
import { continuation, continued, continuedLength, isDrawn, type Repeat, recordedDays } from "./bootstrap.ts";
import { type Month, type MonthOutcome, monthsOf, quotaMonths } from "./quota-months.ts";

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
export type ToldMean = { readonly mean: number; readonly plus_minus: number | null };

/** A date as the replications have it; null where it is not within the month. */
export type ToldDate = {
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
  readonly reached_at: ToldDate;
  readonly used_cu_hours: ToldMean;
  readonly requests: ToldMean;
  /** Requests that came while the quota was reached, until the end of the month. */
  readonly refused: ToldMean;
};

export type ProjectQuota = {
  readonly project: string;
  readonly computes: number;
  readonly quota_cu_hours: number;
  readonly months: readonly QuotaMonth[];
};

export type QuotaReport = {
  readonly question: ToldQuestion;
  readonly traffic: ToldTraffic;
  readonly replications: number;
  /** Whole days of the trace, out of which those behind its end are drawn. */
  readonly days_recorded: number;
  /** The month that is asked for: the first that is not over when the trace ends and was counted from its beginning; null where there is none. */
  readonly month: string | null;
  /** In the order of the question; projects whose quota is reached soonest in that month first. */
  readonly delays: readonly { readonly delay_s: DelayChoice; readonly projects: readonly ProjectQuota[] }[];
  /** Without a quota: nothing is reached there. */
  readonly projects_without_quota: number;
  readonly limits: Limits;
};

/** A month counts from its beginning where not more of it is missing. */
const MISSING_AT_MOST = HOUR;

/** Each delay through all replications, project by project: tells how many of these runs are done, out of `quotaRuns`. */
export function* quotaReport(
  traffic: Traffic,
  question: Question,
  asked: QuotaQuestion,
  chanceOf: (seed: number) => Chance,
): Generator<number, QuotaReport> {
  const { period } = traffic;
  checkLength(period);
  const horizon = horizonOf(period, asked);
  const limited = asked.projects.filter(({ computeSeconds }) => computeSeconds !== undefined);
  const replications = replicationsOf(period, question, asked);
  const days = recordedDays(period).length;
  const rows: ProjectQuota[][] = asked.delays.map(() => []);
  let [done, requests, used] = [0, 0, 0];
  for (const project of limited) {
    const own = project.computes.map((compute) => allOf(traffic.requests(compute)));
    requests += own.reduce((sum, { at }) => sum + at.length, 0);
    used += own.filter(({ at }) => at.length > 0).length;
    const runs: MonthOutcome[][][] = asked.delays.map(() => []);
    for (let replication = 0; replication < replications; replication += 1) {
      const chance = chanceOf(question.seed + replication);
      const repeats = horizon.endAt > period.endAt ? continuation(period, horizon.endAt, chance) : [];
      const all = goingOn(own, repeats, project.project);
      for (const [index, delay] of asked.delays.entries()) {
        runs[index]?.push(run(all, delay, project, question, horizon, chance));
        done += 1;
        yield done;
      }
    }
    for (const [index, outcomes] of runs.entries()) rows[index]?.push(told(project, outcomes, horizon, period));
  }
  const month = askedMonth(period, horizon);
  return {
    question: toldQuestion(question),
    traffic: toldTraffic(traffic, used, requests),
    replications,
    days_recorded: days,
    month: month === undefined ? null : nameOf(month),
    delays: asked.delays.map((delay, index) => ({ delay_s: delay, projects: soonestFirst(rows[index] ?? [], month) })),
    projects_without_quota: asked.projects.length - limited.length,
    limits: limitsOf(question, period, horizon, days),
  };
}

/** How many runs a report takes. */
export function quotaRuns(traffic: Traffic, question: Question, asked: QuotaQuestion): number {
  const limited = asked.projects.filter(({ computeSeconds }) => computeSeconds !== undefined).length;
  return limited * asked.delays.length * replicationsOf(traffic.period, question, asked);
}

/** Where nothing is drawn, one says all. */
function replicationsOf(period: Period, { latency }: Question, { monthsAhead, replications }: QuotaQuestion): number {
  const isChance = latency.kind !== "fixed" || (monthsAhead !== undefined && isDrawn(period));
  return isChance ? replications : 1;
}

/** From the beginning of the trace to the end of the last month that is looked at. Throws a RangeError where no day could come again. */
function horizonOf({ startAt, endAt }: Period, { monthsAhead }: QuotaQuestion): Period {
  if (monthsAhead === undefined) return { startAt, endAt };
  if (recordedDays({ startAt, endAt }).length === 0)
    throw new RangeError("the trace holds no whole day (UTC), so nothing can be said of what comes behind it");
  const months = monthsOf({ startAt, endAt });
  let until = months.at(-1)?.endAt as SimTime;
  for (let ahead = 0; ahead < monthsAhead; ahead += 1) until = monthsOf({ startAt: until, endAt: until + 1 })[0]?.endAt as SimTime;
  return { startAt, endAt: until };
}

function goingOn(own: readonly Requests[], repeats: readonly Repeat[], project: string): readonly Requests[] {
  if (own.reduce((sum, requests) => sum + continuedLength(requests, repeats), 0) > MOST_REQUESTS) {
    throw new RangeError(
      `project "${project}": more than ${MOST_REQUESTS.toLocaleString("en")} requests in the time that is looked at; look at fewer months, or at a part of the trace`,
    );
  }
  return repeats.length === 0 ? own : own.map((requests) => continued(requests, repeats));
}

function run(
  requests: readonly Requests[],
  delay: DelayChoice,
  { computes, computeSeconds = Number.POSITIVE_INFINITY }: QuotaProject,
  question: Question,
  period: Period,
  chance: Chance,
): MonthOutcome[] {
  const fleet = {
    period,
    ...fleetSetting(question, delay, computes),
    requests,
    clients: [],
    latency: question.latency,
    starts: {},
    chance,
  };
  return quotaMonths(fleet, computeSeconds);
}

function told(project: QuotaProject, runs: readonly MonthOutcome[][], horizon: Period, recorded: Period): ProjectQuota {
  const months = monthsOf(horizon).map((month, index): QuotaMonth => {
    const outcomes = runs.map((outcome) => outcome[index] as MonthOutcome);
    const mean = (of: (outcome: MonthOutcome) => number) => toldMean(outcomes.map(of));
    return {
      month: nameOf(month),
      from: isoInstant(Math.max(month.startAt, horizon.startAt)),
      recorded_until: month.startAt >= recorded.endAt ? null : isoInstant(Math.min(month.endAt, recorded.endAt)),
      reached_share: outcomes.filter(({ reachedAt }) => Number.isFinite(reachedAt)).length / outcomes.length,
      reached_at: toldDate(predictionOf(outcomes.map(({ reachedAt }) => reachedAt))),
      used_cu_hours: mean(({ usedCuHours }) => usedCuHours),
      requests: mean(({ requests }) => requests),
      refused: mean(({ refused }) => refused),
    };
  });
  const quota_cu_hours = ((project.computeSeconds ?? 0) * SECOND) / HOUR;
  return { project: project.project, computes: project.computes.length, quota_cu_hours, months };
}

function toldMean(values: readonly number[]): ToldMean {
  const { mean, halfWidth } = intervalOf(values);
  return { mean, plus_minus: values.length === 1 ? null : halfWidth };
}

function toldDate({ low, median, high, confidence }: Prediction): ToldDate {
  const date = (at: number) => (Number.isFinite(at) ? isoInstant(at) : null);
  return { median: date(median), low: date(low), high: date(high), confidence };
}

/** The first month that is not over when the trace ends and that was counted from its beginning. */
function askedMonth(recorded: Period, horizon: Period): Month | undefined {
  return monthsOf(horizon).find(
    ({ startAt, endAt }) => endAt > recorded.endAt && endAt <= horizon.endAt && horizon.startAt - startAt <= MISSING_AT_MOST,
  );
}

function nameOf({ startAt }: Month): string {
  return isoInstant(startAt).slice(0, "2026-01".length);
}

/** In the month that is asked for, else in any; then those that have least left. */
function soonestFirst(projects: readonly ProjectQuota[], month: Month | undefined): ProjectQuota[] {
  const name = month === undefined ? undefined : nameOf(month);
  const key = ({ months, quota_cu_hours }: ProjectQuota): readonly [string, number] => {
    const looked = months.filter((one) => name === undefined || one.month === name);
    const reached = looked.find(({ reached_at }) => reached_at.median !== null)?.reached_at.median ?? "~";
    return [reached, -Math.max(0, ...looked.map(({ used_cu_hours }) => used_cu_hours.mean)) / quota_cu_hours];
  };
  return [...projects].sort((a, b) => {
    const [[atA, shareA], [atB, shareB]] = [key(a), key(b)];
    return atA === atB ? shareA - shareB || (a.project < b.project ? -1 : 1) : atA < atB ? -1 : 1;
  });
}

function limitsOf({ costs, goneAt = [] }: Question, recorded: Period, horizon: Period, days: number): Limits {
  const isAhead = horizon.endAt > recorded.endAt;
  return {
    exact: [
      "The use counts from the end of each start, by calendar months in UTC. In the millisecond in which it is as much as the quota, all computes of the project are suspended; requests are refused until the month is over. These are the rules of the double, event by event.",
    ],
    simulated: isAhead
      ? [
          `Behind ${isoInstant(recorded.endAt)}, each day is one of the ${days} whole days that were recorded, drawn anew in each replication (a bootstrap by days; workdays for workdays and weekends for weekends where both were recorded), the same for all computes.`,
          "The interval of the date is one of prediction: between the least and the greatest of the replications, or nearer where there are more than 39. ± is half of a 95 % interval of the mean.",
        ]
      : [],
    left_out: [
      ...(isAhead
        ? [
            "Growth, weeks that are busy as a whole, and anything that was not recorded: days are drawn one by one, so the interval is too narrow where busy days come together.",
            ...(goneAt.some((at) => at !== undefined)
              ? ["Deletions behind the end: what a deleted compute was asked on a day comes again with it."]
              : []),
            ...(days < 7 ? [`Only ${days === 1 ? "one day was" : `${days} days were`} recorded: that is little to draw from.`] : []),
          ]
        : []),
      "What was used in a month before the trace begins: a month in which it begins is counted from there.",
      `Clients that come again because they were refused. ${sizeSentence(costs)}; other quotas than that of compute time.`,
    ],
  };
}
