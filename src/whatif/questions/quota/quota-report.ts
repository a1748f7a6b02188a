import type { Random } from "../../../kernel/random-port.ts";
import { HOUR, SECOND, type SimTime } from "../../../kernel/time.ts";
import { type ComputeArrivals, collectParts, type Period } from "../../../traffic/recorded/trace/trace.ts";
import { checkPeriodLength, MAX_ARRIVALS } from "../../coupled/load-all.ts";
import { sizeOf } from "../../gap-curve/costs.ts";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import { meanSizes } from "../../input/mean-sizes.ts";
import { fleetSetting, type Question } from "../../input/question.ts";
import { type QuestionSummary, questionSummary } from "../../input/question-summary.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { type TrafficSummary, trafficSummary } from "../../trace/traffic-summary.ts";
import { type BootstrapBlock, checkRecordedDays, FEW_DAYS, recordedDays } from "../../units/bootstrap.ts";
import { replicationSeed } from "../../units/replications.ts";
import {
  monthName,
  type ProjectQuota,
  projectQuota,
  type QuotaProject,
  type ReplicatedMonths,
  soonestFirst,
} from "./project-quota.ts";
import { forecastMonths } from "./quota-forecast.ts";
import { quotaLimits } from "./quota-limits.ts";
import { type MonthPeriod, monthsOf, type QuotaMonthOutcome, quotaMonths } from "./quota-months.ts";
import { changedBlocks, staysBlocks, type UseOutlook, useOutlook } from "./use-outlook.ts";
import { type UseProfile, useProfile } from "./use-profile.ts";

export type QuotaQuestion = {
  readonly delays: readonly DelayChoice[];
  readonly projects: readonly QuotaProject[];
  /**
   * Number of whole months after the one in which the trace ends; `undefined`: nothing is simulated after the end of
   * the trace.
   */
  readonly monthsAhead: number | undefined;
  readonly replications: number;
};

export type QuotaReport = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly replications: number;
  /** Whole days of the trace, from which the days after its end are drawn. */
  readonly days_recorded: number;
  /** Whether the trace has fewer than `FEW_DAYS` days to predict from. */
  readonly few_days: boolean;
  /** The first month that ends after the trace and is counted from its beginning; null if there is none. */
  readonly month: string | null;
  /** Delays in the order of the question. Projects that use up their quota first in `month` come first. */
  readonly delays: readonly { readonly delay_s: DelayChoice; readonly projects: readonly ProjectQuota[] }[];
  readonly projects_without_quota: number;
  readonly limits: ReportLimits;
};

/** A month is counted from its beginning if at most this is missing. */
const MAX_MISSING_MS = HOUR;

/**
 * Simulates each project with each delay in each replication. Yields the number of runs done, out of
 * `quotaRuns`.
 */
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
  const replications = replicationsOf(question, quotaQuestion);
  const days = recordedDays(period).length;
  const rows: ProjectQuota[][] = quotaQuestion.delays.map(() => []);
  let [done, arrivals, used] = [0, 0, 0];
  for (const project of limited) {
    const own = project.computes.map((compute) => collectParts(traffic.arrivals(compute)));
    arrivals += own.reduce((sum, { at }) => sum + at.length, 0);
    used += own.filter(({ at }) => at.length > 0).length;
    for (const [index, delay] of quotaQuestion.delays.entries()) {
      const runs: ReplicatedMonths[] = [];
      const run = replicationRun(own, delay, project, question, {
        period,
        horizon,
        silenceIsIdle: traffic.silenceIsIdle,
      });
      for (let replication = 0; replication < replications; replication += 1) {
        runs.push(run(randomFor(replicationSeed(question.seed, replication))));
        done += 1;
        yield done;
      }
      rows[index]?.push(projectQuota(project, runs, horizon, period));
    }
  }
  const month = reportedMonth(period, horizon);
  return {
    question: questionSummary(question),
    traffic: trafficSummary(traffic, used, arrivals, 0),
    replications,
    days_recorded: days,
    few_days: horizon.endAt > period.endAt && days < FEW_DAYS,
    month: month === undefined ? null : monthName(month),
    delays: quotaQuestion.delays.map((delay, index) => ({
      delay_s: delay,
      projects: soonestFirst(rows[index] ?? [], month),
    })),
    projects_without_quota: quotaQuestion.projects.length - limited.length,
    limits: quotaLimits(question, period, horizon, days),
  };
}

/** The number of simulation runs of a report. */
export function quotaRuns(question: Question, quotaQuestion: QuotaQuestion): number {
  const limited = quotaQuestion.projects.filter(({ computeSeconds }) => computeSeconds !== undefined).length;
  return limited * quotaQuestion.delays.length * replicationsOf(question, quotaQuestion);
}

/** One replication is enough if nothing is random. */
function replicationsOf({ latency }: Question, { monthsAhead, replications }: QuotaQuestion): number {
  const hasRandomness = latency.kind !== "fixed" || monthsAhead !== undefined;
  return hasRandomness ? replications : 1;
}

/**
 * The simulated period: from the start of the trace to the end of the last month. Throws a RangeError if there are too
 * few days to repeat.
 */
function horizonOf({ startAt, endAt }: Period, { monthsAhead }: QuotaQuestion): Period {
  if (monthsAhead === undefined) return { startAt, endAt };
  checkRecordedDays({ startAt, endAt });
  const months = monthsOf({ startAt, endAt });
  let until = months.at(-1)?.endAt as SimTime;
  for (let offset = 0; offset < monthsAhead; offset += 1)
    until = monthsOf({ startAt: until, endAt: until + 1 })[0]?.endAt as SimTime;
  return { startAt, endAt: until };
}

type RunSetting = {
  readonly period: Period;
  readonly horizon: Period;
  readonly silenceIsIdle: boolean | undefined;
};

/**
 * Returns the months of a replication. The recorded time is simulated. If it is extended, it is simulated only once,
 * with the draws of the first replication.
 */
function replicationRun(
  arrivals: readonly ComputeArrivals[],
  delay: DelayChoice,
  project: QuotaProject,
  question: Question,
  { period, horizon, silenceIsIdle }: RunSetting,
): (random: Random) => ReplicatedMonths {
  if (arrivals.reduce((sum, { at }) => sum + at.length, 0) > MAX_ARRIVALS)
    throw new RangeError(
      `project "${project.project}" has more than ${MAX_ARRIVALS.toLocaleString("en")} requests; use a part of the trace (--from, --to)`,
    );
  const simulated = (random: Random) => simulateProject(arrivals, delay, project, question, period, random);
  if (horizon.endAt <= period.endAt)
    return (random) => ({ stays: simulated(random), changes: undefined, outlook: undefined });
  let recorded: QuotaMonthOutcome[] | undefined;
  let profile: UseProfile | undefined;
  let outlook: UseOutlook | undefined;
  const mostCu = project.computes.reduce((sum, compute) => sum + largestSizeOf(question, compute), 0);
  const quotaCuHours = ((project.computeSeconds ?? 0) * SECOND) / HOUR;
  return (random) => {
    recorded ??= simulated(random);
    profile ??= useProfile(period, project.computes, arrivals, delay, question, random);
    outlook ??= useOutlook(profile, period, silenceIsIdle);
    const { changes } = outlook;
    const monthsWith = (repeats: readonly BootstrapBlock[]) =>
      forecastMonths(
        monthsOf(horizon),
        recorded as readonly QuotaMonthOutcome[],
        repeats,
        profile as UseProfile,
        quotaCuHours,
      );
    return {
      outlook,
      stays: monthsWith(staysBlocks(period, horizon.endAt, outlook, random)),
      changes: changes && monthsWith(changedBlocks(period, horizon.endAt, changes, profile, mostCu, random)),
    };
  };
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
    cu: meanSizes(question, delay, computes, arrivals, period, random),
    arrivals,
    clients: [],
    latency: question.latency,
    starts: {},
    random,
  };
  return quotaMonths(fleet, computeSeconds);
}

function largestSizeOf({ scaling, costs }: Question, compute: number): number {
  return scaling?.ranges[compute]?.maxCu ?? sizeOf(costs, compute);
}

function reportedMonth(recorded: Period, horizon: Period): MonthPeriod | undefined {
  return monthsOf(horizon).find(
    ({ startAt, endAt }) =>
      endAt > recorded.endAt && endAt <= horizon.endAt && horizon.startAt - startAt <= MAX_MISSING_MS,
  );
}
