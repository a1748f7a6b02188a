import type { DurationMs } from "../../../kernel/time.ts";
import type { PricedPlan, PriceList } from "../../../platform/catalog/price-lists.ts";
import type { SuspendDelay } from "../../gap-curve/delay.ts";
import { effectiveDelay, type Question } from "../../input/question.ts";
import type { OtherUsage } from "../../units/bill.ts";
import type { AttributionReport } from "../attribution/attribution-report.ts";
import type { CurveAnswer } from "../curve/curve-answer.ts";
import type { CurveSummary } from "../curve/curve-summary.ts";
import { type Advice, adviceFrom, type Requirements } from "./advice.ts";
import { ownDelaysOf } from "./own-delays.ts";
import type { SizeChoices } from "./size-choices.ts";
import type { SlowerSource } from "./slower-sources.ts";

/** Settings of an advice in addition to the question. */
export type AdviceSettings = {
  readonly plan: PricedPlan;
  readonly priceList: PriceList;
  readonly usage: OtherUsage;
  readonly requirements: Requirements;
  /** Default delay of the platform in seconds. */
  readonly defaultDelayS: number;
};

/** The answers that an advice is made from. */
export type AnsweredQuestions = {
  readonly curve: CurveAnswer;
  /** Summary of that curve, within the limit on the wait. */
  readonly answer: CurveSummary;
  /** Undefined if the requests name no sources. */
  readonly attribution: AttributionReport | undefined;
  /** Names of the computes, in the order of the traffic. */
  readonly computes: readonly string[];
  readonly waits: WaitsForSlo;
  readonly sizes: SizeChoices;
  readonly slower: readonly SlowerSource[];
};

/** Waits that the limit applies to. */
export type WaitsForSlo = {
  /** The shortest delay that meets the limit, or any delay without a limit; undefined if none meets it. */
  readonly shortestDelay: SuspendDelay | undefined;
  /** Wait under the current setting; undefined if it is unknown, or without a limit. */
  readonly currentMs: DurationMs | undefined;
  /** Wait by omitted source. Undefined if the limit applies to p99 over all requests, or without a limit. */
  readonly withoutMs: ReadonlyMap<string, DurationMs> | undefined;
  /** Wait by source with a longer interval. Undefined as `withoutMs`. */
  readonly slowerMs: ReadonlyMap<string, DurationMs> | undefined;
};

export function adviceOfAnswers(
  question: Question,
  settings: AdviceSettings,
  { curve, answer, attribution, computes, waits, sizes, slower }: AnsweredQuestions,
): Advice {
  const ownDelays = ownDelaysOf(answer.computes ?? []);
  const chosen = new Map(ownDelays.map(({ compute, delay_s }) => [compute, delay_s]));
  return adviceFrom({
    ...settings,
    question: answer.question,
    traffic: answer.traffic,
    costs: question.costs,
    robust: curve.robust,
    currentDelay: question.currentDelay,
    shortestWithinWait: waits.shortestDelay,
    maxWaitMs: settings.requirements.max_wait?.ms,
    currentWaitMs: waits.currentMs,
    waitWithoutMs: (source) => waits.withoutMs?.get(source),
    waitSlowerMs: (source) => waits.slowerMs?.get(source),
    figuresAt: (delay) => curve.figuresAt(delay),
    waitP99Ms: (delay) => curve.waitP99Ms(delay),
    margins: curve.margins(),
    decision: answer.decision,
    trafficChange: answer.traffic_change,
    heldOut: answer.held_out,
    ownDelays,
    ownDelayOf: (compute) =>
      chosen.get(computes[compute] ?? "") ?? effectiveDelay(question, question.currentDelay, compute),
    attribution,
    sizes,
    slower,
    periodic: curve.periodic,
    programsThatWait: answer.programs_that_wait.map(({ source }) => source),
  });
}
