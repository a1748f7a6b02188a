import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import type { Question } from "../../input/question.ts";
import type { ReplayJob } from "../../input/replay-jobs.ts";
import { outcomeBetween, type ReplayOutcome } from "../../replay/replay-outcome.ts";
import type { TrafficChangeSummary } from "../../units/traffic-change.ts";
import type { BacktestPolicy } from "./backtest-policies.ts";
import type { Fold, FoldLength } from "./folds.ts";
import type { FoldTraining } from "./training.ts";

export type BacktestInput = {
  readonly question: Question;
  readonly fold: FoldLength;
  readonly folds: readonly Fold[];
  /** Training of each fold. */
  readonly training: readonly FoldTraining[];
  /** How the number of requests changes within the traffic; null if it stays as it is. */
  readonly trafficChange: TrafficChangeSummary | null;
  /** The current setting first. */
  readonly policies: readonly BacktestPolicy[];
};

/** Jobs to replay from the start of the trace, in one pass. */
export type BacktestPass = { readonly period: Period; readonly jobs: readonly ReplayJob[] };

/** Outcome of a policy on the days before a fold, and in the fold. */
export type FoldOutcome = { readonly before: ReplayOutcome; readonly within: ReplayOutcome };

/**
 * One pass until the start of each fold, and one until the end of the last. Each replays the policies as they
 * are trained for the fold before its end and for the fold after it. So the difference of two passes is what
 * happened in a fold, with the state that the policies brought into it.
 */
export class BacktestPlan {
  readonly passes: readonly BacktestPass[];
  /** Jobs by fold and policy. */
  readonly #jobs: readonly (readonly ReplayJob[])[];

  constructor({ startAt }: Period, { question, folds, training, policies }: BacktestInput) {
    this.#jobs = folds.map(({ testFrom }, index) => {
      const { delays } = training[index] as FoldTraining;
      return policies.map(({ jobFor }) => jobFor(question, { until: testFrom, delays }));
    });
    const ends = [...folds.map(({ testFrom }) => testFrom), folds.at(-1)?.testTo as number];
    this.passes = ends.map((endAt, index) => ({
      period: { startAt, endAt },
      jobs: withoutDuplicates([...(this.#jobs[index - 1] ?? []), ...(this.#jobs[index] ?? [])]),
    }));
  }

  /** Outcomes by fold and policy. `outcomes`: by pass and job. */
  foldOutcomes(outcomes: readonly (readonly ReplayOutcome[])[]): readonly (readonly FoldOutcome[])[] {
    const outcomeOf = (pass: number, job: ReplayJob) => {
      const index = this.passes[pass]?.jobs.findIndex((other) => isSame(job, other)) as number;
      return outcomes[pass]?.[index] as ReplayOutcome;
    };
    return this.#jobs.map((jobs, fold) =>
      jobs.map((job) => {
        const before = outcomeOf(fold, job);
        return { before, within: outcomeBetween(before, outcomeOf(fold + 1, job)) };
      }),
    );
  }
}

function withoutDuplicates(jobs: readonly ReplayJob[]): readonly ReplayJob[] {
  return jobs.filter((job, index) => jobs.findIndex((other) => isSame(job, other)) === index);
}

function isSame(a: ReplayJob, b: ReplayJob): boolean {
  return a.policy === b.policy && a.question === b.question;
}
