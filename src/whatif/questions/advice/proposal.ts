import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { DAY, type DurationMs } from "../../../kernel/time.ts";
import type { PricedPlan, PriceList, VendorPlan } from "../../../platform/catalog/price-lists.ts";
import { bestOf, type Objective } from "../../choice/decision.ts";
import { type Costs, perMonth } from "../../gap-curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../../gap-curve/delay.ts";
import { ALL_DELAYS, settableDelays, settableWithin } from "../../gap-curve/settable-delays.ts";
import type { HeldOutSummary } from "../../held-out/held-out-summary.ts";
import type { DayMargins } from "../../held-out/margins.ts";
import { monthlySaving, type PricedChoice } from "../../held-out/monthly-saving.ts";
import type { QuestionSummary } from "../../input/question-summary.ts";
import type { PointFigures } from "../../replay/figures.ts";
import type { PeriodicSource } from "../../trace/periodic-sources.ts";
import type { TrafficSummary } from "../../trace/traffic-summary.ts";
import { type MonthlyBill, monthlyBill, type OtherUsage } from "../../units/bill.ts";
import type { AttributionReport } from "../attribution/attribution-report.ts";
import type { OwnDelay } from "./own-delays.ts";
import type { SizeChoices } from "./size-choices.ts";
import type { SlowerSource } from "./slower-sources.ts";

/** A change that a user can make, and what it changes. */
export type Proposal = {
  readonly kind: "delay" | "delays_by_compute" | "source" | "plan" | "size";
  /** In the imperative, without a full stop. */
  readonly change: string;
  /** What the whole bill is less by; negative if it is more. Half the width of the 95 % interval, or null. */
  readonly saves_dollars_per_month: number;
  readonly margin_95: number | null;
  /** Additional ones; negative if there are fewer. */
  readonly cold_starts_per_day: number;
  /** The saving less the additional cold starts at their worth. Proposals are ranked by it. */
  readonly worth_dollars_per_month: number;
  /** Half the width of the 95 % interval of the worth, for as much traffic as in the record; or null. */
  readonly worth_margin_95: number | null;
  /** Whether the worth is larger than the noise, and the two below hold where they are stated. */
  readonly is_clear: boolean;
  /** With a plan: whether the delay is clearly better than the usual one on that plan. */
  readonly delay_is_clear?: boolean;
  /** With a plan of a higher price. */
  readonly saves_with_twice_the_requests?: boolean;
  readonly delay_s?: DelayChoice;
  readonly plan?: VendorPlan;
  readonly source?: string;
  /** The longer interval of the source; absent: it is dropped. */
  readonly every_s?: number;
  /** If it is dropped: the same with a longer interval instead, if that is within the limits. */
  readonly less_often?: Proposal;
  /** One for all computes. */
  readonly size?: { readonly min_cu: number; readonly max_cu: number };
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
  /** That limit; it is on the 99th percentile over all requests unless `waitWithoutMs` knows the wait. */
  readonly maxWaitMs: DurationMs | undefined;
  /** The wait that the limit is about, without a source. */
  readonly waitWithoutMs: (source: string) => DurationMs | undefined;
  /** The same with its longer interval. */
  readonly waitSlowerMs: (source: string) => DurationMs | undefined;
  readonly figuresAt: (delay: DelayChoice) => PointFigures;
  readonly margins: DayMargins | { readonly missing: string };
  readonly heldOut: HeldOutSummary;
  /** What `whatif apply` would set, and the delay of each compute by its number then. */
  readonly ownDelays: readonly OwnDelay[];
  readonly ownDelayOf: (compute: number) => SuspendDelay;
  /** Undefined if the requests name no sources. */
  readonly attribution: AttributionReport | undefined;
  readonly sizes: SizeChoices;
  /** Of the programs on a timer, those that may have a longer interval. */
  readonly slower: readonly SlowerSource[];
  /** Only programs on a timer can be stopped; the others are what the computes are for. */
  readonly periodic: readonly PeriodicSource[];
};

/**
 * The delay of choice of those that a plan allows; undefined if none of them meets the limit on the wait. `priceRatio`: of
 * the price on that plan to the current one. A cold start is worth the same dollars, so more active time if that is cheaper.
 */
export function bestSettable(
  input: ProposalInput,
  plan: PricedPlan,
  priceRatio = 1,
): SuspendDelay | undefined {
  const { robust, shortestWithinWait: shortest, defaultDelayS } = input;
  if (shortest === undefined) return undefined;
  const ranges = settableWithin(settableDelays(plan, defaultDelayS), { ...ALL_DELAYS, shortest });
  if (ranges.length === 0) return undefined;
  return bestOf({ ...robust, worthS: Math.round(robust.worthS / priceRatio) }, ranges);
}

/** One delay for all computes, at a price that is this many times the current one. */
export function delayChange(input: ProposalInput, delay: DelayChoice, priceRatio = 1) {
  const margins = marginsOf(input, { delays: delay, priceRatio });
  return {
    computeDollars: computeDollars(input, delay) * priceRatio,
    coldStartsPerDay: input.figuresAt(delay).cold_starts_per_day,
    startDollars: startDollars(input, delay),
    marginDollars: margins === undefined ? null : margins.saves.margin95,
    worthMarginDollars: margins === undefined ? null : margins.worth.margin95,
  };
}

/** Undefined if the record has too few days for intervals. */
export function marginsOf(
  { margins, costs, currentDelay }: ProposalInput,
  to: PricedChoice,
  from: PricedChoice = { delays: currentDelay },
) {
  return "missing" in margins ? undefined : monthlySaving(margins, costs, { to, from });
}

export type Change = Pick<
  Proposal,
  "kind" | "change" | "delay_s" | "delay_is_clear" | "plan" | "source" | "every_s" | "size"
> & {
  readonly saves_with_twice_the_requests?: boolean | undefined;
  /** A month's compute after the change, and its cold starts at their worth. */
  readonly computeDollars: number;
  readonly startDollars: number;
  readonly coldStartsPerDay: number;
  /** If compute and the other usage do not make it up. */
  readonly billDollars?: number;
  readonly marginDollars: number | null;
  readonly worthMarginDollars: number | null;
};

export function proposal(input: ProposalInput, bill: MonthlyBill, change: Change): Proposal {
  const {
    computeDollars: dollars,
    startDollars: starts,
    coldStartsPerDay,
    billDollars = monthlyBill(
      dollars,
      input.usage,
      change.plan ?? input.plan,
      input.priceList,
    ).dollars_per_month,
    marginDollars,
    worthMarginDollars,
    ...named
  } = change;
  const saves = bill.dollars_per_month - billDollars;
  const moreStarts = coldStartsPerDay - input.figuresAt(input.currentDelay).cold_starts_per_day;
  const worth = saves - (starts - startDollars(input, input.currentDelay));
  const noise = Math.max(
    worthMarginDollars ?? Number.POSITIVE_INFINITY,
    MIN_SAVING_DOLLARS,
    MIN_SAVING_SHARE * bill.dollars_per_month,
  );
  return omitUndefined({
    ...named,
    saves_dollars_per_month: saves,
    margin_95: marginDollars,
    cold_starts_per_day: moreStarts,
    worth_dollars_per_month: worth,
    worth_margin_95: worthMarginDollars,
    is_clear:
      worth > noise && named.delay_is_clear !== false && named.saves_with_twice_the_requests !== false,
  });
}

/** A month's cold starts at their worth, at the current price. */
export function startDollars({ figuresAt, costs, traffic }: ProposalInput, delay: DelayChoice): number {
  const { burden_s, active_s, cu_hours } = figuresAt(delay);
  const cuHours =
    typeof costs.cu === "number" ? ((burden_s - active_s) / HOUR_S) * costs.cu : burden_s / HOUR_S - cu_hours;
  return perMonth(cuHours * costs.pricePerCuHour, traffic.month_base_days * DAY);
}

/** What avoiding one cold start is worth, at the current price. */
export function dollarsPerStart({ robust, costs }: ProposalInput): number {
  const cu = typeof costs.cu === "number" ? costs.cu : 1;
  return (robust.worthS / HOUR_S) * cu * costs.pricePerCuHour;
}

/** A month's compute. */
export function computeDollars({ figuresAt, traffic }: ProposalInput, delay: DelayChoice): number {
  return perMonth(figuresAt(delay).cost, traffic.month_base_days * DAY);
}

/** Below it, no change is worth its trouble. */
const MIN_SAVING_DOLLARS = 0.5;
const MIN_SAVING_SHARE = 0.01;

const HOUR_S = 3_600;
