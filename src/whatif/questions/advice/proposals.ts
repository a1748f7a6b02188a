import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { DAY, type DurationMs, SECOND } from "../../../kernel/time.ts";
import {
  ALLOWED_DELAYS,
  PRICED_PLANS,
  type PricedPlan,
  type PriceList,
} from "../../../platform/catalog/price-lists.ts";
import { bestOf, type Objective } from "../../choice/decision.ts";
import { type Costs, perMonth } from "../../gap-curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../../gap-curve/curve.ts";
import {
  ALL_DELAYS,
  isSettableDelay,
  isWithin,
  settableDelays,
  settableWithin,
} from "../../gap-curve/settable-delays.ts";
import type { HeldOutSummary } from "../../held-out/held-out-summary.ts";
import type { DayMargins, MarginChoice } from "../../held-out/margins.ts";
import { monthlySaving } from "../../held-out/monthly-saving.ts";
import type { QuestionSummary } from "../../input/question-summary.ts";
import type { PointFigures } from "../../replay/figures.ts";
import type { PeriodicSource } from "../../trace/periodic-sources.ts";
import type { TrafficSummary } from "../../trace/traffic-summary.ts";
import { type MonthlyBill, monthlyBill, type OtherUsage } from "../../units/bill.ts";
import { delayText, plural, spanText } from "../../units/number-format.ts";
import type { AttributionReport } from "../attribution/attribution-report.ts";
import { type OwnDelay, promisedTooMuch } from "./own-delays.ts";

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
  /** Half the width of the 95 % interval of the worth, for as much traffic as in the record; or null. */
  readonly worth_margin_95: number | null;
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
  /** That limit; it is on the 99th percentile over all requests unless `waitWithoutMs` knows the wait. */
  readonly maxWaitMs: DurationMs | undefined;
  /** The wait that the limit is about, without a source. */
  readonly waitWithoutMs: (source: string) => DurationMs | undefined;
  readonly figuresAt: (delay: DelayChoice) => PointFigures;
  readonly margins: DayMargins | { readonly missing: string };
  readonly heldOut: HeldOutSummary;
  /** What `whatif apply` would set, and the delay of each compute by its number then. */
  readonly ownDelays: readonly OwnDelay[];
  readonly ownDelayOf: (compute: number) => SuspendDelay;
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

/**
 * The delay of choice of those that a plan allows; undefined if none of them meets the limit on the wait. `priceRatio`: of
 * the price on that plan to the current one. A cold start is worth the same dollars, so more active time if that is cheaper.
 */
function bestSettable(input: ProposalInput, plan: PricedPlan, priceRatio = 1): SuspendDelay | undefined {
  const { robust, shortestWithinWait: shortest, defaultDelayS } = input;
  if (shortest === undefined) return undefined;
  const ranges = settableWithin(settableDelays(plan, defaultDelayS), { ...ALL_DELAYS, shortest });
  if (ranges.length === 0) return undefined;
  return bestOf({ ...robust, worthS: Math.round(robust.worthS / priceRatio) }, ranges);
}

function delayProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const delay = bestSettable(input, input.plan);
  if (delay === undefined || delay === input.currentDelay) return [];
  const change =
    delay === "never" ? "Disable autosuspend" : `Set the autosuspend delay to ${delayText(delay)}`;
  return [proposal(input, bill, { kind: "delay", change, delay_s: delay, ...delayChange(input, delay) })];
}

/** One delay for all computes, at a price that is this many times the current one. */
function delayChange(input: ProposalInput, delay: DelayChoice, priceRatio = 1) {
  const margins = marginsOf(input, delay, { priceRatio });
  return {
    computeDollars: computeDollars(input, delay) * priceRatio,
    coldStartsPerDay: input.figuresAt(delay).cold_starts_per_day,
    startDollars: startDollars(input, delay),
    marginDollars: margins === undefined ? null : margins.saves.margin95,
    worthMarginDollars: margins === undefined ? null : margins.worth.margin95,
  };
}

function marginsOf(
  { margins, costs, currentDelay }: ProposalInput,
  to: MarginChoice,
  { from = currentDelay, priceRatio = 1 }: { readonly from?: DelayChoice; readonly priceRatio?: number } = {},
) {
  return "missing" in margins ? undefined : monthlySaving(margins, costs, { to, from, priceRatio });
}

/**
 * Delays of their own only if they save more than one for all: on days that they were not chosen on, and on all days by more
 * than the noise. Those that are set are chosen on all days, of which they promise too much.
 */
function computeProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const { heldOut, plan, maxWaitMs, ownDelays, currentDelay } = input;
  if ("missing" in heldOut || heldOut.recommended === "fleet" || ALLOWED_DELAYS[plan] !== "all") return [];
  // The wait under them is not known.
  if (maxWaitMs !== undefined || ownDelays.length === 0) return [];
  const saving = marginsOf(input, input.ownDelayOf);
  const thanForAll = marginsOf(input, input.ownDelayOf, { from: bestSettable(input, plan) ?? currentDelay });
  if (saving === undefined || thanForAll === undefined) return [];
  const { saves, worth, coldStartsPerDay } = saving;
  const [now, startsNow] = [computeDollars(input, currentDelay), startDollars(input, currentDelay)];
  const tooMuch = (promisedTooMuch(heldOut) / 100) * (now + startsNow);
  if (thanForAll.worth.value - tooMuch <= thanForAll.worth.margin95) return [];
  return [
    proposal(input, bill, {
      kind: "delays_by_compute",
      change: `Set a delay of its own for ${plural(ownDelays.length, "compute")} (standin whatif apply)`,
      computeDollars: now - saves.value,
      coldStartsPerDay: input.figuresAt(currentDelay).cold_starts_per_day + coldStartsPerDay,
      startDollars: startsNow + saves.value - worth.value + tooMuch,
      marginDollars: saves.margin95,
      worthMarginDollars: worth.margin95,
    }),
  ];
}

function sourceProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const { attribution, currentDelay, traffic, periodic, maxWaitMs = Number.POSITIVE_INFINITY } = input;
  const isNotKnown = "missing" in input.margins;
  if (attribution === undefined) return [];
  const intervals = new Map(periodic.map(({ source, everyMs }) => [source, everyMs]));
  const baseMs = traffic.month_base_days * DAY;
  const current = input.figuresAt(currentDelay).cold_starts_per_day;
  return (
    attribution.sources
      // Without a check that keeps computes active, others wait for starts.
      .filter(
        ({ source, saves_cost, without }) =>
          intervals.has(source) &&
          saves_cost > 0 &&
          (input.waitWithoutMs(source) ?? without.wait_p99_ms) <= maxWaitMs,
      )
      .map(({ source, saves_cost, more_cold_starts, margin_95 }) => {
        const perStart = dollarsPerStart(input);
        const margin = margin_95 === null || isNotKnown ? null : perMonth(margin_95.saves_cost, baseMs);
        return proposal(input, bill, {
          kind: "source",
          change: `Drop ${source} (every ${spanText((intervals.get(source) ?? 0) / SECOND)}), or send it less often or elsewhere`,
          source,
          computeDollars: computeDollars(input, currentDelay) - perMonth(saves_cost, baseMs),
          coldStartsPerDay: current + more_cold_starts / traffic.days,
          startDollars: startDollars(input, currentDelay) + perMonth(more_cold_starts, baseMs) * perStart,
          marginDollars: margin,
          // Cost and cold starts vary together; adding their margins is on the safe side.
          worthMarginDollars:
            margin === null || margin_95 === null
              ? null
              : margin + perMonth(margin_95.more_cold_starts, baseMs) * perStart,
        });
      })
  );
}

function planProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const { plan, priceList, question } = input;
  if (question.price_list === null) return [];
  return PRICED_PLANS.filter((other) => other !== plan).flatMap((other) => {
    const ratio = priceList.perCuHour[other] / priceList.perCuHour[plan];
    return delaysOnPlan(input, other, ratio).map((delay) =>
      proposal(input, bill, {
        kind: "plan",
        change: `Move to the plan ${other} with ${delay === "never" ? "autosuspend disabled" : `a delay of ${delayText(delay)}`}`,
        plan: other,
        delay_s: delay,
        ...delayChange(input, delay, ratio),
      }),
    );
  });
}

/** The best one, and the current one, which saves the difference of the prices on all days. */
function delaysOnPlan(input: ProposalInput, plan: PricedPlan, priceRatio: number): readonly DelayChoice[] {
  const { currentDelay, defaultDelayS, shortestWithinWait } = input;
  const best = bestSettable(input, plan, priceRatio);
  if (best === undefined) return [];
  const isCurrentAllowed =
    currentDelay !== "own" &&
    isSettableDelay(settableDelays(plan, defaultDelayS), currentDelay) &&
    isWithin({ shortest: shortestWithinWait ?? "never", longest: "never" }, currentDelay);
  return isCurrentAllowed && best !== currentDelay ? [best, currentDelay] : [best];
}

type Change = Pick<Proposal, "kind" | "change" | "delay_s" | "plan" | "source"> & {
  /** A month's compute after the change, and its cold starts at their worth. */
  readonly computeDollars: number;
  readonly startDollars: number;
  readonly coldStartsPerDay: number;
  readonly marginDollars: number | null;
  readonly worthMarginDollars: number | null;
};

function proposal(input: ProposalInput, bill: MonthlyBill, change: Change): Proposal {
  const {
    computeDollars: dollars,
    startDollars: starts,
    coldStartsPerDay,
    marginDollars,
    worthMarginDollars,
    ...named
  } = change;
  const saves = bill.dollars_per_month - monthlyBill(dollars, input.usage, input.priceList).dollars_per_month;
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
    is_clear: worth > noise,
  });
}

/** A month's cold starts at their worth, at the current price. */
function startDollars({ figuresAt, costs, traffic }: ProposalInput, delay: DelayChoice): number {
  const { burden_s, active_s, cu_hours } = figuresAt(delay);
  const cuHours =
    typeof costs.cu === "number" ? ((burden_s - active_s) / HOUR_S) * costs.cu : burden_s / HOUR_S - cu_hours;
  return perMonth(cuHours * costs.pricePerCuHour, traffic.month_base_days * DAY);
}

/** What avoiding one cold start is worth, at the current price. */
function dollarsPerStart({ robust, costs }: ProposalInput): number {
  const cu = typeof costs.cu === "number" ? costs.cu : 1;
  return (robust.worthS / HOUR_S) * cu * costs.pricePerCuHour;
}

/** A month's compute. */
export function computeDollars({ figuresAt, traffic }: ProposalInput, delay: DelayChoice): number {
  return perMonth(figuresAt(delay).cost, traffic.month_base_days * DAY);
}

const HOUR_S = 3_600;
