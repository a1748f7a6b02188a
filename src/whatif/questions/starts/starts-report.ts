import { isoInstant } from "../../../kernel/calendar.ts";
import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import type { Random } from "../../../kernel/random-port.ts";
import { MINUTE, SECOND } from "../../../kernel/time.ts";
import { checkPeriodLength, loadArrivals } from "../../coupled/load-all.ts";
import type { StartLimits } from "../../coupled/start-limiter.ts";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import { OutcomeMargins } from "../../held-out/outcome-margins.ts";
import type { Question } from "../../input/question.ts";
import { latencyText, type QuestionSummary, questionSummary } from "../../input/question-summary.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import { type OutcomeFigures, outcomeFigures } from "../../replay/figures.ts";
import type { ReplayOutcome } from "../../replay/replay-outcome.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { AFTER_TRACE_END, type TrafficSummary, trafficSummary } from "../../trace/traffic-summary.ts";
import { perMinuteQuantile, type StartTimes } from "./start-times.ts";
import { replayUnlimited, type StartsQuestion, type StartsRun, simulateLimited } from "./starts-runs.ts";

/** The result under one limit. Waits include both queueing and the start itself. */
export type StartsRow = {
  /** Maximum number of concurrent starts; null without a limit. */
  readonly max_concurrent_starts: number | null;
  /** The pool of prepared computes; null without one. */
  readonly pool: {
    readonly size: number;
    readonly refill_s: number;
    readonly start_latency: string;
    /** `--target-miss` in percent, if the size is the smallest one that meets it. */
    readonly target_miss_percent?: number;
  } | null;
  readonly starts: number;
  readonly most_under_way: number;
  /** Null if there are no starts. */
  readonly most_under_way_at: string | null;
  /** Quantiles over all minutes of the period, including those without a start. */
  readonly per_minute_p50: number;
  readonly per_minute_p99: number;
  readonly per_minute_max: number;
  /** Start of the first minute with that number. */
  readonly per_minute_max_at: string | null;
  /** The largest number of starts queued at once. */
  readonly most_queued: number;
  readonly pool_hits: number;
  readonly pool_misses: number;
  readonly wait_p90_of_waiting_ms: number;
  readonly wait_p999_of_waiting_ms: number;
  readonly wait_max_ms: number;
  readonly figures: OutcomeFigures;
  /**
   * Half the width of the 95 % interval of each, for these computes on other days; null with limits or without
   * intervals.
   */
  readonly margin_95: StartsMargins | null;
  /** Difference to the result without limits; null for that result itself. */
  readonly difference: {
    readonly cold_starts: number;
    readonly cu_hours: number;
    readonly wait_mean_ms: number;
    readonly wait_p99_ms: number;
    readonly wait_max_ms: number;
  } | null;
};

type StartsMargins = Pick<OutcomeFigures, "cold_starts_per_day" | "wait_mean_ms">;

export type StartsReport = {
  readonly question: QuestionSummary;
  readonly delay_s: DelayChoice;
  readonly traffic: TrafficSummary;
  /** Why there are no intervals; null if there are. */
  readonly no_margins: string | null;
  /** The result without limits first, then the limits in the order of the question. */
  readonly rows: readonly StartsRow[];
  readonly busiest_minutes: readonly { readonly at: string; readonly starts: number }[];
  readonly limits: ReportLimits;
};

/** Data of the charts and CSV files that is too long for the summary. */
type StartsSeries = {
  readonly times: StartTimes;
  readonly perMinute: Uint32Array;
  /** Quantiles of the waiting requests in milliseconds, at `WAIT_SHARES`. */
  readonly waits: readonly number[];
};

export type StartsAnswer = { readonly report: StartsReport; readonly series: readonly StartsSeries[] };

/** Quantiles of the waiting requests for the chart of waits. */
export const WAIT_SHARES: readonly number[] = [
  ...Array.from({ length: 99 }, (_, index) => (index + 1) / 100),
  ...Array.from({ length: 9 }, (_, index) => 0.99 + (index + 1) / 1_000),
  1,
];
const MAX_MINUTES = 10;

/**
 * Replays each compute alone, then simulates all together under each limit. Yields the number of computes
 * done.
 */
export function* startsReport(
  traffic: Traffic,
  question: Question,
  startsQuestion: StartsQuestion,
  random: Random,
): Generator<number, StartsAnswer> {
  checkPeriodLength(traffic.period);
  const all = loadArrivals(traffic);
  const unlimited = yield* replayUnlimited(traffic, all, question, startsQuestion, random);
  const limited = startLimitsOf(startsQuestion);
  const runs: StartsRun[] = [];
  for (const starts of limited) {
    runs.push(simulateLimited(traffic, all, question, startsQuestion, starts, random));
    yield (runs.length + 1) * traffic.computes.length;
  }
  const margins = OutcomeMargins.of(traffic.period);
  const base = {
    ...startsRow(unlimited, traffic, question, startsQuestion, {}, undefined),
    margin_95: "missing" in margins ? null : startsMargins(unlimited, margins, question),
  };
  const rows = [
    base,
    ...runs.map((run, index) =>
      startsRow(run, traffic, question, startsQuestion, limited[index] ?? {}, base),
    ),
  ];
  const { startAt } = traffic.period;
  const perMinute = unlimited.times.load(traffic.period).perMinute;
  const report: StartsReport = {
    question: questionSummary(question),
    delay_s: startsQuestion.delay,
    traffic: trafficSummary(
      traffic,
      unlimited.outcome.firstStarts,
      unlimited.outcome.arrivals,
      unlimited.outcome.activeMs,
    ),
    no_margins: "missing" in margins ? margins.missing : null,
    rows,
    busiest_minutes: busiestMinutes(perMinute).map((minute) => ({
      at: isoInstant(startAt + minute * MINUTE),
      starts: perMinute[minute] as number,
    })),
    limits: startsLimits(startsQuestion, question.latency.kind !== "fixed"),
  };
  return {
    report,
    series: [unlimited, ...runs].map(({ times, outcome }) => startsSeries(times, outcome, traffic)),
  };
}

/** The number of computes that `startsReport` processes, summed over all runs. */
export function startsSteps(traffic: Traffic, startsQuestion: StartsQuestion): number {
  return (1 + startLimitsOf(startsQuestion).length) * traffic.computes.length;
}

function startLimitsOf({ concurrent, pool }: StartsQuestion): StartLimits[] {
  if (concurrent.length === 0) return pool === undefined ? [] : [{ pool }];
  return concurrent.map((most) => ({ concurrent: most, pool }));
}

function startsRow(
  { times, outcome, gate }: StartsRun,
  { period }: Traffic,
  { costs }: Question,
  { pool }: StartsQuestion,
  { concurrent }: StartLimits,
  base: StartsRow | undefined,
): StartsRow {
  const { starts, mostUnderWay, mostUnderWayAt, perMinute } = times.load(period);
  const figures = outcomeFigures(outcome, period.endAt - period.startAt, costs);
  const perMinuteMax = perMinuteQuantile(perMinute, 1);
  const { waits } = outcome;
  const waitMax = waits.quantile(1, waits.waited);
  return {
    max_concurrent_starts: concurrent ?? null,
    pool:
      gate === undefined || pool === undefined
        ? null
        : omitUndefined({
            size: pool.size,
            refill_s: pool.refillMs / SECOND,
            start_latency: latencyText(pool.latency),
            target_miss_percent: pool.targetMiss === undefined ? undefined : pool.targetMiss * 100,
          }),
    starts,
    most_under_way: mostUnderWay,
    most_under_way_at: mostUnderWayAt === undefined ? null : isoInstant(mostUnderWayAt),
    per_minute_p50: perMinuteQuantile(perMinute, 0.5),
    per_minute_p99: perMinuteQuantile(perMinute, 0.99),
    per_minute_max: perMinuteMax,
    per_minute_max_at:
      perMinuteMax === 0 ? null : isoInstant(period.startAt + perMinute.indexOf(perMinuteMax) * MINUTE),
    most_queued: gate?.mostQueued ?? 0,
    pool_hits: pool === undefined ? 0 : (gate?.poolHits ?? 0),
    pool_misses: pool === undefined ? 0 : (gate?.poolMisses ?? 0),
    wait_p90_of_waiting_ms: waits.quantile(0.9, waits.waited),
    wait_p999_of_waiting_ms: waits.quantile(0.999, waits.waited),
    wait_max_ms: waitMax,
    figures,
    margin_95: null,
    difference:
      base === undefined
        ? null
        : {
            cold_starts: figures.cold_starts - base.figures.cold_starts,
            cu_hours: figures.cu_hours - base.figures.cu_hours,
            wait_mean_ms: figures.wait_mean_ms - base.figures.wait_mean_ms,
            wait_p99_ms: figures.wait_p99_ms - base.figures.wait_p99_ms,
            wait_max_ms: waitMax - base.wait_max_ms,
          },
  };
}

function startsMargins(
  { outcome: { days } }: StartsRun,
  margins: OutcomeMargins,
  { costs }: Question,
): StartsMargins | null {
  if (days === undefined) return null;
  const drawn = margins.drawn([days], costs);
  return {
    cold_starts_per_day: margins.margin(drawn.cold_starts_per_day),
    wait_mean_ms: margins.margin(drawn.wait_mean_ms),
  };
}

function startsSeries(times: StartTimes, { waits }: ReplayOutcome, { period }: Traffic): StartsSeries {
  return {
    times,
    perMinute: times.load(period).perMinute,
    waits: WAIT_SHARES.map((share) => waits.quantile(share, waits.waited)),
  };
}

function busiestMinutes(perMinute: Uint32Array): number[] {
  const minutes = [...perMinute.keys()].filter((minute) => (perMinute[minute] as number) > 0);
  return minutes
    .sort((a, b) => (perMinute[b] as number) - (perMinute[a] as number) || a - b)
    .slice(0, MAX_MINUTES);
}

function startsLimits({ concurrent, pool, delay }: StartsQuestion, hasRandomness: boolean): ReportLimits {
  const isShared = concurrent.length > 0 || pool !== undefined;
  return {
    exact: [
      "When each compute starts, and for how long, without limits: every request is replayed under the rules of the platform.",
    ],
    simulated: [
      "Starts take the given start latency. Requests that arrive during a start wait until it ends.",
      ...(isShared
        ? [
            "All computes share one clock. A start above the limit is queued, first come, first served. A queued compute is not metered, and its requests wait with it.",
          ]
        : []),
      ...(isShared && hasRandomness
        ? [
            "The draw of the start latency depends on the instant of the start. A queued start begins later and draws another latency. Differences include this effect; if a few long starts dominate, they are mostly this effect.",
          ]
        : []),
      ...(pool === undefined
        ? []
        : [
            `A start takes a prepared compute if there is one. A replacement is ready ${pool.refillMs / SECOND} s later.`,
          ]),
    ],
    left_out: [
      "Clients that give up or retry while they wait, and queries slowed by a cold cache.",
      "The platform does not publish its own start limits. The limits here are yours.",
      ...(delay === "never" ? ["Computes that never suspend start once, on their first request."] : []),
      "Peaks, percentiles and results with limits have no intervals: other days can have higher peaks than the recorded ones.",
      "Quantiles of waits above 17 minutes are rounded up by at most 0.1 %. Means and the longest wait are exact.",
      AFTER_TRACE_END,
    ],
  };
}
