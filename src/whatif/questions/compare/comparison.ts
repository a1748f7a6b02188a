import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import { rarestPerDay } from "../../gap-curve/costs.ts";
import { delayOfSeconds, type SuspendDelay } from "../../gap-curve/delay.ts";
import { isSettableDelay, type SettableDelays } from "../../gap-curve/settable-delays.ts";
import { OutcomeMargins } from "../../held-out/outcome-margins.ts";
import type { Question } from "../../input/question.ts";
import {
  ignoredWaitsLimit,
  type QuestionSummary,
  questionSummary,
  sizeSentence,
} from "../../input/question-summary.ts";
import type { ReplayJob } from "../../input/replay-jobs.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import { fixed, ownDelays } from "../../policies/fixed.ts";
import { parsePolicy } from "../../policies/parse-policy.ts";
import type { Policy } from "../../policies/policy.ts";
import type { OutcomeFigures } from "../../replay/figures.ts";
import type { OutcomeDays } from "../../replay/outcome-days.ts";
import type { ReplayOutcome } from "../../replay/replay-outcome.ts";
import {
  type ComputeDistributions,
  distributionsOf,
  emptyStartsByCompute,
} from "../../replay/starts-by-compute.ts";
import {
  AFTER_TRACE_END,
  type CoveredTraffic,
  type TrafficSummary,
  trafficSummary,
} from "../../trace/traffic-summary.ts";
import { replicationSeed } from "../../units/replications.ts";
import {
  type ComparedFigure,
  comparedFigures,
  type ReplayedPolicy,
  type ReplicationResult,
  replicationResult,
} from "./compared-figures.ts";

export type ComparedPolicy = {
  readonly policy: string;
  /**
   * `past`: achievable. `hindsight`: a setting of the platform, chosen for this traffic. `future`: a bound.
   */
  readonly knows: Policy["knows"];
  /** Whether it is a setting of the platform itself that the plan allows, or the current one. */
  readonly settable: boolean;
  /** Present if it is a setting that only another plan allows. */
  readonly not_on_plan?: true;
  /** The shortest and the longest delay that it chose in hindsight; absent for other policies. */
  readonly chosen_delays_s?: readonly [SuspendDelay, SuspendDelay];
  /** Whether it may start a compute ahead of a request. */
  readonly resumes: boolean;
  readonly replications: number;
  readonly figures: { readonly [Name in keyof OutcomeFigures]: ComparedFigure | null };
  /** How the computes with requests differ, in the first replication. */
  readonly over_computes: ComputeDistributions;
  /** Active seconds by day in the first replication. */
  readonly active_s_by_day: readonly number[];
};

export type Comparison = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly first_starts: number;
  /** Why there are no intervals over days; null if there are. */
  readonly no_margins: string | null;
  /** Policies in the order of the input, after the current setting. */
  readonly policies: readonly ComparedPolicy[];
  readonly limits: ReportLimits;
};

/**
 * All replays of a comparison, by policy; the current setting first. Throws a RangeError for an unknown
 * policy.
 */
export function comparisonJobs(
  policies: readonly string[],
  question: Question,
  replications: number,
): readonly ReplayJob[] {
  const current = (question.currentDelay === "own" ? ownDelays : fixed(question.currentDelay)).name;
  const requested = policies.map((policy) => parsePolicy(policy).name);
  const names = [
    current,
    ...new Set(requested.filter((name) => name !== current && name !== ownDelays.name)),
  ];
  const hasRandomness = question.latency.kind !== "fixed";
  return names.flatMap((policy) => {
    const times = hasRandomness || parsePolicy(policy).isRandom ? replications : 1;
    return Array.from({ length: times }, (_, index) => ({
      policy,
      question,
      seed: replicationSeed(question.seed, index),
      byCompute: index === 0,
    }));
  });
}

/** `outcomes`: one per job, in the same order. */
export function comparisonOf(...input: Parameters<typeof comparisonSteps>): Comparison {
  const steps = comparisonSteps(...input);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** Same result as `comparisonOf`. Yields after each policy, since intervals take milliseconds each. */
export function* comparisonSteps(
  traffic: CoveredTraffic,
  question: Question,
  jobs: readonly ReplayJob[],
  outcomes: readonly ReplayOutcome[],
): Generator<void, Comparison> {
  const results = outcomes.map((outcome) => replicationResult(outcome, traffic.period, question));
  const names = [...new Set(jobs.map(({ policy }) => policy))];
  const resultsOf = (name: string) => results.filter((_, index) => jobs[index]?.policy === name);
  const [first] = results;
  const margins = OutcomeMargins.of(traffic.period);
  const drawnOf = (of: readonly ReplicationResult[]) =>
    "missing" in margins
      ? undefined
      : margins.drawn(
          of.map(({ days }) => days as OutcomeDays),
          question.costs,
        );
  const current = resultsOf(names[0] ?? "");
  const base = { results: current, drawn: drawnOf(current) };
  const policies: ComparedPolicy[] = [];
  for (const name of names) {
    yield;
    const own = resultsOf(name);
    const setting = { settable: question.settable, isCurrent: policies.length === 0 };
    const compared = comparedPolicy(name, { results: own, drawn: drawnOf(own) }, base, margins, setting);
    policies.push(withLimitOfRareStarts(compared, traffic.period));
  }
  return {
    question: questionSummary(question),
    traffic: trafficSummary(
      traffic,
      first?.firstStarts ?? 0,
      first?.arrivals ?? 0,
      outcomes.reduce((most, { activeMs }) => Math.max(most, activeMs), 0),
    ),
    first_starts: first?.firstStarts ?? 0,
    no_margins: "missing" in margins ? margins.missing : null,
    policies,
    limits: comparisonLimits(question, names.map(parsePolicy)),
  };
}

function comparedPolicy(
  name: string,
  own: ReplayedPolicy,
  current: ReplayedPolicy,
  margins: OutcomeMargins | { readonly missing: string },
  { settable, isCurrent }: { readonly settable: SettableDelays; readonly isCurrent: boolean },
): ComparedPolicy {
  const policy = parsePolicy(name);
  const [first] = own.results;
  const byCompute = first?.byCompute ?? emptyStartsByCompute();
  const inHindsight = policy.knows === "hindsight" ? first?.chosenDelays : undefined;
  const chosen =
    inHindsight === undefined
      ? undefined
      : ([delayOfSeconds(inHindsight.shortestS), delayOfSeconds(inHindsight.longestS)] as const);
  const isElsewhere = !isCurrent && isOfAnotherPlan(policy, settable, chosen);
  return {
    policy: name,
    knows: policy.knows,
    settable: isCurrent || (isSettable(policy, settable) && !isElsewhere),
    ...(isElsewhere ? { not_on_plan: true } : {}),
    ...(chosen === undefined ? {} : { chosen_delays_s: chosen }),
    resumes: policy.resumes,
    replications: own.results.length,
    figures: comparedFigures(
      Object.keys(first?.figures ?? {}) as (keyof OutcomeFigures)[],
      own,
      current,
      margins,
    ) as ComparedPolicy["figures"],
    over_computes: distributionsOf(byCompute),
    active_s_by_day: first?.activeByDay ?? [],
  };
}

function withLimitOfRareStarts(policy: ComparedPolicy, { startAt, endAt }: Period): ComparedPolicy {
  const { cold_starts_per_day: starts } = policy.figures;
  if (starts === null || starts.value > 0 || parsePolicy(policy.policy).delay === "never") return policy;
  const cold_starts_per_day = { ...starts, at_most_95: rarestPerDay(endAt - startAt) };
  return { ...policy, figures: { ...policy.figures, cold_starts_per_day } };
}

/**
 * Whether the plan allows the policy. The platform offers fixed delays for each compute, and a plan may allow only some
 * of them.
 */
export function isSettable({ delay, knows }: Policy, settable: SettableDelays): boolean {
  return delay === undefined ? knows === "hindsight" : isSettableDelay(settable, delay);
}

/**
 * Whether the policy is a setting of the platform that only another plan allows. `chosen`: shortest and longest delay.
 */
export function isOfAnotherPlan(
  { delay }: Policy,
  settable: SettableDelays,
  chosen?: ComparedPolicy["chosen_delays_s"],
): boolean {
  if (delay !== undefined) return isSettableDelay("all", delay) && !isSettableDelay(settable, delay);
  if (settable === "all" || chosen === undefined) return false;
  // Two different delays may have others between them.
  return chosen[0] !== chosen[1] || !settable.includes(chosen[0]);
}

function comparisonLimits(
  { latency, costs, ignoredWaits }: Question,
  policies: readonly Policy[],
): ReportLimits {
  const namesOf = (known: Policy["knows"]) =>
    policies.filter(({ knows }) => knows === known).map(({ name }) => name);
  const [bounds, fitted] = [namesOf("future"), namesOf("hindsight")];
  const hasRandomness = latency.kind !== "fixed" || policies.some(({ isRandom }) => isRandom);
  return {
    exact: [
      "Every request is replayed under the rules of the platform. The figures are counted, not estimated.",
      ...ignoredWaitsLimit(ignoredWaits),
    ],
    simulated: [
      "± is half the width of a 95 % interval: for these computes on other days, and of the replications if anything is random. Percentiles have none over days.",
      ...(hasRandomness
        ? ["Start latencies and random delays are drawn anew in each replication, the same for all policies."]
        : []),
    ],
    left_out: [
      ...(bounds.length === 0
        ? []
        : [
            `Policies that know the future (${bounds.join(", ")}) are bounds for the others and cannot be achieved.`,
          ]),
      ...(fitted.length === 0
        ? []
        : [
            `The delays of ${fitted.join(" and ")} are chosen for this very traffic, and other days save less. \`whatif curve\` names them; the API sets one per compute.`,
          ]),
      "The platform itself offers only fixed delays of at least 60 s, and never. Any other policy needs a program of your own that suspends and starts computes through the API. The effort for that is not counted.",
      "Clients that reconnect after a suspend or wait for responses, queries slowed by a cold cache, quotas, and start limits.",
      `${sizeSentence(costs)} Active time and the bill count from the end of each start, as in \`whatif curve\`. There, starts take no time; here, they delay requests, so gaps are shorter and figures differ a little.`,
      AFTER_TRACE_END,
    ],
  };
}
