import type { Chance } from "../../platform/core/random-port.ts";
import { allOf, eachPart, type Period } from "../../recordings/trace/trace.ts";
import { parsePolicy } from "../policies/parse.ts";
import { type Question, settingOf } from "../report/question.ts";
import { GapReader, type Gaps, gapsOf, noGaps } from "../trace/gaps.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { type Replay, replayOf } from "./experiment.ts";
import { mergeOutcome, noOutcome, type Outcome } from "./replay-outcome.ts";

/** One policy, once through the traffic. Plain values, so that a worker can be asked. */
export type ReplayJob = { readonly policy: string; readonly question: Question; readonly seed: number };

/** Some computes, under all policies that are asked for. */
export type ReplayWork = {
  readonly jobs: readonly ReplayJob[];
  /** The first compute that is replayed, and the first that is not any more. */
  readonly from: number;
  readonly to: number;
  /** Of the whole fleet, where a policy asks for them: see `asksFleet`. */
  readonly fleetGaps: Gaps | undefined;
};

/** Whether one of them is a policy of hindsight that asks for the gaps of the whole fleet: they have to be read before. */
export function asksFleet(jobs: readonly ReplayJob[]): boolean {
  return jobs.some(({ policy }) => parsePolicy(policy).asksFleet === true);
}

export function fleetGapsOf(traffic: Traffic, goneAt?: Question["goneAt"]): Gaps {
  const reader = new GapReader(traffic.period, noGaps(traffic.period));
  for (const number of traffic.computes.keys()) {
    eachPart(traffic.requests(number), (part) => reader.add(part));
    reader.end(goneAt?.[number]);
  }
  return reader.gaps;
}

/** What came of each job; tells how many computes are done. */
export function* replayComputes(
  traffic: Traffic,
  { jobs, from, to, fleetGaps }: ReplayWork,
  chanceOf: (seed: number) => Chance,
): Generator<number, Outcome[]> {
  const gapsOfFleet = () => {
    if (fleetGaps === undefined) throw new Error("a policy asks for the gaps of the fleet, which were not read");
    return fleetGaps;
  };
  const replays = jobs.map(({ policy, question, seed }) =>
    replayOf(parsePolicy(policy), traffic.period, settingOf(question, chanceOf(seed)), gapsOfFleet),
  );
  yield* replayPass(traffic, replays, from, to, jobs[0]?.question.goneAt);
  return replays.map(({ outcome }) => outcome);
}

/**
 * Has all replays see the computes from `from` up to, and without, `to` in one pass, for reading takes longer than replaying; tells how
 * many computes are done.
 */
export function* replayPass(
  traffic: Traffic,
  replays: readonly Replay[],
  from: number,
  to: number,
  goneAt?: Question["goneAt"],
): Generator<number, void> {
  for (let number = from; number < to; number += 1) {
    let own: Gaps | undefined;
    const ownGaps = () => {
      own ??= gapsOf(allOf(traffic.requests(number)), traffic.period, goneAt?.[number]);
      return own;
    };
    for (const replay of replays) replay.begin(number, ownGaps);
    const parts = traffic.requests(number);
    for (let part = parts.next(); part !== undefined; part = parts.next()) {
      for (const replay of replays) {
        replay.add(part);
        yield number - from;
      }
    }
    for (const replay of replays) replay.end();
    yield number + 1 - from;
  }
}

/** What came of each job of all computes, of what came of it in parts. Whole numbers: the same for any partition. */
export function mergeReplays(parts: readonly (readonly Outcome[])[], jobs: readonly ReplayJob[], period: Period): Outcome[] {
  const merged = jobs.map(() => noOutcome(period));
  for (const part of parts) for (const [index, outcome] of part.entries()) mergeOutcome(merged[index] as Outcome, outcome);
  return merged;
}
