import { isoInstant } from "../../../kernel/calendar.ts";
import type { SimTime } from "../../../kernel/time.ts";
import type { SuspendDelay } from "../../gap-curve/delay.ts";
import type { SettableDelays } from "../../gap-curve/settable-delays.ts";
import type { TrainedDelays } from "../../held-out/held-out.ts";
import type { Question } from "../../input/question.ts";
import type { ReplayJob } from "../../input/replay-jobs.ts";
import { bestFixed, fixed, ownDelays } from "../../policies/fixed.ts";
import { isTrainedSchedule, parsePolicy } from "../../policies/parse-policy.ts";
import type { Policy } from "../../policies/policy.ts";
import { isOfAnotherPlan, isSettable } from "../compare/comparison.ts";

/** A policy of a backtest. */
export type BacktestPolicy = {
  readonly name: string;
  readonly knows: Policy["knows"];
  /** Whether the platform offers it, and the plan allows it. */
  readonly settable: boolean;
  /** Whether only another plan allows it. */
  readonly isOfAnotherPlan?: boolean;
  /**
   * `fold`: trained again on the days before each fold. `request`: learns from each request, or never.
   * `after`: as `fold`, but applied only after the training days, so that it promises nothing on them.
   */
  readonly trained: "fold" | "request" | "after";
  /** The replay job of the trained policy; see `TrainedFold`. */
  readonly jobFor: (question: Question, trained: TrainedFold) => ReplayJob;
};

/** Training result of the days before a fold. */
type TrainedFold = { readonly until: SimTime; readonly delays: TrainedDelays };

/** Name of the policy that gives each compute a delay of its own, shrunk towards that of the fleet. */
const SHRUNK = "shrunk";

export const BACKTEST_DEFAULTS = [bestFixed("fleet").name, SHRUNK, "hybrid", "schedule:trained"] as const;

/**
 * The current setting, the default delay of the platform, the default policies, and the requested ones, each
 * once. Throws a RangeError for an unknown policy.
 */
export function backtestPolicies(
  question: Question,
  platformDelay: SuspendDelay,
  requested: readonly string[],
): readonly BacktestPolicy[] {
  const current = (question.currentDelay === "own" ? ownDelays : fixed(question.currentDelay)).name;
  const names = [current, fixed(platformDelay).name, ...BACKTEST_DEFAULTS, ...requested];
  return [...new Set(names)].map((name) => {
    const policy = backtestPolicy(name, question.settable);
    return name === current ? { ...policy, settable: true, isOfAnotherPlan: false } : policy;
  });
}

/** Parses a form of `--policy`. Throws a RangeError for any other text, and for a training end. */
export function backtestPolicy(text: string, allowed: SettableDelays = "all"): BacktestPolicy {
  if (text === SHRUNK) return delaysPolicy(SHRUNK, ({ shrunk }) => shrunk);
  const policy = parsePolicy(text);
  const { name } = policy;
  if (name === bestFixed("compute").name) return delaysPolicy(name, ({ perCompute }) => perCompute);
  if (name === bestFixed("fleet").name)
    return {
      ...trainedByFold(name),
      jobFor: (question, { delays }) => jobOf(fixed(delays.fleet).name, question),
    };
  if (!isTrainedSchedule(name))
    return {
      name,
      knows: policy.knows,
      settable: isSettable(policy, allowed),
      isOfAnotherPlan: isOfAnotherPlan(policy, allowed),
      trained: "request",
      jobFor: (question) => jobOf(name, question),
    };
  if (name.includes("until="))
    throw new RangeError(
      `policy: until in "${text}": a backtest trains until the start of each fold; omit until`,
    );
  return {
    name,
    knows: policy.knows,
    settable: false,
    trained: "after",
    jobFor: (question, { until }) => jobOf(`${name},until=${isoInstant(until).slice(0, 10)}`, question),
  };
}

function delaysPolicy(
  name: string,
  delaysOf: (delays: TrainedDelays) => readonly SuspendDelay[],
): BacktestPolicy {
  return {
    ...trainedByFold(name),
    jobFor: (question, { delays }) => jobOf(ownDelays.name, { ...question, ownDelays: delaysOf(delays) }),
  };
}

function trainedByFold(name: string) {
  return { name, knows: "past", settable: true, trained: "fold" } as const;
}

function jobOf(policy: string, question: Question): ReplayJob {
  return { policy, question, seed: question.seed };
}
