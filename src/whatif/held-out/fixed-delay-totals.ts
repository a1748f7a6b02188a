import { DAY, type DurationMs, SECOND } from "../../kernel/time.ts";
import { type Costs, sizeOf } from "../gap-curve/costs.ts";
import { delayMs, type SuspendDelay } from "../gap-curve/delay.ts";
import type { LongGaps } from "../trace/long-gaps.ts";
import type { DayTotals } from "./day-totals.ts";

/** Maximum number of sums by cell and delay: 80 MB. With more, each delay takes a pass of its own. */
const MAX_SUMS = 2_000_000;
/** Sizes must be multiples of this, so that CU times add up without rounding in any order. */
const EXACT_CU = 2 ** -10;

/**
 * The totals of `cellTotals` for many delays, each the same for all computes, from one pass over the gaps. The idle
 * time of a gap under a delay is the difference of two ramps: time from the start of the gap to the delay, minus time
 * from its end to the delay. So for each cell and delay, the number and the sum of the ramps that start between this
 * delay and the next shorter one are sufficient.
 */
export class FixedDelayTotals {
  readonly #gaps: LongGaps;
  readonly #delays: readonly SuspendDelay[];
  /**
   * Sums per cell, one more than there are delays: ramps that start before the first delay, between the first and the
   * second, and so on.
   */
  readonly #width: number;
  readonly #starts: Float64Array;
  readonly #cuStarts: Float64Array;
  readonly #waitMs: Float64Array;
  readonly #ramps: Float64Array;
  readonly #rampMs: Float64Array;
  readonly #cuRamps: Float64Array;
  readonly #cuRampMs: Float64Array;

  /** `delays`: ascending, without duplicates. Requires `hasFixedDelayTotals`. */
  constructor(gaps: LongGaps, delays: readonly SuspendDelay[], costs: Costs) {
    this.#gaps = gaps;
    this.#delays = delays;
    this.#width = delays.length + 1;
    const sums = () => new Float64Array(gaps.activeMs.length * this.#width);
    [this.#starts, this.#cuStarts, this.#waitMs] = [sums(), sums(), sums()];
    [this.#ramps, this.#rampMs, this.#cuRamps, this.#cuRampMs] = [sums(), sums(), sums(), sums()];
    const limitsMs = Float64Array.from(delays, delayMs);
    for (let compute = 0; compute < gaps.tailMs.length; compute += 1)
      this.#addCompute(compute, sizeOf(costs, compute), limitsMs);
  }

  /** Totals of a delay; undefined if it is none of the given ones. */
  of(delay: SuspendDelay): DayTotals | undefined {
    const index = this.#delays.indexOf(delay);
    if (index < 0) return undefined;
    const { activeMs, cuMs } = this.#gaps;
    const limitMs = delay === "never" ? 0 : delay * SECOND;
    return {
      coldStarts: this.#longer(this.#starts, index),
      cuColdStarts: this.#longer(this.#cuStarts, index),
      waitMs: this.#longer(this.#waitMs, index),
      activeMs: this.#idle(activeMs, this.#ramps, this.#rampMs, index, limitMs),
      cuMs: this.#idle(cuMs, this.#cuRamps, this.#cuRampMs, index, limitMs),
    };
  }

  #addCompute(compute: number, cu: number, limitsMs: Float64Array): void {
    const { days, firstDay, gapMs: gapsMs, endAt, day, waitMs, unwaited, groupOf, firstOf } = this.#gaps;
    const firstCell = (groupOf[compute] as number) * days;
    const to = firstOf[compute + 1] as number;
    for (let i = firstOf[compute] as number; i < to; i += 1) {
      const gapMs = gapsMs[i] as number;
      const endDay = day[i] as number;
      const rank = rankOf(limitsMs, gapMs);
      const slot = (firstCell + endDay) * this.#width + rank;
      if (unwaited?.[i] !== 1) {
        this.#starts[slot] = (this.#starts[slot] as number) + 1;
        this.#cuStarts[slot] = (this.#cuStarts[slot] as number) + cu;
      }
      this.#waitMs[slot] = (this.#waitMs[slot] as number) + (waitMs[i] as number);
      const fromMs = (endAt[i] as number) - gapMs - firstDay;
      if (fromMs >= endDay * DAY) {
        this.#addRamp((firstCell + endDay) * this.#width, 1, 0, cu);
        this.#addRamp(slot, -1, gapMs, cu);
      } else this.#addOverMidnight(firstCell, fromMs, gapMs, cu, limitsMs);
    }
    const { tailFrom, tailMs } = this.#gaps;
    this.#addOverMidnight(
      firstCell,
      (tailFrom[compute] as number) - firstDay,
      tailMs[compute] as number,
      cu,
      limitsMs,
    );
  }

  #addOverMidnight(
    firstCell: number,
    fromMs: DurationMs,
    idleMs: DurationMs,
    cu: number,
    limitsMs: Float64Array,
  ): void {
    for (let doneMs = 0; doneMs < idleMs; ) {
      const day = Math.floor((fromMs + doneMs) / DAY);
      const untilMs = Math.min(idleMs, (day + 1) * DAY - fromMs);
      const first = (firstCell + day) * this.#width;
      this.#addRamp(first + rankOf(limitsMs, doneMs), 1, doneMs, cu);
      this.#addRamp(first + rankOf(limitsMs, untilMs), -1, untilMs, cu);
      doneMs = untilMs;
    }
  }

  #addRamp(slot: number, sign: number, atMs: DurationMs, cu: number): void {
    this.#ramps[slot] = (this.#ramps[slot] as number) + sign;
    this.#rampMs[slot] = (this.#rampMs[slot] as number) + sign * atMs;
    this.#cuRamps[slot] = (this.#cuRamps[slot] as number) + sign * cu;
    this.#cuRampMs[slot] = (this.#cuRampMs[slot] as number) + sign * atMs * cu;
  }

  /** Totals by cell over gaps that are longer than the delay. */
  #longer(sums: Float64Array, index: number): Float64Array {
    const [cells, width] = [this.#gaps.activeMs.length, this.#width];
    const totals = new Float64Array(cells);
    for (let cell = 0; cell < cells; cell += 1) {
      let total = 0;
      for (let rank = index + 1; rank < width; rank += 1) total += sums[cell * width + rank] as number;
      totals[cell] = total;
    }
    return totals;
  }

  /** Active time including the idle time under a delay. Under "never", as many ramps end as start. */
  #idle(
    activeMs: Float64Array,
    ramps: Float64Array,
    rampMs: Float64Array,
    index: number,
    limitMs: DurationMs,
  ): Float64Array {
    const width = this.#width;
    return activeMs.map((active, cell) => {
      let [count, sumMs] = [0, 0];
      for (let rank = 0; rank <= index; rank += 1) {
        count += ramps[cell * width + rank] as number;
        sumMs += rampMs[cell * width + rank] as number;
      }
      return active + count * limitMs - sumMs;
    });
  }
}

/** Whether one pass for this number of delays fits the memory and is exact. */
export function hasFixedDelayTotals(gaps: LongGaps, delays: number, { cu }: Costs): boolean {
  const isExact = (size: number) => Number.isInteger(size / EXACT_CU);
  return (
    gaps.activeMs.length * (delays + 1) <= MAX_SUMS &&
    (typeof cu === "number" ? isExact(cu) : cu.every(isExact))
  );
}

/** Number of limits below this time: the limits from there on include it. */
function rankOf(limitsMs: Float64Array, ms: DurationMs): number {
  let rank = 0;
  while (rank < limitsMs.length && (limitsMs[rank] as number) < ms) rank += 1;
  return rank;
}
