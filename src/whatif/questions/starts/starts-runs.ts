import type { Random } from "../../../kernel/random-port.ts";
import type { ComputeArrivals } from "../../../traffic/recorded/trace/trace.ts";
import type { CoupledOutcome } from "../../coupled/coupled-fleet.ts";
import { simulateCoupled } from "../../coupled/coupled-simulation.ts";
import type { StartLimits } from "../../coupled/start-limiter.ts";
import { sizeOf, startWorth } from "../../gap-curve/costs.ts";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import { meanSizes } from "../../input/mean-sizes.ts";
import { effectiveDelay, fleetSetting, type Question } from "../../input/question.ts";
import { FixedReplay } from "../../replay/fixed-replay.ts";
import { emptyOutcomeByDay, type ReplayOutcome } from "../../replay/replay-outcome.ts";
import { loadSizesOf } from "../../sizes/scaling-computes.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { StartLatencies, type StartLatency } from "../../units/start-latency.ts";
import { StartTimes } from "./start-times.ts";

/** Limits that all computes share: a limit of concurrent starts, and a pool of prepared computes. */
export type StartsQuestion = {
  readonly delay: DelayChoice;
  /** Each limit is simulated on its own. */
  readonly concurrent: readonly number[];
  readonly pool?:
    | {
        readonly size: number;
        readonly refillMs: number;
        readonly latency: StartLatency;
        /** Share of misses that the size was chosen for; undefined if the size was given. */
        readonly targetMiss?: number;
      }
    | undefined;
};

export type StartsRun = {
  readonly times: StartTimes;
  readonly outcome: ReplayOutcome;
  readonly gate?: CoupledOutcome["limiter"];
};

export function* replayUnlimited(
  { period }: Traffic,
  all: readonly ComputeArrivals[],
  question: Question,
  { delay }: StartsQuestion,
  random: Random,
): Generator<number, StartsRun> {
  const times = new StartTimes();
  const replay = new FixedReplay(period, delay === "own" ? 0 : delay, emptyOutcomeByDay(period), {
    started: (at, readyAt) => times.add(at, readyAt),
    suspended: () => {},
  });
  for (const [number, own] of all.entries()) {
    const cu = sizeOf(question.costs, number);
    const setting = {
      cu,
      startWorth: startWorth(question.costs, cu),
      delay: effectiveDelay(question, delay, number),
      deletedAt: question.deletedAt?.[number],
      sizes: loadSizesOf(question.scaling, number, random),
    };
    replay.begin(new StartLatencies(question.latency, random, number), setting);
    replay.add(own);
    replay.end();
    yield number + 1;
  }
  return { times, outcome: replay.outcome };
}

export function simulateLimited(
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
    cu: meanSizes(question, delay, [...computes.keys()], arrivals, period, random),
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
