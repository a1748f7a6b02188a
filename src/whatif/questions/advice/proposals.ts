import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { DAY, type DurationMs, HOUR, SECOND } from "../../../kernel/time.ts";
import {
  ALLOWED_DELAYS,
  PRICED_PLANS,
  type PricedPlan,
  type PriceList,
} from "../../../platform/catalog/price-lists.ts";
import { bestOf, type Objective } from "../../choice/decision.ts";
import { type Costs, perMonth } from "../../gap-curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../../gap-curve/curve.ts";
import { ALL_DELAYS, settableDelays, settableWithin } from "../../gap-curve/settable-delays.ts";
import type { HeldOutSummary } from "../../held-out/held-out-summary.ts";
import type { DayMargins } from "../../held-out/margins.ts";
import type { QuestionSummary } from "../../input/question-summary.ts";
import type { PointFigures } from "../../replay/figures.ts";
import type { PeriodicSource } from "../../trace/periodic-sources.ts";
import type { TrafficSummary } from "../../trace/traffic-summary.ts";
import { type MonthlyBill, monthlyBill, type OtherUsage } from "../../units/bill.ts";
import { delayText, spanText } from "../../units/number-format.ts";
import type { AttributionReport } from "../attribution/attribution-report.ts";

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

/** What proposals are made from. */
export type ProposalInput = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly plan: PricedPlan;
  readonly priceList: PriceList;
  readonly usage: OtherUsage;
  readonly costs: Costs;
  /** By which delays are chosen; see `stretched`. */
  readonly robust: Objective;
  readonly currentDelay: DelayChoice;
  /** The platform's default, in seconds. */
  readonly defaultDelayS: number;
  /** The shortest delay that meets the limit on the wait; undefined if none does. */
  readonly shortestWithinWait: SuspendDelay | undefined;
  /** That limit, on the 99th percentile. */
  readonly maxWaitP99Ms: DurationMs | undefined;
  readonly figuresAt: (delay: DelayChoice) => PointFigures;
  readonly margins: DayMargins | { readonly missing: string };
  readonly heldOut: HeldOutSummary;
  /** Undefined if the requests name no sources. */
  readonly attribution: AttributionReport | undefined;
  /** Only programs on a timer can be stopped; the others are what the computes are for. */
  readonly periodic: readonly PeriodicSource[];
};

/** Below it, no change is worth its trouble. */
const MIN_SAVING_DOLLARS = 0.5;
const MIN_SAVING_SHARE = 0.01;

/** Those with a worth above 0, the most worthwhile first. */
export function proposalsFor(input: ProposalInput, bill: MonthlyBill): readonly Proposal[] {
  return [
    ...delayProposals(input, bill),
    ...computeProposals(input, bill),
    ...sourceProposals(input, bill),
    ...planProposals(input, bill),
  ]
    .filter(({ worth_dollars_per_month }) => worth_dollars_per_month > 0)
    .sort((a, b) => b.worth_dollars_per_month - a.worth_dollars_per_month);
}

/** The delay of choice of those that a plan allows; undefined if none of them meets the limit on the wait. */
function bestSettable(input: ProposalInput, plan: PricedPlan): SuspendDelay | undefined {
  const { robust, shortestWithinWait: shortest, defaultDelayS } = input;
  if (shortest === undefined) return undefined;
  const ranges = settableWithin(settableDelays(plan, defaultDelayS), { ...ALL_DELAYS, shortest });
  return ranges.length === 0 ? undefined : bestOf(robust, ranges);
}

function delayProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
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
function computeProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const { heldOut, plan, maxWaitP99Ms } = input;
  if ("missing" in heldOut || heldOut.recommended === "fleet" || ALLOWED_DELAYS[plan] !== "all") return [];
  // The wait under them is not known.
  if (maxWaitP99Ms !== undefined) return [];
  const named = (name: string) => heldOut.choices.find(({ choice }) => choice === name)?.held_out;
  const [own, current] = [named("per_compute_shrunk"), named("current")];
  if (own === undefined || current === undefined) return [];
  const tested = current.cost_dollars_per_month;
  const now = computeDollars(input, input.currentDelay);
  const share = tested === 0 ? 1 : own.cost_dollars_per_month / tested;
  const margin = own.margin_95?.cost_percent ?? null;
  return [
    proposal(input, bill, {
      kind: "delays_by_compute",
      change: "Set a delay for each compute (standin whatif apply)",
      computeDollars: now * share,
      coldStartsPerDay:
        input.figuresAt(input.currentDelay).cold_starts_per_day +
        own.cold_starts_per_day -
        current.cold_starts_per_day,
      marginDollars: margin === null ? null : (now * margin) / 100,
    }),
  ];
}

function sourceProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const { attribution, currentDelay, traffic, periodic, maxWaitP99Ms = Number.POSITIVE_INFINITY } = input;
  if (attribution === undefined) return [];
  const intervals = new Map(periodic.map(({ source, everyMs }) => [source, everyMs]));
  const baseMs = traffic.month_base_days * DAY;
  const current = input.figuresAt(currentDelay).cold_starts_per_day;
  return (
    attribution.sources
      // Without a check that keeps computes active, others wait for starts.
      .filter(
        ({ source, saves_cost, without }) =>
          intervals.has(source) && saves_cost > 0 && without.wait_p99_ms <= maxWaitP99Ms,
      )
      .map(({ source, saves_cost, more_cold_starts, margin_95 }) =>
        proposal(input, bill, {
          kind: "source",
          change: `Drop ${source} (every ${spanText((intervals.get(source) ?? 0) / SECOND)}), or send it less often or elsewhere`,
          source,
          computeDollars: computeDollars(input, currentDelay) - perMonth(saves_cost, baseMs),
          coldStartsPerDay: current + more_cold_starts / traffic.days,
          marginDollars: margin_95 === null ? null : perMonth(margin_95.saves_cost, baseMs),
        }),
      )
  );
}

function planProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
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

function proposal(input: ProposalInput, bill: MonthlyBill, change: Change): Proposal {
  const { computeDollars: dollars, coldStartsPerDay, marginDollars, ...named } = change;
  const saves = bill.dollars_per_month - monthlyBill(dollars, input.usage, input.priceList).dollars_per_month;
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
function startDollars({ robust, costs }: ProposalInput): number {
  const cu = typeof costs.cu === "number" ? costs.cu : 1;
  return ((robust.worthS * SECOND) / HOUR) * cu * costs.pricePerCuHour;
}

/** A month's compute. */
export function computeDollars({ figuresAt, traffic }: ProposalInput, delay: DelayChoice): number {
  return perMonth(figuresAt(delay).cost, traffic.month_base_days * DAY);
}
