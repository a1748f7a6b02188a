import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import { RESOLUTION_MS } from "./active-periods.ts";
import { GapSums } from "./gap-sums.ts";
import type { PeriodColumns } from "./period-columns.ts";
import { ShortGapModel } from "./short-gaps.ts";

/** What each delay would have meant for a compute, by the model of short gaps where operations do not show it. */
type ComputeEstimate = {
  /** In the order of the delays. */
  readonly byDelay: readonly EstimatedTotals[];
  /** False if no last request is known, so that all periods count as they were. */
  readonly isModelled: boolean;
};

type EstimatedTotals = { readonly coldStarts: number; readonly activeMs: DurationMs };

/** Periods whose last request is not known count as they were. */
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
    // Started at its creation, and idle for one delay: most likely without a request.
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
  /** From the first request to the end of the last one. */
  #windowMs = 0;
  /** From the last request of a record to its end. */
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

  /** Of a delay that is not shorter than the one in force. */
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
