import { beats, frontSize, onFront, shortestWithAsFew } from "../../choice/pareto.ts";
import { nearestCliff } from "../../choice/robust-delay.ts";
import { type DelayChoice, delayMs, delaySeconds, type SuspendDelay } from "../../gap-curve/delay.ts";
import { isSettableDelay } from "../../gap-curve/settable-delays.ts";
import type { DayMargins, FigureMargins, MarginsOf } from "../../held-out/margins.ts";
import { type NamedMargins, namedMargins } from "../../held-out/named-margins.ts";
import { waitsMsAt } from "../../trace/long-gap-waits.ts";
import type { LongGaps } from "../../trace/long-gaps.ts";
import type { FleetCurve } from "./fleet-curve.ts";

/** The delays that no other delay beats in both cost and cold starts. */
export type ParetoSummary = {
  /** Number of delays on the front, from 60 s to 7 days and "never". */
  readonly delays: number;
  /**
   * A point that beats the current setting: better in cost or cold starts and not worse in the other. Null if there is
   * none, if the plan does not allow it, or if it is at a cliff.
   */
  readonly present_beaten_by_s: SuspendDelay | null;
  /** Margins of the differences between that point and the current setting; null without intervals. */
  readonly present_beaten_margin_95: FigureMargins | null;
  /** Selected points of the front, by ascending delay. */
  readonly points: readonly ParetoPoint[];
};

export type ParetoPoint = {
  readonly delay_s: SuspendDelay;
  readonly cost_dollars_per_month: number;
  readonly cold_starts_per_day: number;
  /** Mean wait over all requests, with starts of mean length; null if unknown. */
  readonly wait_mean_ms: number | null;
  /** Cost of each avoided cold start compared with the previous point, in dollars. */
  readonly dollars_per_avoided_cold_start: number | null;
} & NamedMargins<ParetoMargins>;

type ParetoMargins = FigureMargins & { readonly dollars_per_avoided_cold_start: number | null };

/** `delays`: each selects the delay on the front with as few cold starts. */
export function paretoSummary(
  fleet: FleetCurve,
  currentDelay: DelayChoice,
  delays: readonly SuspendDelay[],
  longGaps: LongGaps | undefined,
  margins: DayMargins | { readonly missing: string },
): ParetoSummary {
  const { curve } = fleet;
  const current = fleet.pointAt(currentDelay);
  const rival = shortestWithAsFew(curve, current.coldStarts);
  const shown = new Set([...delays.map((delay) => onFront(curve, delay)), rival]);
  const points = paretoPoints(
    [...shown].sort((a, b) => delaySeconds(a) - delaySeconds(b)),
    fleet,
    longGaps,
    margins,
  );
  const outcome = (delay: DelayChoice) => ({
    cost: fleet.costPerMonth(delay),
    coldStarts: fleet.pointAt(delay).coldStarts,
  });
  // A delay at a cliff loses its advantage once a gap gets longer.
  const isOffered = isSettableDelay(fleet.settable, rival) && nearestCliff(curve, rival)?.delayS !== rival;
  const isBeaten = isOffered && beats(outcome(rival), outcome(currentDelay));
  return {
    delays: frontSize(curve),
    present_beaten_by_s: isBeaten ? rival : null,
    present_beaten_margin_95:
      !isBeaten || "missing" in margins ? null : margins.change(rival, currentDelay).days,
    points,
  };
}

/** `delays`: ascending. */
function paretoPoints(
  delays: readonly SuspendDelay[],
  fleet: FleetCurve,
  longGaps: LongGaps | undefined,
  margins: DayMargins | { readonly missing: string },
): readonly ParetoPoint[] {
  const { arrivals } = fleet.curve;
  const waitsMs = longGaps === undefined ? undefined : waitsMsAt(longGaps, delays.map(delayMs));
  const points = delays.map((delay) => ({
    delay,
    dollars: fleet.costPerMonth(delay),
    starts: fleet.pointAt(delay).coldStartsPerDay,
  }));
  return points.map(({ delay, dollars, starts }, index) => {
    const before = points[index - 1];
    return {
      delay_s: delay,
      cost_dollars_per_month: dollars,
      cold_starts_per_day: starts,
      wait_mean_ms: waitsMs === undefined || arrivals === 0 ? null : (waitsMs[index] as number) / arrivals,
      dollars_per_avoided_cold_start:
        before === undefined
          ? null
          : (dollars - before.dollars) / ((before.starts - starts) * (MONTH_HOURS / DAY_HOURS)),
      ...namedMargins(margins, (of) => paretoMargins(of, delay, before?.delay)),
    };
  });
}

function paretoMargins(
  margins: DayMargins,
  delay: SuspendDelay,
  before: SuspendDelay | undefined,
): MarginsOf<ParetoMargins> {
  const figures = margins.figures(delay);
  const perStart = before === undefined ? undefined : margins.perAvoidedStart(delay, before);
  return {
    days: { ...figures.days, dollars_per_avoided_cold_start: perStart?.days ?? null },
    all: { ...figures.all, dollars_per_avoided_cold_start: perStart?.all ?? null },
  };
}

const MONTH_HOURS = 730;
const DAY_HOURS = 24;
