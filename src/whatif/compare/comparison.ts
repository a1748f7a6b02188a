import type { Period } from "../../recordings/trace/trace.ts";
import { fixed, ownDelays } from "../policies/fixed.ts";
import { parsePolicy } from "../policies/parse.ts";
import type { Policy } from "../policies/policy.ts";
import type { ReplayJob } from "../replay/replay-jobs.ts";
import type { Outcome } from "../replay/replay-outcome.ts";
import { type Interval, intervalOf, pairedDifference } from "../replay/replications.ts";
import { type OutcomeFigures, outcomeFigures } from "../report/figures.ts";
import type { Limits } from "../report/page-layout.ts";
import { type Question, sizeSentence, type ToldQuestion, toldQuestion } from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { BEHIND_THE_END, type ToldTraffic, toldTraffic } from "../trace/traffic-summary.ts";

/** What came of a policy in one replay. */
type Replayed = {
  readonly figures: OutcomeFigures;
  readonly requests: number;
  readonly firstStarts: number;
  readonly activeByDay: readonly number[];
};

/** A figure of a policy: its mean over the replications, and its difference to the present setting's. */
export type ComparedFigure = {
  readonly value: number;
  readonly difference: number;
  /** Half the width of the 95 % interval, where there are replications. */
  readonly plus_minus?: number;
  readonly difference_plus_minus?: number;
};

export type ComparedPolicy = {
  readonly policy: string;
  /** "past": it can be had; else it is a bound for those that can. */
  readonly knows: Policy["knows"];
  readonly replications: number;
  readonly figures: { readonly [Name in keyof OutcomeFigures]: ComparedFigure | null };
  /** Of the first replication. */
  readonly active_s_by_day: readonly number[];
};

export type Comparison = {
  readonly question: ToldQuestion;
  readonly traffic: ToldTraffic;
  readonly first_starts: number;
  /** The present setting first, the others as they were given. */
  readonly policies: readonly ComparedPolicy[];
  readonly limits: Limits;
};

/** All replays that a comparison is made of, by policy; the present setting first. Throws a RangeError for a policy that is not known. */
export function jobsOf(policies: readonly string[], question: Question, replications: number): readonly ReplayJob[] {
  const present = (question.present === "own" ? ownDelays : fixed(question.present)).name;
  const asked = policies.map((policy) => parsePolicy(policy).name);
  const names = [present, ...new Set(asked.filter((name) => name !== present && name !== ownDelays.name))];
  const isChance = question.latency.kind !== "fixed";
  return names.flatMap((policy) => {
    const times = isChance || parsePolicy(policy).isRandom ? replications : 1;
    return Array.from({ length: times }, (_, index) => ({ policy, question, seed: question.seed + index }));
  });
}

/** `outcomes`: what came of each job of `jobsOf`, in its order. */
export function comparisonOf(traffic: Traffic, question: Question, jobs: readonly ReplayJob[], outcomes: readonly Outcome[]): Comparison {
  const replayed = outcomes.map((outcome) => replayedOf(outcome, traffic.period, question));
  const names = [...new Set(jobs.map(({ policy }) => policy))];
  const of = (name: string) => replayed.filter((_, index) => jobs[index]?.policy === name);
  const [first] = replayed;
  const present = of(names[0] ?? "");
  return {
    question: toldQuestion(question),
    traffic: toldTraffic(traffic, first?.firstStarts ?? 0, first?.requests ?? 0),
    first_starts: first?.firstStarts ?? 0,
    policies: names.map((name) => compared(name, of(name), present)),
    limits: limitsOf(question, names.map(parsePolicy)),
  };
}

function replayedOf(outcome: Outcome, { startAt, endAt }: Period, { costs }: Question): Replayed {
  return {
    figures: outcomeFigures(outcome, endAt - startAt, costs),
    requests: outcome.requests,
    firstStarts: outcome.firstStarts,
    activeByDay: [...outcome.activeByDay].map((ms) => ms / 1_000),
  };
}

function compared(name: string, own: readonly Replayed[], present: readonly Replayed[]): ComparedPolicy {
  const { knows } = parsePolicy(name);
  const metrics = Object.keys(own[0]?.figures ?? {}) as (keyof OutcomeFigures)[];
  const figures = metrics.map((metric) => [metric, figureOf(valuesOf(own, metric), valuesOf(present, metric))] as const);
  return {
    policy: name,
    knows,
    replications: own.length,
    figures: Object.fromEntries(figures) as ComparedPolicy["figures"],
    active_s_by_day: own[0]?.activeByDay ?? [],
  };
}

function valuesOf(replayed: readonly Replayed[], metric: keyof OutcomeFigures): readonly number[] | undefined {
  const values = replayed.map(({ figures }) => figures[metric]);
  return values.every((value) => value !== null) ? values : undefined;
}

/** Where only one of the two has chance in it, the other one is the same in every replication. */
function figureOf(own: readonly number[] | undefined, present: readonly number[] | undefined): ComparedFigure | null {
  if (own === undefined || present === undefined) return null;
  const times = Math.max(own.length, present.length);
  const repeated = (values: readonly number[]) => Array.from({ length: times }, (_, index) => values[index % values.length] as number);
  const [value, difference] = [intervalOf(own), pairedDifference(repeated(own), repeated(present))];
  return {
    value: value.mean,
    difference: difference.mean,
    ...(own.length > 1 ? { plus_minus: width(value) } : {}),
    ...(times > 1 ? { difference_plus_minus: width(difference) } : {}),
  };
}

function width({ halfWidth }: Interval): number {
  return halfWidth;
}

function limitsOf({ latency, costs }: Question, policies: readonly Policy[]): Limits {
  const bounds = policies.filter(({ knows }) => knows !== "past").map(({ name }) => name);
  const isChance = latency.kind !== "fixed" || policies.some(({ isRandom }) => isRandom);
  return {
    exact: [
      "Replays of every request under the rules of the platform: what one policy would have done with this traffic, not an estimate of it.",
    ],
    simulated: [
      ...(isChance
        ? [
            "Chance (start latencies, random delays) is drawn anew in each replication, the same for all policies; ± is half of a 95 % interval.",
          ]
        : []),
    ],
    left_out: [
      ...(bounds.length === 0
        ? []
        : [`${bounds.join(", ")}: knows what had not happened yet. A measure for the others, and not to be had.`]),
      "The platform itself has fixed delays of at least 60 s, and never. Anything else would need a program of your own that suspends and starts computes by the API, and what that takes is not counted.",
      "Clients that reconnect after a suspend or wait for answers, queries that a cold cache lengthens, quotas and limits of starts.",
      `${sizeSentence(costs)}; the bill counts from the end of each start.`,
      BEHIND_THE_END,
    ],
  };
}
