import type { DurationMs } from "../../kernel/time.ts";
import type { ObservedPeriod } from "./observed-period.ts";

/** Bounds of the figures of one compute, for each of several delays. */
export type BoundColumns = {
  readonly leastCold: Float64Array;
  readonly mostCold: Float64Array;
  readonly leastActive: Float64Array;
  readonly mostActive: Float64Array;
  readonly leastNet: Float64Array;
  readonly mostNet: Float64Array;
};

/**
 * Periods of one compute under delays that would have changed nothing within them: only the gap after each counts, and
 * it is longer than the delay or not. So each period is counted once, by its gap, instead of once for each delay.
 *
 * A group holds the periods about which delays from one position on say the same.
 */
export class ShownPeriods {
  /** Delays in milliseconds, ascending. */
  readonly #limitsMs: Float64Array;
  readonly #leastGaps: GapsByLimit;
  readonly #mostGaps: GapsByLimit;
  /** Idle time that counts as active: least and most. */
  readonly #leastIdle: GapsByLimit;
  readonly #mostIdle: GapsByLimit;
  /** Sums of the periods of each group. */
  readonly #periods: Float64Array;
  readonly #leastBusyMs: Float64Array;
  readonly #mostBusyMs: Float64Array;
  readonly #delayMs: Float64Array;
  readonly #startMs: Float64Array;

  constructor(limitsMs: Float64Array) {
    this.#limitsMs = limitsMs;
    this.#leastGaps = new GapsByLimit(limitsMs);
    this.#mostGaps = new GapsByLimit(limitsMs);
    this.#leastIdle = new GapsByLimit(limitsMs);
    this.#mostIdle = new GapsByLimit(limitsMs);
    const column = () => new Float64Array(limitsMs.length);
    this.#periods = column();
    this.#leastBusyMs = column();
    this.#mostBusyMs = column();
    this.#delayMs = column();
    this.#startMs = column();
  }

  /** The position of the shortest delay that changes nothing within a period, or their number. */
  firstFor(period: ObservedPeriod): number {
    if (!period.isAutosuspend || period.mayBeUnused || period.isLast) return this.#limitsMs.length;
    const limitMs = period.delayMs + period.startMs;
    let group = 0;
    while (group < this.#limitsMs.length && (this.#limitsMs[group] as number) < limitMs) group += 1;
    return group;
  }

  /** `group`: the position that `firstFor` gives. */
  add(period: ObservedPeriod, group: number): void {
    const { firstMost, lastLeast, lastMost, nextLeast, nextMost } = period;
    (this.#periods[group] as number) += 1;
    (this.#leastBusyMs[group] as number) += Math.max(0, lastLeast - firstMost);
    (this.#mostBusyMs[group] as number) += period.windowMs;
    (this.#delayMs[group] as number) += period.delayMs;
    (this.#startMs[group] as number) += period.startMs;
    this.#leastGaps.add(group, period.gapLeast);
    this.#mostGaps.add(group, period.gapMost);
    this.#leastIdle.add(group, Math.max(0, nextLeast - Math.max(lastLeast, firstMost)));
    this.#mostIdle.add(group, Math.max(0, nextMost - lastMost));
  }

  addTo(sums: BoundColumns, worthMs: DurationMs): void {
    for (let limit = 0; limit < this.#limitsMs.length; limit += 1)
      for (let group = 0; group <= limit; group += 1)
        if ((this.#periods[group] as number) > 0) this.#addGroup(sums, group, limit, worthMs);
  }

  #addGroup(sums: BoundColumns, group: number, limit: number, worthMs: DurationMs): void {
    const periods = this.#periods[group] as number;
    const [leastCold, mostCold] = [this.#leastGaps, this.#mostGaps].map((gaps) =>
      gaps.longer(group, limit),
    ) as [number, number];
    // A gap shorter than the limit needs no start, but the time beyond the delay in force is active.
    const net = (gaps: GapsByLimit, cold: number) =>
      (this.#delayMs[group] as number) - gaps.sumUpTo(group, limit) + worthMs * (periods - cold);
    (sums.leastCold[limit] as number) += leastCold;
    (sums.mostCold[limit] as number) += mostCold;
    (sums.leastActive[limit] as number) +=
      (this.#leastBusyMs[group] as number) + this.#leastIdle.sumUpTo(group, limit);
    (sums.mostActive[limit] as number) +=
      (this.#mostBusyMs[group] as number) + this.#mostIdle.sumUpTo(group, limit);
    (sums.leastNet[limit] as number) += net(this.#mostGaps, mostCold) - (this.#startMs[group] as number);
    (sums.mostNet[limit] as number) += net(this.#leastGaps, leastCold);
  }
}

/** Gaps in groups, each counted by the number of limits that are shorter. */
class GapsByLimit {
  readonly #limitsMs: Float64Array;
  readonly #counts: Float64Array;
  readonly #sumsMs: Float64Array;

  constructor(limitsMs: Float64Array) {
    this.#limitsMs = limitsMs;
    this.#counts = new Float64Array(limitsMs.length * (limitsMs.length + 1));
    this.#sumsMs = new Float64Array(this.#counts.length);
  }

  /** Adds a gap. Limits before the position of the group do not apply to it. */
  add(group: number, gapMs: DurationMs): void {
    const limits = this.#limitsMs;
    let shorter = group;
    while (shorter < limits.length && (limits[shorter] as number) < gapMs) shorter += 1;
    const cell = group * (limits.length + 1) + shorter;
    (this.#counts[cell] as number) += 1;
    (this.#sumsMs[cell] as number) += gapMs;
  }

  /** Number of gaps that are longer than a limit. */
  longer(group: number, limit: number): number {
    const first = group * (this.#limitsMs.length + 1);
    let count = 0;
    for (let shorter = limit + 1; shorter <= this.#limitsMs.length; shorter += 1)
      count += this.#counts[first + shorter] as number;
    return count;
  }

  /** Sum of all gaps, each cut at the limit. */
  sumUpTo(group: number, limit: number): DurationMs {
    const first = group * (this.#limitsMs.length + 1);
    let sumMs = 0;
    for (let shorter = group; shorter <= limit; shorter += 1)
      sumMs += this.#sumsMs[first + shorter] as number;
    const longer = this.longer(group, limit);
    return longer === 0 ? sumMs : sumMs + longer * (this.#limitsMs[limit] as number);
  }
}
