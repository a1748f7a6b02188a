import type { Random } from "../../../kernel/random-port.ts";
import type { DurationMs } from "../../../kernel/time.ts";
import type { PricedPlan, PriceList } from "../../../platform/catalog/price-lists.ts";
import { readCurve } from "../../gap-curve/curve-reading.ts";
import { cheapestWithin } from "../../gap-curve/optimum.ts";
import { ALL_DELAYS } from "../../gap-curve/settable-delays.ts";
import type { Question } from "../../input/question.ts";
import { replayComputes } from "../../input/replay-jobs.ts";
import { isOfAllAtP99, percentileText, type Slo } from "../../input/slo.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import { spacedArrivals } from "../../trace/spaced-arrivals.ts";
import type { Traffic } from "../../trace/traffic.ts";
import type { OtherUsage } from "../../units/bill.ts";
import { meanLatencyMs } from "../../units/mean-latency.ts";
import { type AttributionReport, attributionReport } from "../attribution/attribution-report.ts";
import { CurveAnswer } from "../curve/curve-answer.ts";
import type { Advice } from "./advice.ts";
import { adviceOfAnswers, type WaitsForSlo } from "./advice-of-answers.ts";
import { freePlanText } from "./advice-text.ts";
import { type SizeChoices, sizeChoices } from "./size-choices.ts";
import type { SizeTerms } from "./size-replays.ts";
import { SloWaits, withoutSource } from "./slo-waits.ts";
import { type SlowerSource, slowerSources, spacingsOf } from "./slower-sources.ts";

/** Settings of an advice in addition to the question and the traffic. */
export type AdviceTerms = SizeTerms & {
  readonly plan: PricedPlan;
  readonly priceList: PriceList;
  readonly usage: OtherUsage;
  readonly budgetDollars: number | undefined;
  /** Default delay of the platform in seconds. */
  readonly defaultDelayS: number;
};

/** Results that are read from the traffic. */
export type AdviceParts = {
  /** Contains the outcomes of its `namedDelays`. */
  readonly curve: CurveAnswer;
  readonly waits: WaitsForSlo;
  readonly sizes: SizeChoices;
  readonly slower: readonly SlowerSource[];
  /** Undefined if the requests name no sources. */
  readonly attribution: AttributionReport | undefined;
  /** Names of the computes, in the order of the traffic. */
  readonly computes: readonly string[];
};

export type AdviceAndLimits = { readonly advice: Advice; readonly limits: ReportLimits };

export function namesSources({ sources }: Traffic): boolean {
  return sources.some((source) => source !== "");
}

export function adviceOf(
  question: Question,
  { plan, priceList, usage, budgetDollars, slo, defaultDelayS }: AdviceTerms,
  { curve, waits, attribution, computes, sizes, slower }: AdviceParts,
): AdviceAndLimits {
  const answer = curve.summary(
    slo === undefined || isOfAllAtP99(slo)
      ? { maxWaitP99Ms: slo?.waitMs }
      : { shortestDelay: waits.shortestDelay ?? null },
  );
  const requirements = {
    budget_dollars_per_month: budgetDollars ?? null,
    max_wait:
      slo === undefined
        ? null
        : { percentile: percentileText(slo.share), source: slo.source ?? null, ms: slo.waitMs },
  };
  const settings = { plan, priceList, usage, requirements, defaultDelayS };
  const advice = adviceOfAnswers(question, settings, {
    curve,
    answer,
    attribution,
    computes,
    waits,
    sizes,
    slower,
  });
  const noFreePlan = freePlanText(advice);
  const left_out = [...(noFreePlan === null ? [] : [noFreePlan]), ...answer.limits.left_out];
  return { advice, limits: { ...answer.limits, left_out } };
}

/** The waits that an SLO limits. Yields the number of computes done, in each replay in turn. */
export function* waitsForSlo(
  traffic: Traffic,
  question: Question,
  curve: CurveAnswer,
  slo: Slo | undefined,
  random: Random,
): Generator<number, WaitsForSlo> {
  if (slo === undefined) return { shortestDelay: ALL_DELAYS.shortest, currentMs: undefined, ...OF_ALL };
  const { currentDelay } = question;
  if (isOfAllAtP99(slo)) {
    const found = yield* curve.search({ maxWaitP99Ms: slo.waitMs });
    return { shortestDelay: found?.delay, currentMs: curve.waitP99Ms(currentDelay), ...OF_ALL };
  }
  const waits = new SloWaits(traffic, question, slo, random);
  const search = cheapestWithin(curve.curve, { maxWaitP99Ms: slo.waitMs });
  let step = search.next();
  while (step.done !== true) step = search.next(yield* waits.under(step.value));
  const withoutMs = new Map<string, DurationMs>();
  for (const { source } of curve.periodic) {
    const dropped = traffic.sources.indexOf(source);
    withoutMs.set(source, yield* waits.under(currentDelay, (own) => withoutSource(own, dropped)));
  }
  const slowerMs = new Map<string, DurationMs>();
  for (const spacing of spacingsOf(traffic, question, curve.periodic)) {
    const waitMs = yield* waits.under(currentDelay, (own) => spacedArrivals(own, spacing));
    slowerMs.set(traffic.sources[spacing.source] ?? "", waitMs);
  }
  const currentMs = yield* waits.under(currentDelay);
  return { shortestDelay: step.value?.delay, currentMs, withoutMs, slowerMs };
}

/** Used without a limit, or with a limit on p99 over all requests, which the replays report themselves. */
const OF_ALL = { withoutMs: undefined, slowerMs: undefined };

/** The whole advice in one thread. Yields after each part of the work, so that other tasks can run. */
export function* adviceSteps(
  traffic: Traffic,
  question: Question,
  terms: AdviceTerms,
  randomFor: (seed: number) => Random,
): Generator<unknown, AdviceAndLimits> {
  const { currentDelay, ownDelays, deletedAt, costs, settable, ignoredWaits, seed } = question;
  const all = { from: 0, to: traffic.computes.length };
  const reading = yield* readCurve(traffic, {
    currentDelay,
    ownDelays,
    deletedAt,
    costs,
    settable,
    startMs: meanLatencyMs(question.latency),
    ignoredWaits,
    byCompute: true,
    byDay: true,
    ...all,
  });
  const curve = new CurveAnswer(traffic, reading, question, randomFor(seed));
  yield;
  const named = curve.namedDelays;
  const work = { jobs: curve.jobs(named), fleetGaps: undefined, ...all };
  curve.storeOutcomes(named, yield* replayComputes(traffic, work, randomFor));
  const waits = yield* waitsForSlo(traffic, question, curve, terms.slo, randomFor(seed));
  const attribution = namesSources(traffic)
    ? yield* attributionReport(traffic, question, randomFor(seed), false)
    : undefined;
  const slower = yield* slowerSources(traffic, question, curve.periodic, randomFor(seed));
  const sizes = yield* sizeChoices(traffic, question, terms, waits.currentMs, randomFor(seed));
  return adviceOf(question, terms, { curve, waits, attribution, sizes, slower, computes: traffic.computes });
}
