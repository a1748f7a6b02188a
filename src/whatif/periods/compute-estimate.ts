import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import { RESOLUTION_MS } from "./active-periods.ts";
import { GapSums } from "./gap-sums.ts";
import type { PeriodColumns } from "./period-columns.ts";
import { ShortGapModel } from "./short-gaps.ts";

/** Totals of a compute by delay. The model of short gaps supplies what operations do not show. */
type ComputeEstimate = {
  /** Totals in the order of the delays. */
  readonly byDelay: readonly EstimatedTotals[];
  /** False if no last request is known, so that all periods count as they were. */
  readonly isModelled: boolean;
};

type EstimatedTotals = { readonly coldStarts: number; readonly activeMs: DurationMs };

/** Estimates the totals of a compute under each delay. Periods whose last request is unknown count as recorded. */
export function estimateCompute(
  periods: PeriodColumns,
  endAt: SimTime,
  delays: readonly SuspendDelay[],
): ComputeEstimate {
  const { byDelay, others } = groupedByDelay(periods, endAt);
  const totals = delays.map((delay) => {
    let { coldStarts, activeMs } = others;
    for (const group of byDelay) {
      const sum = group.under(delay);
      coldStarts += sum.coldStarts;
      activeMs += sum.activeMs;
    }
    return { coldStarts, activeMs };
  });
  return { byDelay: totals, isModelled: byDelay.length > 0 };
}

function groupedByDelay(periods: PeriodColumns, endAt: SimTime) {
  const byDelay = new Map<number, PeriodsOfDelay>();
  const others = { coldStarts: 0, activeMs: 0 };
  for (let index = 0; index < periods.length; index += 1) {
    const isOver = !periods.isLastOfRecord(index);
    const suspendedAt = periods.lastActiveAt(index, endAt);
    const activeMs = suspendedAt - periods.activeAt(index);
    if (!periods.isLastRequestKnown(index)) {
      if (isOver) others.coldStarts += 1;
      others.activeMs += Math.max(0, activeMs);
      continue;
    }
    const delayS = periods.delayS[index] as number;
    const windowMs = activeMs - delayS * SECOND;
    // A period that began with the creation and was idle for one delay most likely had no request.
    if (periods.isByCreation(index) && windowMs <= RESOLUTION_MS) continue;
    const lastEnd = suspendedAt - delayS * SECOND;
    const next = isOver ? (periods.requestedAt[index + 1] as number) : periods.recordEnd(index, endAt);
    let group = byDelay.get(delayS);
    if (group === undefined) {
      group = new PeriodsOfDelay(delayS, periods.length - index);
      byDelay.set(delayS, group);
    }
    group.add(Math.max(0, windowMs), next - lastEnd, isOver);
  }
  return { byDelay: [...byDelay.values()], others };
}

/** The periods of one compute that had the same delay, and whose last request is known. */
class PeriodsOfDelay {
  readonly #delayS: number;
  readonly #gapsMs: Float64Array;
  #gaps = 0;
  #periods = 0;
  /** Total time from the first request of a period to the end of its last one. */
  #windowMs = 0;
  /** Times from the last request of a record to its end. */
  readonly #lastMs: DurationMs[] = [];
  #known: { readonly gaps: GapSums; readonly model: ShortGapModel } | undefined;

  /** `capacity`: the most periods that it may get. */
  constructor(delayS: number, capacity: number) {
    this.#delayS = delayS;
    this.#gapsMs = new Float64Array(capacity);
  }

  /** `isOver`: whether a request ended the gap after the period. */
  add(windowMs: DurationMs, gapMs: DurationMs, isOver: boolean): void {
    this.#periods += 1;
    this.#windowMs += windowMs;
    if (isOver) {
      this.#gapsMs[this.#gaps] = gapMs;
      this.#gaps += 1;
    } else this.#lastMs.push(gapMs);
  }

  under(delay: SuspendDelay): EstimatedTotals {
    this.#known ??= this.#sorted();
    const { gaps, model } = this.#known;
    if (delay === "never") return this.#shown(gaps, Number.POSITIVE_INFINITY);
    if (delay >= this.#delayS) return this.#shown(gaps, delay * SECOND);
    const recorded = this.#shown(gaps, this.#delayS * SECOND);
    const added = model.estimate(delay);
    return {
      coldStarts: recorded.coldStarts + this.#periods * added.coldStarts,
      activeMs: Math.max(0, recorded.activeMs - this.#periods * added.savedMs),
    };
  }

  /** Totals under a delay that is not shorter than the one in force: the periods show them. */
  #shown(gaps: GapSums, limitMs: DurationMs): EstimatedTotals {
    const lastMs = this.#lastMs.reduce((sum, ms) => sum + Math.min(ms, limitMs), 0);
    return {
      coldStarts: gaps.countLongerThan(limitMs),
      activeMs: this.#windowMs + gaps.sumUpTo(limitMs) + lastMs,
    };
  }

  #sorted() {
    const gaps = new GapSums(this.#gapsMs.subarray(0, this.#gaps));
    const delayMs = this.#delayS * SECOND;
    const known = {
      ...{ periods: this.#periods, windowMs: this.#windowMs, gaps: this.#gaps },
      nearGaps: this.#gaps - gaps.countLongerThan(2 * delayMs),
    };
    return { gaps, model: new ShortGapModel(known, delayMs) };
  }
}
