import { isoInstant } from "../../platform/core/calendar.ts";
import type { Random } from "../../platform/core/random-port.ts";
import { MINUTE, SECOND } from "../../platform/core/time.ts";
import type { ComputeArrivals } from "../../recordings/trace/trace.ts";
import { type CoupledOutcome, simulateCoupled } from "../coupled/coupled-simulation.ts";
import type { StartLimits } from "../coupled/start-limiter.ts";
import { sizeOf } from "../curve/costs.ts";
import type { DelayChoice } from "../curve/curve.ts";
import { FixedReplay } from "../replay/fixed-replay.ts";
import type { ReplayOutcome } from "../replay/replay-outcome.ts";
import { StartLatencies, type StartLatency } from "../replay/start-latency.ts";
import { type OutcomeFigures, outcomeFigures } from "../report/figures.ts";
import type { ReportLimits } from "../report/page-layout.ts";
import {
  effectiveDelay,
  fleetSetting,
  latencyText,
  type Question,
  type QuestionSummary,
  questionSummary,
} from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { checkPeriodLength, loadArrivals } from "../trace/load-all.ts";
import { AFTER_TRACE_END, type TrafficSummary, trafficSummary } from "../trace/traffic-summary.ts";
import { perMinuteQuantile, StartTimes } from "./start-times.ts";

/** What all computes share: at most so many starts at once, and computes that are kept prepared. */
export type StartsQuestion = {
  readonly delay: DelayChoice;
  /** Each is a run of its own. */
  readonly concurrent: readonly number[];
  readonly pool?:
    | { readonly size: number; readonly refillMs: number; readonly latency: StartLatency }
    | undefined;
};

/** What came of the starts under one limit. Waits are those for the turn and for the start together. */
export type StartsRow = {
  /** Null without a limit. */
  readonly max_concurrent_starts: number | null;
  /** Null without a pool. */
  readonly pool: { readonly size: number; readonly refill_s: number; readonly start_latency: string } | null;
  readonly starts: number;
  readonly most_under_way: number;
  /** Null where nothing started. */
  readonly most_under_way_at: string | null;
  /** Of all minutes of the period, those without a start included. */
  readonly per_minute_p50: number;
  readonly per_minute_p99: number;
  readonly per_minute_max: number;
  /** Beginning of the first minute with as many. */
  readonly per_minute_max_at: string | null;
  /** Starts that waited for their turn at the same time, at most. */
  readonly most_queued: number;
  readonly pool_hits: number;
  readonly pool_misses: number;
  readonly wait_p90_of_waiting_ms: number;
  readonly wait_p999_of_waiting_ms: number;
  readonly wait_max_ms: number;
  readonly figures: OutcomeFigures;
  /** To the computes alone, without anything shared; null of these. */
  readonly difference: {
    readonly cold_starts: number;
    readonly cu_hours: number;
    readonly wait_mean_ms: number;
    readonly wait_p99_ms: number;
    readonly wait_max_ms: number;
  } | null;
};

export type StartsReport = {
  readonly question: QuestionSummary;
  readonly delay_s: DelayChoice;
  readonly traffic: TrafficSummary;
  /** Without anything shared first, then the limits in the order of the question. */
  readonly rows: readonly StartsRow[];
  readonly busiest_minutes: readonly { readonly at: string; readonly starts: number }[];
  readonly limits: ReportLimits;
};

/** What drawings and further files are made of: too long for a summary. */
type StartsSeries = {
  readonly times: StartTimes;
  readonly perMinute: Uint32Array;
  /** Added waits that each of `shares` of those that wait do not exceed, in milliseconds. */
  readonly waits: readonly number[];
};

export type StartsAnswer = { readonly report: StartsReport; readonly series: readonly StartsSeries[] };

/** Of those that wait: for the drawing of how waits spread. */
export const WAIT_SHARES: readonly number[] = [
  ...Array.from({ length: 99 }, (_, index) => (index + 1) / 100),
  ...Array.from({ length: 9 }, (_, index) => 0.99 + (index + 1) / 1_000),
  1,
];
const MAX_MINUTES = 10;

/** Replays each compute alone, then all on one clock under each limit; tells how many computes are done. */
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
  const base = startsRow(unlimited, traffic, question, startsQuestion, {}, undefined);
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
    traffic: trafficSummary(traffic, unlimited.outcome.firstStarts, unlimited.outcome.arrivals),
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

/** How many computes are gone through, all runs counted. */
export function startsSteps(traffic: Traffic, startsQuestion: StartsQuestion): number {
  return (1 + startLimitsOf(startsQuestion).length) * traffic.computes.length;
}

type StartsRun = {
  readonly times: StartTimes;
  readonly outcome: ReplayOutcome;
  readonly gate?: CoupledOutcome["limiter"];
};

function startLimitsOf({ concurrent, pool }: StartsQuestion): StartLimits[] {
  if (concurrent.length === 0) return pool === undefined ? [] : [{ pool }];
  return concurrent.map((most) => ({ concurrent: most, pool }));
}

function* replayUnlimited(
  { period }: Traffic,
  all: readonly ComputeArrivals[],
  question: Question,
  { delay }: StartsQuestion,
  random: Random,
): Generator<number, StartsRun> {
  const times = new StartTimes();
  const replay = new FixedReplay(period, delay === "own" ? 0 : delay, undefined, {
    started: (at, readyAt) => times.add(at, readyAt),
    suspended: () => {},
  });
  for (const [number, own] of all.entries()) {
    const setting = {
      cu: sizeOf(question.costs, number),
      delay: effectiveDelay(question, delay, number),
      deletedAt: question.deletedAt?.[number],
    };
    replay.begin(new StartLatencies(question.latency, random, number), setting);
    replay.add(own);
    replay.end();
    yield number + 1;
  }
  return { times, outcome: replay.outcome };
}

function simulateLimited(
  { period, computes }: Traffic,
  arrivals: readonly ComputeArrivals[],
  question: Question,
  { delay, pool }: StartsQuestion,
  starts: StartLimits,
  random: Random,
): StartsRun {
  const times = new StartTimes();
  const fleet = {
    period,
    ...fleetSetting(question, delay, [...computes.keys()]),
    arrivals,
    clients: [],
    latency: question.latency,
    preparedLatency: pool?.latency,
    starts,
    random,
  };
  const outcome = simulateCoupled(fleet, {
    started: (_, at, readyAt) => times.add(at, readyAt),
    suspended: () => {},
  });
  return { times, outcome, gate: outcome.limiter };
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
        : { size: pool.size, refill_s: pool.refillMs / SECOND, start_latency: latencyText(pool.latency) },
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
      "When each compute starts, and for how long, if nothing holds it back: a replay of every request under the platform's rules.",
    ],
    simulated: [
      "How long a start takes is that of the question; who arrives during a start waits for its end.",
      ...(isShared
        ? [
            "All computes on one clock: who may not start yet waits, first come, first served, and is not metered meanwhile. Its requests wait with it.",
          ]
        : []),
      ...(isShared && hasRandomness
        ? [
            "How long a start takes is drawn by its instant. One that waits for its turn begins later and draws another time: differences have that in them, and where few long starts decide they are mostly that.",
          ]
        : []),
      ...(pool === undefined
        ? []
        : [
            `A start that finds a prepared compute takes it, and another one is prepared ${pool.refillMs / SECOND} s later.`,
          ]),
    ],
    left_out: [
      "Clients that give up, or try again, while they wait; queries that a cold cache lengthens.",
      "The platform's own limits of starts are not published: those here are yours.",
      ...(delay === "never" ? ["Computes that never sleep start once, with their first request."] : []),
      "Quantiles of waits beyond 17 minutes are rounded up, by a thousandth at most; means and the longest are exact.",
      AFTER_TRACE_END,
    ],
  };
}
