import type { PricedPlan } from "../../../platform/catalog/price-lists.ts";
import { tooLittleReasons } from "../../choice/decision.ts";
import type { DecisionSummary } from "../../choice/decision-summary.ts";
import { cliffText } from "../../choice/decision-text.ts";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../../gap-curve/optimum.ts";
import { DEFAULTS } from "../../input/question.ts";
import type { QuestionSummary } from "../../input/question-summary.ts";
import { type AssumedWorth, worthText } from "../../page/page-text.ts";
import type { PointFigures } from "../../replay/figures.ts";
import type { TrafficSummary } from "../../trace/traffic-summary.ts";
import { type MonthlyBill, monthlyBill } from "../../units/bill.ts";
import type { TrafficChangeSummary } from "../../units/traffic-change.ts";
import { UNNAMED } from "../attribution/attribution-report.ts";
import { freePlan } from "./free-plan.ts";
import type { OwnDelay } from "./own-delays.ts";
import { computeDollars, type Proposal, type ProposalInput } from "./proposal.ts";
import { proposalsFor } from "./proposals.ts";
import { type SizesSummary, sizesSummary } from "./size-proposal.ts";

/** The JSON of `standin advise`. */
export type Advice = {
  readonly question: QuestionSummary;
  readonly plan: PricedPlan;
  readonly traffic: TrafficSummary;
  readonly bill: MonthlyBill;
  readonly current: {
    readonly delay_s: DelayChoice;
    readonly cold_starts_per_day: number;
    /** See `PointFigures`. */
    readonly cold_starts_per_day_at_most_95?: number;
    readonly wait_p99_ms: number | null;
    readonly meets: Requirements & {
      /** Wait that `max_wait` limits, in milliseconds; null if unknown. */
      readonly wait_ms: number | null;
      readonly budget: boolean | null;
      readonly slo: boolean | null;
    };
  };
  /** The first clear proposal. Null: keep the current settings, or the traffic is too little to say. */
  readonly decision: Proposal | null;
  /** Proposals with a worth above 0, the highest worth first. */
  readonly proposals: readonly Proposal[];
  /** Reason why the free plan is not proposed; null if it is, or if the price is not from a list. */
  readonly no_free_plan: string | null;
  /** Delays that the proposal "Set a delay of its own" would set; empty unless it is a proposal. */
  readonly own_delays: readonly OwnDelay[];
  /** Reasons why nothing is recommended, although proposals may be listed. */
  readonly too_little: readonly string[];
  readonly sizes: SizesSummary;
  /** Change of the traffic in the record; no delay is then recommended. Null if there is none. */
  readonly traffic_change: TrafficChangeSummary | null;
  readonly would_change: readonly string[];
  readonly not_known: readonly string[];
};

/** Requirements that the settings must meet. */
export type Requirements = {
  readonly budget_dollars_per_month: number | null;
  /** Limit on a percentile of the wait, and the source of the requests that it applies to; null: all requests. */
  readonly max_wait: {
    readonly percentile: string;
    readonly source: string | null;
    readonly ms: number;
  } | null;
};

export type AdviceInput = ProposalInput & {
  readonly requirements: Requirements;
  /** Wait that the requirements limit, under the current setting; undefined if unknown. */
  readonly currentWaitMs: number | undefined;
  readonly waitP99Ms: (delay: DelayChoice) => number | undefined;
  readonly decision: DecisionSummary;
  /** Sources that send at a constant interval and whose waits count. */
  readonly programsThatWait: readonly string[];
  /** The change of the traffic in the record; null if there is none. */
  readonly trafficChange: TrafficChangeSummary | null;
};

export function adviceFrom(input: AdviceInput): Advice {
  const { question, traffic, plan, usage, priceList, currentDelay, requirements, trafficChange } = input;
  const bill = monthlyBill(computeDollars(input, currentDelay), usage, plan, priceList);
  const free = freePlan(input, bill);
  const proposals = proposalsFor(input, bill, free);
  const too_little = tooLittleReasons(
    input.robust.curve.periodMs,
    input.figuresAt(SHORTEST_DELAY_S).cold_starts,
  );
  const { budget_dollars_per_month: budget, max_wait: maxWait } = requirements;
  const { currentWaitMs } = input;
  const sizes = sizesSummary(input, bill);
  return {
    question,
    plan,
    traffic,
    bill,
    current: {
      delay_s: currentDelay,
      ...coldStartsOf(input.figuresAt(currentDelay)),
      wait_p99_ms: input.waitP99Ms(currentDelay) ?? null,
      meets: {
        ...requirements,
        budget: budget === null ? null : bill.dollars_per_month <= budget,
        wait_ms: currentWaitMs ?? null,
        slo:
          maxWait === null || currentWaitMs === undefined
            ? null
            : currentWaitMs <= maxWait.ms && (!("are_sufficient" in sizes) || sizes.are_sufficient),
      },
    },
    decision: too_little.length > 0 ? null : (proposals.find((one) => isAdvisable(one, input)) ?? null),
    proposals,
    no_free_plan: free !== undefined && "why_not" in free ? free.why_not : null,
    own_delays: proposals.some(({ kind }) => kind === "delays_by_compute") ? input.ownDelays : [],
    too_little,
    sizes,
    traffic_change: trafficChange,
    would_change: wouldChange(input),
    not_known: notKnown(input, bill),
  };
}

function coldStartsOf({ cold_starts_per_day, cold_starts_per_day_at_most_95: atMost }: PointFigures) {
  return { cold_starts_per_day, ...(atMost === undefined ? {} : { cold_starts_per_day_at_most_95: atMost }) };
}

/**
 * Whether a proposal may be recommended. While traffic changes, the best delay of the record may not be the best one
 * later.
 */
function isAdvisable(
  { kind, is_clear, delay_s, plan }: Proposal,
  { trafficChange, currentDelay }: AdviceInput,
): boolean {
  // With changing traffic, the quota of the free plan may not be enough later.
  const isDelayUnchanged =
    kind === "source" || (kind === "plan" && plan !== "free" && delay_s === currentDelay);
  return is_clear && (trafficChange === null || isDelayUnchanged);
}

/** Whether no compute can be smaller. */
function isSmallest({ cu }: QuestionSummary): boolean {
  return cu !== "own" && cu <= DEFAULTS.cu;
}

/** Conditions under which another delay would be chosen. */
function wouldChange({ decision, programsThatWait }: AdviceInput): string[] {
  const { below, above } = decision.break_even;
  const worth = (breakEven: AssumedWorth | null, word: string) => {
    if (breakEven === null) return [];
    const what = breakEven.wait_worth_dollars_per_hour === undefined ? "a cold start" : "an hour of waiting";
    return [`${what} worth ${word} than ${worthText(breakEven)}`];
  };
  return [
    ...worth(below, "less"),
    ...worth(above, "more"),
    ...programsThatWait.map((source) => `nobody waiting for ${source} (--ignore-waits-of)`),
    ...(decision.cliff === null ? [] : [`a delay ${cliffText(decision.cliff)}`]),
  ];
}

function notKnown(
  { attribution, margins, requirements, currentWaitMs, priceList, question, sizes }: AdviceInput,
  bill: MonthlyBill,
) {
  return [
    ...(bill.unknown.length === 0
      ? []
      : [`the cost of ${bill.unknown.join(", ")} (the same under every delay)`]),
    ...(bill.lines.some(({ line }) => line === "to the minimum")
      ? [`whether your contract still has the minimum of $${priceList.minimum} a month`]
      : []),
    ...("missing" in sizes
      ? [
          `whether ${isSmallest(question) ? "a larger size is needed" : "a smaller size is enough"}: ${sizes.missing}`,
        ]
      : []),
    ...(attribution === undefined || attribution.sources.every(({ source }) => source === UNNAMED)
      ? ["what keeps the computes active: the requests name no source"]
      : []),
    ...("missing" in margins ? [`how sure the figures are: ${margins.missing}`] : []),
    ...(requirements.max_wait !== null && currentWaitMs === undefined
      ? ["the wait at p99: the trace is too large to replay"]
      : []),
  ];
}
