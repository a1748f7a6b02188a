import { isoInstant } from "../../kernel/calendar.ts";
import { DAY, HOUR, SECOND } from "../../kernel/time.ts";
import { perMonth } from "../gap-curve/costs.ts";
import { delaySeconds, type SuspendDelay } from "../gap-curve/delay.ts";
import { isSettableDelay, type SettableDelays } from "../gap-curve/settable-delays.ts";
import type { ReportLimits } from "../page/page-layout.ts";
import { type AccountFleet, daysOf, type OmittedFigures, omittedFigures } from "./account-fleet.ts";
import { estimateCompute } from "./compute-estimate.ts";
import { type DelayExperiment, delayExperiments } from "./delay-experiments.ts";
import { type Bounds, type DelayBounds, PeriodBounds } from "./period-bounds.ts";

/** Delays that are always reported, besides "never". In seconds. */
const LADDER_S = [60, 120, 180, 300, 600, 900, 1_800, 3_600, 14_400, 43_200, 86_400, 604_800];

export type AccountQuestion = {
  readonly pricePerCuHour: number;
  /** Worth of a cold start in seconds of active time. */
  readonly coldStartS: number;
  readonly settable: SettableDelays;
  /** Delays to answer for in addition to the usual ones. */
  readonly delays: readonly SuspendDelay[];
};

/** A figure that lies between two values for every traffic that could have caused the periods. */
export type BoundedFigure = Bounds;

export type AccountDelay = {
  readonly delay_s: SuspendDelay;
  readonly is_settable: boolean;
  /**
   * True if no compute has a longer delay. Then only the resolution of instants is unknown, and when the first request
   * of computes arrived that were started at their creation. False if one of these may have had no request.
   */
  readonly is_exact: boolean;
  readonly cold_starts_per_day: BoundedFigure;
  readonly active_h_per_day: BoundedFigure;
  readonly cost_dollars_per_month: BoundedFigure;
  /** Saving compared with the recorded setting. Each additional cold start is deducted at its worth. */
  readonly net_saving_dollars_per_month: BoundedFigure;
  /** Estimate by the model of short gaps; null where figures are exact, or if no delay is known. */
  readonly estimate: {
    readonly cold_starts_per_day: number;
    readonly cost_dollars_per_month: number;
    readonly net_saving_dollars_per_month: number;
  } | null;
};

export type AccountCurve = {
  readonly account: {
    readonly computes: number;
    readonly computes_used: number;
    readonly operations: number;
    readonly periods: number;
    readonly periods_with_known_delay: number;
    readonly from: string;
    readonly to: string;
    readonly days: number;
  };
  readonly recorded: {
    /** Each delay with the number of computes that have it. */
    readonly delays: readonly { readonly delay_s: SuspendDelay; readonly computes: number }[];
    readonly cold_starts_per_day: number;
    readonly active_h_per_day: number;
    readonly cost_dollars_per_month: number;
    /** Starts at the creation of a compute without a request, and their active time, which the figures above omit. */
    readonly starts_without_request: number;
    readonly active_h_without_request: number;
  };
  /** Computes that had a shorter delay than now for a while, between two pulls: an experiment. */
  readonly experiments: readonly DelayExperiment[];
  readonly reconciliation: {
    readonly hours: number;
    readonly metered_active_h: number;
    readonly active_h_by_operations: number;
    readonly hours_that_differ: number;
    /** Totals that the other figures omit because of hours that differ; null if nothing is omitted. */
    readonly omitted: OmittedFigures | null;
  };
  readonly question: { readonly price_per_cu_hour: number; readonly cold_start_worth_s: number };
  readonly delays: readonly AccountDelay[];
  readonly limits: ReportLimits;
};

export function accountCurve(fleet: AccountFleet, question: AccountQuestion): AccountCurve {
  const delays = answeredDelays(question);
  const bounds = new PeriodBounds(delays, question.coldStartS * SECOND);
  const inForce = new Map<SuspendDelay, number>();
  const had = new Set<SuspendDelay>();
  for (const { periods, endAt, cu, delay, weight } of fleet.computes) {
    bounds.addCompute(periods, endAt, cu, weight);
    for (const own of periods.delays()) had.add(own);
    if (periods.length > 0 && delay !== undefined) inForce.set(delay, (inForce.get(delay) ?? 0) + 1);
  }
  const { recorded } = bounds;
  const days = daysOf(fleet);
  const longest = Math.max(0, ...[...inForce.keys(), ...had].map(delaySeconds));
  const withKnownDelay = fleet.computes.reduce((sum, { periods }) => sum + periods.countKnownDelays(), 0);
  const isKnown = withKnownDelay === recorded.periods;
  const estimates = estimatesOf(fleet, delays);
  const monthly = (cuMs: number) => perMonth((cuMs / HOUR) * question.pricePerCuHour, days * DAY);
  return {
    account: {
      computes: fleet.computes.length,
      computes_used: recorded.computes,
      operations: fleet.operations,
      periods: recorded.periods,
      periods_with_known_delay: withKnownDelay,
      ...{ from: isoInstant(fleet.startAt), to: isoInstant(fleet.endAt), days },
    },
    recorded: {
      delays: [...inForce]
        .map(([delay_s, computes]) => ({ delay_s, computes }))
        .sort((a, b) => b.computes - a.computes || delaySeconds(a.delay_s) - delaySeconds(b.delay_s)),
      cold_starts_per_day: recorded.coldStarts / days,
      active_h_per_day: recorded.activeMs / HOUR / days,
      cost_dollars_per_month: monthly(recorded.cuMs),
      starts_without_request: recorded.unused.starts,
      active_h_without_request: recorded.unused.activeMs / HOUR,
    },
    experiments: delayExperiments(fleet),
    reconciliation: {
      hours: fleet.reconciliation.frames,
      metered_active_h: (fleet.reconciliation.meteredS * SECOND) / HOUR,
      active_h_by_operations: (fleet.reconciliation.byOperationsS * SECOND) / HOUR,
      hours_that_differ: fleet.reconciliation.different.length,
      omitted: omittedFigures(fleet),
    },
    question: { price_per_cu_hour: question.pricePerCuHour, cold_start_worth_s: question.coldStartS },
    delays: bounds.results().map((result, index) => {
      const isExact = isKnown && recorded.unused.starts === 0 && delaySeconds(result.delay) >= longest;
      const estimate = estimates?.[index];
      return {
        delay_s: result.delay,
        is_settable: isSettableDelay(question.settable, result.delay),
        is_exact: isExact,
        ...figuresOf(result, days, monthly),
        estimate:
          isExact || estimate === undefined
            ? null
            : estimated(estimate, result, recorded, question.coldStartS * SECOND, days, monthly),
      };
    }),
    limits: ACCOUNT_LIMITS,
  };
}

function figuresOf(
  { coldStarts, activeMs, cuMs, netSavingCuMs }: DelayBounds,
  days: number,
  monthly: (cuMs: number) => number,
) {
  const each = ({ least, most }: Bounds, of: (value: number) => number) => ({
    least: of(least),
    most: of(most),
  });
  return {
    cold_starts_per_day: each(coldStarts, (count) => count / days),
    active_h_per_day: each(activeMs, (ms) => ms / HOUR / days),
    cost_dollars_per_month: each(cuMs, monthly),
    net_saving_dollars_per_month: each(netSavingCuMs, monthly),
  };
}

type FleetEstimate = { coldStarts: number; cuMs: number; coldCu: number };

/** Estimated totals of all computes by delay; undefined if no period has a known last request. */
function estimatesOf(
  { computes }: AccountFleet,
  delays: readonly SuspendDelay[],
): readonly FleetEstimate[] | undefined {
  const sums = delays.map((): FleetEstimate => ({ coldStarts: 0, cuMs: 0, coldCu: 0 }));
  let isAnyModelled = false;
  for (const { periods, endAt, cu, weight } of computes) {
    const { byDelay, isModelled } = estimateCompute(periods, endAt, delays);
    isAnyModelled ||= isModelled;
    for (const [index, { coldStarts, activeMs }] of byDelay.entries()) {
      const sum = sums[index] as FleetEstimate;
      sum.coldStarts += weight * coldStarts;
      sum.cuMs += weight * activeMs * cu;
      sum.coldCu += weight * coldStarts * cu;
    }
  }
  return isAnyModelled ? sums : undefined;
}

/** Clamps the estimate to the bounds, which hold for every traffic. */
function estimated(
  { coldStarts, cuMs, coldCu }: FleetEstimate,
  bounds: DelayBounds,
  recorded: PeriodBounds["recorded"],
  worthMs: number,
  days: number,
  monthly: (cuMs: number) => number,
): AccountDelay["estimate"] {
  const net = recorded.cuMs - cuMs - worthMs * (coldCu - recorded.coldCu);
  return {
    cold_starts_per_day: clamp(coldStarts, bounds.coldStarts) / days,
    cost_dollars_per_month: monthly(clamp(cuMs, bounds.cuMs)),
    net_saving_dollars_per_month: monthly(clamp(net, bounds.netSavingCuMs)),
  };
}

function clamp(value: number, { least, most }: Bounds): number {
  return Math.min(most, Math.max(least, value));
}

function answeredDelays({ delays, settable }: AccountQuestion): SuspendDelay[] {
  const offered: readonly SuspendDelay[] = settable === "all" ? [...LADDER_S, "never"] : settable;
  return [...new Set<SuspendDelay>([...offered, ...delays])].sort(
    (a, b) => delaySeconds(a) - delaySeconds(b),
  );
}

const MODEL_ASSUMPTION =
  "a model, not a measurement. It assumes that the number of gaps falls exponentially with their length, below the delay in force as just above it.";

const ACCOUNT_LIMITS: ReportLimits = {
  exact: [],
  simulated: [
    "Bounds: no traffic that could have caused the recorded starts and suspends has figures outside of them. Instants are known to a second.",
    `Estimate: ${MODEL_ASSUMPTION}`,
  ],
  left_out: [
    "The start of a compute at its creation, if it suspends one delay later. Starts by a call or a restart count as if a request had caused them.",
    "The time that additional starts take, and the requests that wait for them.",
    "Sizes within a period: each compute has the mean size that its project was metered with.",
  ],
};
