import { DAY, type DurationMs } from "../../../kernel/time.ts";
import { bestOf, type Objective } from "../../choice/decision.ts";
import { stretched } from "../../choice/robust-delay.ts";
import { billOf, type Costs, perMonth, startWorthS } from "../../gap-curve/costs.ts";
import { type Curve, clairvoyantBound, curveOf, pointAt } from "../../gap-curve/curve.ts";
import type { CurveReading } from "../../gap-curve/curve-reading.ts";
import type { DelayChoice, SuspendDelay } from "../../gap-curve/delay.ts";
import { ALL_DELAYS, type SettableDelays, settableWithin } from "../../gap-curve/settable-delays.ts";
import { effectiveDelay, type Question } from "../../input/question.ts";
import { type ChosenPoint, type PointFigures, pointFigures, withoutDelay } from "../../replay/figures.ts";
import type { FleetScaledTime } from "../../replay/scaled-time.ts";
import { monthBaseMs } from "../../trace/month-base.ts";
import { meanLatencyMs } from "../../units/mean-latency.ts";

/** Savings; negative where the best delay costs more. */
export type Saving = {
  readonly cu_hours: number;
  readonly cost: number;
  readonly share: number;
  readonly cold_starts: number;
};

/** The curve of all computes together, weighted by size if sizes differ. */
export class FleetCurve {
  readonly curve: Curve;
  /** Costs with the worth of a cold start in this traffic. */
  readonly costs: Costs;
  readonly objective: Objective;
  /** Objective by which delays are chosen; see `stretched`. */
  readonly robust: Objective;
  /** Delay that is chosen without limits, of those that the plan allows. */
  readonly best: ChosenPoint;
  readonly settable: SettableDelays;
  readonly startMs: DurationMs;
  readonly #reading: CurveReading;
  readonly #cuWeighted: Curve | undefined;
  readonly #scaled: FleetScaledTime | undefined;
  readonly #ownScaledCuMs: number;

  /** `scaled`: time of the computes that scale; undefined if there are none. */
  constructor(reading: CurveReading, question: Question, scaled: FleetScaledTime | undefined) {
    this.#reading = reading;
    this.#scaled = scaled;
    this.#ownScaledCuMs = scaled === undefined ? 0 : ownScaledCuMs(scaled, question);
    this.curve = curveOf(reading.gaps);
    this.#cuWeighted = reading.cuWeighted === undefined ? undefined : curveOf(reading.cuWeighted);
    this.settable = question.settable;
    if (this.#cuWeighted !== undefined && scaled !== undefined)
      this.#cuWeighted = withScaledTime(this.#cuWeighted, scaled);
    this.startMs = meanLatencyMs(question.latency);
    this.costs = { ...question.costs, coldStartS: startWorthS(question.costs, reading.gaps) };
    this.objective = { curve: this.#objectiveCurve(), worthS: this.costs.coldStartS };
    this.robust = stretched(this.objective);
    this.best = this.pointAt(bestOf(this.robust, settableWithin(question.settable, ALL_DELAYS)));
  }

  /** The point of a delay, or for "own" the totals. Throws a RangeError for a delay outside the curve. */
  pointAt(delay: DelayChoice): ChosenPoint {
    const cuWeighted = this.#cuWeighted;
    if (delay !== "own") {
      const weighted = cuWeighted === undefined ? undefined : pointAt(cuWeighted, delay);
      return {
        ...pointAt(this.curve, delay),
        cuMs: weighted?.activeMs,
        cuColdStarts: weighted?.coldStarts,
      };
    }
    const { own } = this.#reading;
    if (own === undefined) throw new Error("the computes have no delays of their own");
    const cuMs = own.cuMs + this.#ownScaledCuMs;
    return { delay, ...own, cuMs, coldStartsPerDay: (own.coldStarts * DAY) / this.curve.periodMs };
  }

  /** CU time above the smallest size of a compute; 0 if it does not scale. */
  scaledCuMs(compute: number, delay: SuspendDelay): number {
    return this.#scaled?.computes.get(compute)?.at(delay) ?? 0;
  }

  /** Figures of a point. Assumes one start of mean length for each arrival at a suspended compute. */
  figures(point: ChosenPoint): PointFigures {
    const { arrivals, firstStarts, periodMs } = this.curve;
    return pointFigures(point, this.costs, { periodMs, startMs: this.startMs, arrivals, firstStarts });
  }

  /** Time from which monthly figures are extrapolated; see `monthBaseMs`. */
  get monthBaseMs(): DurationMs {
    const { periodMs, neverActiveMs, firstStarts } = this.curve;
    return monthBaseMs(periodMs, neverActiveMs, firstStarts);
  }

  costPerMonth(delay: DelayChoice): number {
    return perMonth(billOf(this.pointAt(delay), this.costs).cost, this.monthBaseMs);
  }

  /** Whether a cold start is worth the same active time for each compute. */
  get hasOneWorth(): boolean {
    return this.#reading.bound === undefined;
  }

  /** Saving of the best delay compared with another choice. */
  savingOf(current: ChosenPoint): Saving {
    const { best } = this;
    const cuMs = current.cuMs === undefined || best.cuMs === undefined ? undefined : current.cuMs - best.cuMs;
    const saved = billOf({ activeMs: current.activeMs - best.activeMs, cuMs }, this.costs);
    return {
      cu_hours: saved.cuHours,
      cost: saved.cost,
      share: current.activeMs === 0 ? 0 : saved.cuHours / billOf(current, this.costs).cuHours,
      cold_starts: current.coldStarts - best.coldStarts,
    };
  }

  perfectForesight(): Omit<PointFigures, "delay_s"> {
    const { coldStartS } = this.costs;
    const { gaps, cuWeighted, bound } = this.#reading;
    if (bound !== undefined) {
      const coldStartsPerDay = (bound.coldStarts * DAY) / this.curve.periodMs;
      const cuMs = bound.cuMs + (this.#scaled?.fleet.busyCuMs ?? 0);
      return withoutDelay(this.figures({ ...bound, cuMs, coldStartsPerDay, delay: 0 }));
    }
    const weighted = cuWeighted === undefined ? undefined : clairvoyantBound(cuWeighted, coldStartS);
    const cuMs = weighted && weighted.activeMs + (this.#scaled?.fleet.busyCuMs ?? 0);
    const sized = { cuMs, cuColdStarts: weighted?.coldStarts };
    return withoutDelay(this.figures({ ...clairvoyantBound(gaps, coldStartS), ...sized, delay: 0 }));
  }

  /**
   * Curve over CU time if sizes differ, because a large compute costs more; so do its cold starts unless their worth is
   * in dollars.
   */
  #objectiveCurve(): Curve {
    const { coldStarts } = this.curve;
    if (this.#cuWeighted === undefined) return this.curve;
    return this.costs.dollars === undefined ? this.#cuWeighted : { ...this.#cuWeighted, coldStarts };
  }
}

/** Adds CU time above the smallest sizes to a curve. */
function withScaledTime(curve: Curve, { fleet }: FleetScaledTime): Curve {
  return {
    ...curve,
    activeMs: curve.activeMs.map((cuMs, delay) => cuMs + fleet.at(delay)),
    neverActiveMs: curve.neverActiveMs + fleet.at("never"),
    busyMs: curve.busyMs + fleet.busyCuMs,
  };
}

function ownScaledCuMs({ computes }: FleetScaledTime, question: Question): number {
  let cuMs = 0;
  for (const [number, scaled] of computes)
    cuMs += scaled.at(effectiveDelay(question, question.currentDelay, number));
  return cuMs;
}
