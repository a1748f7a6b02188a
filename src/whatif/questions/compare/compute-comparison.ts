import type { Random } from "../../../kernel/random-port.ts";
import { OutcomeMargins } from "../../held-out/outcome-margins.ts";
import type { Question } from "../../input/question.ts";
import { type ReplayJob, type ReplayWork, replayComputes } from "../../input/replay-jobs.ts";
import { totalFigures } from "../../replay/figures.ts";
import type { OutcomeDays } from "../../replay/outcome-days.ts";
import { emptyOutcomeByDay, mergeOutcome, type ReplayOutcome } from "../../replay/replay-outcome.ts";
import type { Traffic } from "../../trace/traffic.ts";
import {
  type ComparedFigure,
  comparedFigures,
  type ReplayedPolicy,
  replicationResult,
} from "./compared-figures.ts";

const FIGURES = ["cost", "cold_starts_per_day", "wait_mean_ms", "wait_p99_ms"] as const;

/** One compute under one policy, compared with its current setting. */
export type ComparedCompute = {
  readonly endpoint_id: string;
  readonly requests: number;
  readonly figures: Readonly<Record<(typeof FIGURES)[number], ComparedFigure | null>>;
};

type Candidate = {
  readonly number: number;
  readonly own: readonly ReplayOutcome[];
  readonly current: readonly ReplayOutcome[];
  /** Sort keys, compared in descending order: change of cost, change of cold starts, cost. */
  readonly rank: readonly number[];
};

/** Finds, for each policy, the computes whose cost changes most. The outcomes of other computes are not kept. */
export class ComputeComparison {
  readonly #traffic: Traffic;
  readonly #question: Question;
  readonly #jobs: readonly ReplayJob[];
  readonly #limit: number;
  readonly #policies: readonly string[];
  readonly #candidates: Map<string, Candidate[]>;

  /** Lists at most `limit` computes for each policy. The current setting is the policy of the first job. */
  constructor(traffic: Traffic, question: Question, jobs: readonly ReplayJob[], limit: number) {
    this.#traffic = traffic;
    this.#question = question;
    this.#jobs = jobs;
    this.#limit = limit;
    this.#policies = [...new Set(jobs.map(({ policy }) => policy))];
    this.#candidates = new Map(this.#policies.map((policy) => [policy, []]));
  }

  /** Adds the outcomes of one compute, one per job. */
  add(number: number, outcomes: readonly ReplayOutcome[]): void {
    const outcomesOf = (policy: string) =>
      outcomes.filter((_, index) => this.#jobs[index]?.policy === policy);
    const current = outcomesOf(this.#policies[0] ?? "");
    const before = this.#means(current);
    for (const [policy, candidates] of this.#candidates) {
      const own = outcomesOf(policy);
      const after = this.#means(own);
      candidates.push({
        number,
        own,
        current,
        rank: [Math.abs(after.cost - before.cost), Math.abs(after.starts - before.starts), after.cost],
      });
      if (candidates.length >= 2 * this.#limit) shorten(candidates, this.#limit);
    }
  }

  /**
   * The listed computes by policy, the largest change first. Yields after each compute, since intervals take
   * milliseconds each.
   */
  *listed(): Generator<void, ReadonlyMap<string, readonly ComparedCompute[]>> {
    const margins = OutcomeMargins.of(this.#traffic.period);
    const replayed = (outcomes: readonly ReplayOutcome[]): ReplayedPolicy => {
      const results = outcomes.map((one) => replicationResult(one, this.#traffic.period, this.#question));
      const days = results.map((one) => one.days as OutcomeDays);
      return {
        results,
        drawn: "missing" in margins ? undefined : margins.drawn(days, this.#question.costs),
      };
    };
    const listed = new Map<string, ComparedCompute[]>();
    const currentOf = new Map<number, ReplayedPolicy>();
    for (const [policy, candidates] of this.#candidates) {
      shorten(candidates, this.#limit);
      const computes: ComparedCompute[] = [];
      for (const { number, own, current } of candidates) {
        const base = currentOf.get(number) ?? replayed(current);
        currentOf.set(number, base);
        computes.push({
          endpoint_id: this.#traffic.computes[number] ?? "",
          requests: own[0]?.arrivals ?? 0,
          figures: comparedFigures(FIGURES, replayed(own), base, margins),
        });
        yield;
      }
      listed.set(policy, computes);
    }
    return listed;
  }

  /** Means over the replications. */
  #means(outcomes: readonly ReplayOutcome[]): { readonly cost: number; readonly starts: number } {
    const { startAt, endAt } = this.#traffic.period;
    const figures = outcomes.map((one) =>
      totalFigures({ ...one, waitMs: one.waits.sumMs }, endAt - startAt, this.#question.costs),
    );
    const mean = (name: "cost" | "cold_starts") =>
      figures.reduce((sum, one) => sum + one[name], 0) / Math.max(1, figures.length);
    return { cost: mean("cost"), starts: mean("cold_starts") };
  }
}

/** Replays as `replayComputes` does, and adds the outcomes of each compute to `byCompute`. */
export function* replayByCompute(
  traffic: Traffic,
  { jobs, from, to, fleetGaps }: ReplayWork,
  randomFor: (seed: number) => Random,
  byCompute: ComputeComparison,
): Generator<number, ReplayOutcome[]> {
  const totals = jobs.map(() => emptyOutcomeByDay(traffic.period));
  for (let number = from; number < to; number += 1) {
    const own = yield* replayComputes(traffic, { jobs, from: number, to: number + 1, fleetGaps }, randomFor);
    for (const [index, total] of totals.entries()) mergeOutcome(total, own[index] as ReplayOutcome);
    byCompute.add(number, own);
  }
  return totals;
}

/** Keeps the first `limit` candidates by rank; equal ranks are in ascending order of the number. */
function shorten(candidates: Candidate[], limit: number): void {
  candidates.sort((a, b) => {
    const index = a.rank.findIndex((value, at) => value !== b.rank[at]);
    return index < 0 ? a.number - b.number : (b.rank[index] as number) - (a.rank[index] as number);
  });
  candidates.splice(limit);
}
