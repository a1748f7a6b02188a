import type { Random } from "../../kernel/random-port.ts";
import { isOfShard, type Shard } from "../../kernel/shard.ts";
import {
  type ComputeArrivals,
  collectParts,
  eachPart,
  type Period,
} from "../../traffic/recorded/trace/trace.ts";
import { sizeOf } from "../gap-curve/costs.ts";
import { parsePolicy } from "../policies/parse-policy.ts";
import { createReplay, type Replay } from "../replay/experiment.ts";
import { emptyOutcomeByDay, mergeOutcome, type ReplayOutcome } from "../replay/replay-outcome.ts";
import { addCompute, emptyStartsByCompute } from "../replay/starts-by-compute.ts";
import { clearGaps, emptyGaps, GapReader, type Gaps, gapsOf, mergeGaps } from "../trace/gaps.ts";
import { ignoredSources } from "../trace/ignored-waits.ts";
import type { Traffic } from "../trace/traffic.ts";
import { meanLatencyMs } from "../units/mean-latency.ts";
import { experimentSetting, type Question } from "./question.ts";

/** One pass of a policy through the traffic. Plain values, so that it can be sent to a worker. */
export type ReplayJob = {
  readonly policy: string;
  readonly question: Question;
  readonly seed: number;
  /** Whether the outcome also says how computes differ. */
  readonly byCompute?: boolean;
};

/** A range of computes, under all requested policies. */
export type ReplayWork = {
  readonly jobs: readonly ReplayJob[];
  /** Computes to replay: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  /** Replays only the computes of this shard. They keep the numbers that they have without it. */
  readonly shard?: Shard | undefined;
  /** Gaps of the whole fleet. Present if a policy needs them: see `needsFleetGaps`. */
  readonly fleetGaps: Gaps | undefined;
};

/** Whether a policy needs the gaps of the whole fleet, which takes a pass before the replay. */
export function needsFleetGaps(jobs: readonly ReplayJob[]): boolean {
  return jobs.some(({ policy }) => parsePolicy(policy).usesFleetGaps === true);
}

/** The gaps of the fleet, weighted by CU if sizes differ, as for the best delay of the curve. */
export function fleetGapsOf(
  traffic: Traffic,
  {
    deletedAt,
    costs,
    latency,
    ignoredWaits,
  }: Pick<Question, "deletedAt" | "costs" | "latency" | "ignoredWaits">,
): Gaps {
  const fleet = emptyGaps(traffic.period);
  const isWeighted = typeof costs.cu !== "number";
  const own = isWeighted ? emptyGaps(traffic.period) : fleet;
  const ignored = ignoredSources(ignoredWaits, traffic.sources);
  const reader = new GapReader(traffic.period, own, { startMs: meanLatencyMs(latency), ignored });
  for (const number of traffic.computes.keys()) {
    eachPart(traffic.arrivals(number), (part) => reader.add(part));
    reader.end(deletedAt?.[number]);
    if (!isWeighted) continue;
    mergeGaps(fleet, own, sizeOf(costs, number));
    clearGaps(own);
  }
  return fleet;
}

/** Returns the outcome of each job. Yields the number of finished computes. */
export function* replayComputes(
  traffic: Traffic,
  { jobs, from, to, shard, fleetGaps }: ReplayWork,
  randomFor: (seed: number) => Random,
): Generator<number, ReplayOutcome[]> {
  const gapsOfFleet = () => {
    if (fleetGaps === undefined) throw new Error("a policy needs the gaps of the fleet, which were not read");
    return fleetGaps;
  };
  const replays = jobs.map(({ policy, question, seed }) => {
    const ignored = ignoredSources(question.ignoredWaits, traffic.sources);
    const setting = { ...experimentSetting(question, randomFor(seed)), ignored };
    return createReplay(parsePolicy(policy), traffic.period, setting, gapsOfFleet);
  });
  for (const [index, { outcome }] of replays.entries())
    if (jobs[index]?.byCompute === true) outcome.byCompute = emptyStartsByCompute();
  const [first] = jobs;
  const gapOptions = {
    startMs: first === undefined ? 0 : meanLatencyMs(first.question.latency),
    ignored: first === undefined ? undefined : ignoredSources(first.question.ignoredWaits, traffic.sources),
  };
  yield* replayPass(traffic, replays, { from, to, shard }, first?.question.deletedAt, gapOptions);
  return replays.map(({ outcome }) => outcome);
}

/**
 * Replays a range of computes, or those of them in the shard, under all jobs in one pass, since reading takes longer
 * than replaying. Yields the number of finished computes.
 */
export function* replayPass(
  traffic: Traffic,
  replays: readonly Replay[],
  { from, to, shard }: Pick<ReplayWork, "from" | "to" | "shard">,
  deletedAt?: Question["deletedAt"],
  gapOptions?: Parameters<typeof gapsOf>[3],
): Generator<number, void> {
  for (let number = from; number < to; number += 1) {
    if (shard !== undefined && !isOfShard(traffic.computes[number] as string, shard)) continue;
    let own: ComputeArrivals | undefined;
    let gaps: Gaps | undefined;
    const ownArrivals = () => {
      own ??= collectParts(traffic.arrivals(number));
      return own;
    };
    const ownGaps = () => {
      gaps ??= gapsOf(ownArrivals(), traffic.period, deletedAt?.[number], gapOptions);
      return gaps;
    };
    const before = replays.map(({ outcome: { arrivals, coldStarts, firstStarts, waits, byCompute } }) => {
      if (byCompute !== undefined) waits.takeRecent();
      return { arrivals, coldStarts, firstStarts };
    });
    for (const replay of replays) replay.begin(number, ownGaps, ownArrivals);
    const parts = traffic.arrivals(number);
    for (let part = parts.next(); part !== undefined; part = parts.next()) {
      for (const replay of replays) {
        replay.add(part);
        yield number - from;
      }
    }
    for (const [index, replay] of replays.entries()) {
      replay.end();
      const { outcome } = replay;
      if (outcome.byCompute === undefined) continue;
      const counted = before[index] as (typeof before)[number];
      const name = traffic.computes[number] as string;
      addCompute(outcome.byCompute, name, counted, outcome, outcome.waits.takeRecent());
    }
    yield number + 1 - from;
  }
}

/**
 * Merges the outcomes of parts of the computes, by job. All values are whole numbers, so any division of the computes
 * gives the same result.
 */
export function mergeReplays(
  parts: readonly (readonly ReplayOutcome[])[],
  jobs: readonly ReplayJob[],
  period: Period,
): ReplayOutcome[] {
  const merged = jobs.map(() => emptyOutcomeByDay(period));
  for (const part of parts)
    for (const [index, outcome] of part.entries()) mergeOutcome(merged[index] as ReplayOutcome, outcome);
  return merged;
}
