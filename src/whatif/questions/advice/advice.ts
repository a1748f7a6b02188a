import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { DAY, HOUR, SECOND } from "../../../kernel/time.ts";
import {
  ALLOWED_DELAYS,
  OTHER_PRICES,
  PRICED_PLANS,
  type PricedPlan,
  type PriceList,
} from "../../../platform/catalog/price-lists.ts";
import { ALL_DELAYS, type DelayRange, type Objective } from "../../choice/decision.ts";
import type { DecisionSummary } from "../../choice/decision-summary.ts";
import { nearestCliff, robustDelay } from "../../choice/robust-delay.ts";
import { type Costs, perMonth, weightedCostMs } from "../../gap-curve/costs.ts";
import { type DelayChoice, pointAt, type SuspendDelay } from "../../gap-curve/curve.ts";
import type { HeldOutSummary } from "../../held-out/held-out-summary.ts";
import type { DayMargins } from "../../held-out/margins.ts";
import type { QuestionSummary } from "../../input/question-summary.ts";
import type { PointFigures } from "../../replay/figures.ts";
import type { PeriodicSource } from "../../trace/periodic-sources.ts";
import type { TrafficSummary } from "../../trace/traffic-summary.ts";
import { type MonthlyBill, monthlyBill, type OtherUsage } from "../../units/bill.ts";
import { delayText, spanText } from "../../units/number-format.ts";
import { type AttributionReport, UNNAMED } from "../attribution/attribution-report.ts";

/** A change that a user can make, and what it changes. */
export type Proposal = {
  readonly kind: "delay" | "delays_by_compute" | "source" | "plan";
  /** In the imperative, without a full stop. */
  readonly change: string;
  /** What the whole bill is less by; negative if it is more. Half the width of the 95 % interval, or null. */
  readonly saves_dollars_per_month: number;
  readonly margin_95: number | null;
  /** Additional ones; negative if there are fewer. */
  readonly cold_starts_per_day: number;
  /** The saving less the additional cold starts at their worth. Proposals are ranked by it. */
  readonly worth_dollars_per_month: number;
  /** Whether the worth is larger than the noise. */
  readonly is_clear: boolean;
  readonly delay_s?: DelayChoice;
  readonly plan?: PricedPlan;
  readonly source?: string;
};

/** The JSON of `standin advise`. */
export type Advice = {
  readonly question: QuestionSummary;
  readonly plan: PricedPlan;
  readonly traffic: TrafficSummary;
  readonly bill: MonthlyBill;
  readonly current: {
    readonly delay_s: DelayChoice;
    readonly cold_starts_per_day: number;
    readonly wait_p99_ms: number | null;
    readonly meets: Requirements & { readonly budget: boolean | null; readonly slo: boolean | null };
  };
  /** The first clear proposal; null: keep what is set, or too little is known. */
  readonly decision: Proposal | null;
  /** Those with a worth above 0, by their worth. */
  readonly proposals: readonly Proposal[];
  /** Why nothing is recommended, although proposals may be listed. */
  readonly too_little: readonly string[];
  readonly would_change: readonly string[];
  readonly not_known: readonly string[];
};

/** What the settings must meet. */
type Requirements = {
  readonly budget_dollars_per_month: number | null;
  readonly max_wait_p99_ms: number | null;
};

export type AdviceInput = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly plan: PricedPlan;
  readonly priceList: PriceList;
  readonly usage: OtherUsage;
  readonly requirements: Requirements;
  readonly costs: Costs;
  readonly objective: Objective;
  readonly currentDelay: DelayChoice;
  /** The platform's default, in seconds. */
  readonly defaultDelayS: number;
  /** The shortest delay that meets the limit on the wait; undefined if none does. */
  readonly shortestWithinWait: SuspendDelay | undefined;
  readonly figuresAt: (delay: DelayChoice) => PointFigures;
  readonly waitP99Ms: (delay: DelayChoice) => number | undefined;
  readonly margins: DayMargins | { readonly missing: string };
  readonly decision: DecisionSummary;
  readonly heldOut: HeldOutSummary;
  /** Undefined if the requests name no sources. */
  readonly attribution: AttributionReport | undefined;
  /** Only programs on a timer can be stopped; the others are what the computes are for. */
  readonly periodic: readonly PeriodicSource[];
};

/** Below it, no change is worth its trouble. */
const MIN_SAVING_DOLLARS = 0.5;
const MIN_SAVING_SHARE = 0.01;

export function adviceFrom(input: AdviceInput): Advice {
  const { question, traffic, plan, usage, decision, currentDelay, requirements } = input;
  const bill = monthlyBill(computeDollars(input, currentDelay), usage);
  const proposals = [
    ...delayProposals(input, bill),
    ...computeProposals(input, bill),
    ...sourceProposals(input, bill),
    ...planProposals(input, bill),
  ]
    .filter(({ worth_dollars_per_month }) => worth_dollars_per_month > 0)
    .sort((a, b) => b.worth_dollars_per_month - a.worth_dollars_per_month);
  const { too_little } = decision;
  const { budget_dollars_per_month: budget, max_wait_p99_ms: maxWaitMs } = requirements;
  const waitMs = input.waitP99Ms(currentDelay);
  return {
    question,
    plan,
    traffic,
    bill,
    current: {
      delay_s: currentDelay,
      cold_starts_per_day: input.figuresAt(currentDelay).cold_starts_per_day,
      wait_p99_ms: waitMs ?? null,
      meets: {
        ...requirements,
        budget: budget === null ? null : bill.dollars_per_month <= budget,
        slo: maxWaitMs === null || waitMs === undefined ? null : waitMs <= maxWaitMs,
      },
    },
    decision: too_little.length > 0 ? null : (proposals.find(({ is_clear }) => is_clear) ?? null),
    proposals,
    too_little,
    would_change: wouldChange(input),
    not_known: notKnown(input, bill),
  };
}

/** The delays that a plan lets its users set, and that meet the limit on the wait. */
function settableDelays(plan: PricedPlan, defaultDelayS: number, shortest: SuspendDelay): DelayRange[] {
  const range: DelayRange = { ...ALL_DELAYS, shortest };
  if (ALLOWED_DELAYS[plan] === "all") return [range];
  const never: DelayRange = { shortest: "never", longest: "never" };
  const isDefaultEnough = shortest !== "never" && defaultDelayS >= shortest;
  return isDefaultEnough ? [{ shortest: defaultDelayS, longest: defaultDelayS }, never] : [never];
}

function bestSettable(input: AdviceInput, plan: PricedPlan): SuspendDelay | undefined {
  const { objective, shortestWithinWait } = input;
  if (shortestWithinWait === undefined) return undefined;
  const [first, ...others] = settableDelays(plan, input.defaultDelayS, shortestWithinWait).map((range) =>
    robustDelay(objective, range),
  );
  const costOf = (delay: SuspendDelay) => weightedCostMs(pointAt(objective.curve, delay), objective.worthS);
  return others.reduce<SuspendDelay | undefined>(
    (best, delay) => (best === undefined || costOf(delay) < costOf(best) ? delay : best),
    first,
  );
}

function delayProposals(input: AdviceInput, bill: MonthlyBill): Proposal[] {
  const delay = bestSettable(input, input.plan);
  if (delay === undefined || delay === input.currentDelay) return [];
  const { margins, currentDelay } = input;
  const change =
    delay === "never" ? "Disable autosuspend" : `Set the autosuspend delay to ${delayText(delay)}`;
  return [
    proposal(input, bill, {
      kind: "delay",
      change,
      delay_s: delay,
      computeDollars: computeDollars(input, delay),
      coldStartsPerDay: input.figuresAt(delay).cold_starts_per_day,
      marginDollars:
        "missing" in margins ? null : margins.change(delay, currentDelay).days.cost_dollars_per_month,
    }),
  ];
}

/** Delays of their own only if they saved clearly more on days that they were not chosen on. */
function computeProposals(input: AdviceInput, bill: MonthlyBill): Proposal[] {
  const { heldOut, plan } = input;
  if ("missing" in heldOut || heldOut.recommended === "fleet" || ALLOWED_DELAYS[plan] !== "all") return [];
  const named = (name: string) => heldOut.choices.find(({ choice }) => choice === name)?.held_out;
  const [own, current] = [named("per_compute_shrunk"), named("current")];
  if (own === undefined || current === undefined) return [];
  const days = current.cost_dollars_per_month;
  const now = computeDollars(input, input.currentDelay);
  const share = days === 0 ? 1 : own.cost_dollars_per_month / days;
  return [
    proposal(input, bill, {
      kind: "delays_by_compute",
      change: "Set a delay for each compute (standin whatif apply)",
      computeDollars: now * share,
      coldStartsPerDay:
        input.figuresAt(input.currentDelay).cold_starts_per_day +
        own.cold_starts_per_day -
        current.cold_starts_per_day,
      marginDollars: own.margin_95?.cost_dollars_per_month ?? null,
    }),
  ];
}

function sourceProposals(input: AdviceInput, bill: MonthlyBill): Proposal[] {
  const { attribution, currentDelay, traffic, periodic } = input;
  if (attribution === undefined) return [];
  const intervals = new Map(periodic.map(({ source, everyMs }) => [source, everyMs]));
  const periodMs = traffic.days * DAY;
  const current = input.figuresAt(currentDelay).cold_starts_per_day;
  return attribution.sources
    .filter(({ source, saves_cost }) => intervals.has(source) && saves_cost > 0)
    .map(({ source, saves_cost, more_cold_starts, margin_95 }) =>
      proposal(input, bill, {
        kind: "source",
        change: `Drop ${source} (every ${spanText((intervals.get(source) ?? 0) / SECOND)}), or send it less often or elsewhere`,
        source,
        computeDollars: computeDollars(input, currentDelay) - perMonth(saves_cost, periodMs),
        coldStartsPerDay: current + more_cold_starts / traffic.days,
        marginDollars: margin_95 === null ? null : perMonth(margin_95.saves_cost, periodMs),
      }),
    );
}

function planProposals(input: AdviceInput, bill: MonthlyBill): Proposal[] {
  const { plan, priceList, question, margins, currentDelay } = input;
  if (question.price_list === null) return [];
  return PRICED_PLANS.filter((other) => other !== plan).flatMap((other) => {
    const delay = bestSettable(input, other);
    if (delay === undefined) return [];
    const ratio = priceList.perCuHour[other] / priceList.perCuHour[plan];
    const marginOf = (of: DelayChoice) =>
      "missing" in margins ? 0 : margins.figures(of).days.cost_dollars_per_month;
    return [
      proposal(input, bill, {
        kind: "plan",
        change: `Move to the plan ${other} with ${delay === "never" ? "autosuspend disabled" : `a delay of ${delayText(delay)}`}`,
        plan: other,
        delay_s: delay,
        computeDollars: computeDollars(input, delay) * ratio,
        coldStartsPerDay: input.figuresAt(delay).cold_starts_per_day,
        // The figures of the same days vary together; adding their margins is on the safe side.
        marginDollars:
          "missing" in margins
            ? null
            : delay === currentDelay
              ? Math.abs(1 - ratio) * marginOf(delay)
              : ratio * marginOf(delay) + marginOf(currentDelay),
      }),
    ];
  });
}

type Change = Pick<Proposal, "kind" | "change" | "delay_s" | "plan" | "source"> & {
  /** A month's compute after the change. */
  readonly computeDollars: number;
  readonly coldStartsPerDay: number;
  readonly marginDollars: number | null;
};

function proposal(input: AdviceInput, bill: MonthlyBill, change: Change): Proposal {
  const { computeDollars: dollars, coldStartsPerDay, marginDollars, ...named } = change;
  const saves = bill.dollars_per_month - monthlyBill(dollars, input.usage).dollars_per_month;
  const moreStarts = coldStartsPerDay - input.figuresAt(input.currentDelay).cold_starts_per_day;
  const worth = saves - perMonth(moreStarts, DAY) * startDollars(input);
  const noise = Math.max(
    marginDollars ?? Number.POSITIVE_INFINITY,
    MIN_SAVING_DOLLARS,
    MIN_SAVING_SHARE * bill.dollars_per_month,
  );
  return omitUndefined({
    ...named,
    saves_dollars_per_month: saves,
    margin_95: marginDollars,
    cold_starts_per_day: moreStarts,
    worth_dollars_per_month: worth,
    is_clear: worth > noise,
  });
}

/** What avoiding one cold start is worth, at the current price. */
function startDollars({ objective, costs }: AdviceInput): number {
  const cu = typeof costs.cu === "number" ? costs.cu : 1;
  return ((objective.worthS * SECOND) / HOUR) * cu * costs.pricePerCuHour;
}

function computeDollars({ figuresAt, objective }: AdviceInput, delay: DelayChoice): number {
  return perMonth(figuresAt(delay).cost, objective.curve.periodMs);
}

function wouldChange(input: AdviceInput): string[] {
  const { objective, decision, currentDelay } = input;
  const chosen = bestSettable(input, input.plan) ?? currentDelay;
  const cliff = chosen === "own" ? undefined : nearestCliff(objective.curve, chosen);
  const { below, above } = decision.break_even;
  const worth = (breakEven: { readonly cold_start_worth_s: number | null } | null, word: string) =>
    breakEven === null || breakEven.cold_start_worth_s === null
      ? []
      : [`a cold start worth ${word} than ${delayText(breakEven.cold_start_worth_s)} of active time`];
  return [
    ...worth(below, "less"),
    ...worth(above, "more"),
    ...(cliff === undefined
      ? []
      : [
          `a delay below ${delayText(cliff.delayS)}: ${Math.round(cliff.coldStartsPerDayBelow).toLocaleString("en")} cold starts a day instead of ${Math.round(cliff.coldStartsPerDayAbove).toLocaleString("en")}, because many gaps are just as long`,
        ]),
  ];
}

function notKnown(
  { attribution, margins, requirements, waitP99Ms, currentDelay }: AdviceInput,
  bill: MonthlyBill,
) {
  return [
    ...(bill.unknown.length === 0
      ? []
      : [`the cost of ${bill.unknown.join(", ")} (the same under every delay)`]),
    ...(bill.lines.some(({ line }) => line === "to the minimum")
      ? [`whether your contract still has the minimum of $${OTHER_PRICES.minimum} a month`]
      : []),
    "whether a smaller size is enough (standin whatif capacity)",
    ...(attribution === undefined || attribution.sources.every(({ source }) => source === UNNAMED)
      ? ["what keeps the computes active: the requests name no source"]
      : []),
    ...("missing" in margins ? [`how sure the figures are: ${margins.missing}`] : []),
    ...(requirements.max_wait_p99_ms !== null && waitP99Ms(currentDelay) === undefined
      ? ["the wait at p99: the trace is too large to replay"]
      : []),
  ];
}
