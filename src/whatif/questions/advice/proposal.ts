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
  /** The change in the imperative, without a full stop. */
  readonly change: string;
  /**
   * Reduction of the whole bill; negative if it increases. The margin is half the width of the 95 % interval, or null.
   */
  readonly saves_dollars_per_month: number;
  readonly margin_95: number | null;
  /** Additional cold starts a day; negative if there are fewer. */
  readonly cold_starts_per_day: number;
  /** The saving less the additional cold starts at their worth. Proposals are ranked by it. */
  readonly worth_dollars_per_month: number;
  /** Half the width of the 95 % interval of the worth, for as much traffic as in the record; or null. */
  readonly worth_margin_95: number | null;
  /** Whether the worth exceeds its noise, and the two conditions below hold where they are present. */
  readonly is_clear: boolean;
  /** Present with a plan: whether the delay is clearly better than the usual one on that plan. */
  readonly delay_is_clear?: boolean;
  /** Present with a plan of a higher price. */
  readonly saves_with_twice_the_requests?: boolean;
  readonly delay_s?: DelayChoice;
  readonly plan?: VendorPlan;
  readonly source?: string;
  /** New interval of the source; absent: the source is dropped. */
  readonly every_s?: number;
  /** If the source is dropped: the alternative of a longer interval, if it is within the limits. */
  readonly less_often?: Proposal;
  /** One size range for all computes. */
  readonly size?: { readonly min_cu: number; readonly max_cu: number };
};

/** Input for all proposals. */
export type ProposalInput = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly plan: PricedPlan;
  readonly priceList: PriceList;
  readonly usage: OtherUsage;
  readonly costs: Costs;
  /** Objective by which delays are chosen; see `stretched`. */
  readonly robust: Objective;
  readonly currentDelay: DelayChoice;
  /** Default delay of the platform in seconds. */
  readonly defaultDelayS: number;
  /** The shortest delay that meets the limit on the wait; undefined if none does. */
  readonly shortestWithinWait: SuspendDelay | undefined;
  /** Limit on the wait. It applies to p99 over all requests unless `waitWithoutMs` returns a wait. */
  readonly maxWaitMs: DurationMs | undefined;
  /** Wait that the limit applies to, if the source is dropped. */
  readonly waitWithoutMs: (source: string) => DurationMs | undefined;
  /** Wait that the limit applies to, if the source has its longer interval. */
  readonly waitSlowerMs: (source: string) => DurationMs | undefined;
  readonly figuresAt: (delay: DelayChoice) => PointFigures;
  readonly margins: DayMargins | { readonly missing: string };
  readonly heldOut: HeldOutSummary;
  /** Delays that `whatif apply` would set, and the resulting delay of each compute by its number. */
  readonly ownDelays: readonly OwnDelay[];
  readonly ownDelayOf: (compute: number) => SuspendDelay;
  /** Undefined if the requests name no sources. */
  readonly attribution: AttributionReport | undefined;
  readonly sizes: SizeChoices;
  /** Programs on a timer that may have a longer interval. */
  readonly slower: readonly SlowerSource[];
  /** Programs on a timer. Only these can be stopped; the other sources are what the computes are for. */
  readonly periodic: readonly PeriodicSource[];
};

/**
 * The best delay that a plan allows; undefined if none meets the limit on the wait. `priceRatio`: price on that plan
 * divided by the current one. A cold start is worth the same dollars, so it is worth more active time at a lower price.
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

/** The effect of one delay for all computes, at this multiple of the current price. */
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

/** Margins of a change; undefined if the record has too few days for intervals. */
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
  /** Compute cost of a month after the change. `startDollars` is the worth of its cold starts. */
  readonly computeDollars: number;
  readonly startDollars: number;
  readonly coldStartsPerDay: number;
  /** Bill of a month after the change; default: compute plus the other usage. */
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

/** Worth of the cold starts of a month at the current price, in dollars. */
export function startDollars({ figuresAt, costs, traffic }: ProposalInput, delay: DelayChoice): number {
  const { burden_s, active_s, cu_hours } = figuresAt(delay);
  const cuHours =
    typeof costs.cu === "number" ? ((burden_s - active_s) / HOUR_S) * costs.cu : burden_s / HOUR_S - cu_hours;
  return perMonth(cuHours * costs.pricePerCuHour, traffic.month_base_days * DAY);
}

/** Worth of avoiding one cold start at the current price, in dollars. */
export function dollarsPerStart({ robust, costs }: ProposalInput): number {
  const cu = typeof costs.cu === "number" ? costs.cu : 1;
  return (robust.worthS / HOUR_S) * cu * costs.pricePerCuHour;
}

/** Compute cost of a month, in dollars. */
export function computeDollars({ figuresAt, traffic }: ProposalInput, delay: DelayChoice): number {
  return perMonth(figuresAt(delay).cost, traffic.month_base_days * DAY);
}

/** Smallest saving a month that is worth a change. */
const MIN_SAVING_DOLLARS = 0.5;
const MIN_SAVING_SHARE = 0.01;

const HOUR_S = 3_600;
