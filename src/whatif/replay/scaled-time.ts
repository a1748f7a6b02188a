import { dayStart } from "../../kernel/calendar.ts";
import type { Random } from "../../kernel/random-port.ts";
import { DAY, type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import {
  type ComputeArrivals,
  collectParts,
  type Period,
  untilDeleted,
} from "../../traffic/recorded/trace/trace.ts";
import { delayMs, type SuspendDelay } from "../gap-curve/delay.ts";
import type { LoadSizes } from "../sizes/load-sizes.ts";
import { loadSizesOf, type ScalingComputes } from "../sizes/scaling-computes.ts";
import { dayCount, type LongGaps } from "../trace/long-gaps.ts";
import type { Traffic } from "../trace/traffic.ts";
import { type LatencySource, StartLatencies, type StartLatency } from "../units/start-latency.ts";

/** A load of a million vCPUs has no effect on the size after this time. */
const LONGEST_DECAY_S = 3_600;

/**
 * The CU time above the smallest sizes, for every delay: during busy times, and during the following idle times, in
 * which the load average falls. It is replayed under the current setting. Other delays assume that a start does not
 * change the load average, which is close to zero a minute after the last request.
 */
class ScaledTime {
  readonly #busyCuMs: number;
  /** Index: delay in whole seconds, at most `LONGEST_DECAY_S`. */
  readonly #idleCuMs: Float64Array;

  constructor(busyCuMs: number, idleCuMsBySecond: Float64Array) {
    this.#busyCuMs = busyCuMs;
    let sum = 0;
    this.#idleCuMs = Float64Array.from([0, ...idleCuMsBySecond], (own) => {
      sum += own;
      return sum;
    });
  }

  get busyCuMs(): number {
    return this.#busyCuMs;
  }

  at(delay: SuspendDelay): number {
    const last = this.#idleCuMs.length - 1;
    const second = delay === "never" ? last : Math.min(last, delay);
    return this.#busyCuMs + (this.#idleCuMs[second] as number);
  }
}

export type FleetScaledTime = {
  readonly fleet: ScaledTime;
  /** Time of each compute that scales, by its number. */
  readonly computes: ReadonlyMap<number, ScaledTime>;
  /** CU time under the current setting, by group and day as in `LongGaps`. Empty without long gaps. */
  readonly cells: Float64Array;
};

export type ScaledTimeInput = {
  readonly scaling: ScalingComputes;
  readonly latency: StartLatency;
  readonly deletedAt?: readonly (SimTime | undefined)[] | undefined;
  readonly delayOf: (compute: number) => SuspendDelay;
};

/** Replays the computes that scale under their current delays. */
export function scaledTime(
  traffic: Traffic,
  { scaling, latency, deletedAt, delayOf }: ScaledTimeInput,
  random: Random,
  longGaps: LongGaps | undefined,
): FleetScaledTime {
  const { period } = traffic;
  const fleet = new ScaledTimeSums(period, longGaps === undefined ? 0 : longGaps.cuMs.length);
  const computes = new Map<number, ScaledTime>();
  for (const number of traffic.computes.keys()) {
    const sizes = loadSizesOf(scaling, number, random);
    if (sizes === undefined) continue;
    const own = new ScaledTimeSums(period, 0);
    const firstCell = (longGaps?.groupOf[number] ?? 0) * dayCount(period);
    addCompute(
      collectParts(traffic.arrivals(number)),
      {
        sizes,
        delay: delayOf(number),
        latencies: new StartLatencies(latency, random, number),
        period: untilDeleted(period, deletedAt?.[number]),
      },
      (...time) => {
        fleet.add(firstCell, ...time);
        own.add(firstCell, ...time);
      },
    );
    computes.set(number, own.result());
  }
  return { fleet: fleet.result(), computes, cells: fleet.cells };
}

/** `idleSince`: the end of the last request; undefined in busy times. `isActive`: under the current setting. */
type AddTime = (
  from: SimTime,
  to: SimTime,
  extraCu: number,
  idleSince: SimTime | undefined,
  isActive: boolean,
) => void;

type ComputeInput = {
  readonly sizes: LoadSizes;
  readonly delay: SuspendDelay;
  readonly latencies: LatencySource;
  readonly period: Period;
};

function addCompute(
  arrivals: ComputeArrivals,
  { sizes, delay, latencies, period: { endAt } }: ComputeInput,
  add: AddTime,
): void {
  const { at, durationMs } = arrivals;
  const idleMs = delayMs(delay);
  let [readyAt, busyEnd] = [0, 0];
  const visitUntil = (to: SimTime, idleSince: SimTime | undefined, isActive: boolean) =>
    sizes.visitUntil(to, (from, until, sizeCu) => {
      const extraCu = sizeCu - sizes.smallestCu;
      if (extraCu > 0) add(from, until, extraCu, idleSince, isActive);
    });
  const idleUntil = (to: SimTime) => {
    visitUntil(busyEnd, undefined, true);
    const suspendAt = busyEnd + idleMs;
    visitUntil(Math.min(to, suspendAt), busyEnd, true);
    // Time that a longer delay would add.
    if (to > suspendAt) visitUntil(Math.min(to, busyEnd + LONGEST_DECAY_S * SECOND), busyEnd, false);
  };
  for (let i = 0; i < at.length; i += 1) {
    const arrival = at[i] as number;
    if (i === 0 || arrival > busyEnd + idleMs) {
      if (i > 0) idleUntil(arrival);
      readyAt = arrival + latencies.at(arrival);
      sizes.start(readyAt);
      busyEnd = readyAt;
    } else if (arrival > busyEnd) idleUntil(arrival);
    sizes.addRequests(arrivals, i, i + 1, readyAt);
    busyEnd = Math.max(busyEnd, Math.max(arrival, readyAt) + (durationMs[i] as number));
  }
  if (at.length > 0) idleUntil(Math.max(endAt, busyEnd));
}

class ScaledTimeSums {
  readonly cells: Float64Array;
  readonly #period: Period;
  readonly #days: number;
  #busyCuMs = 0;
  #idle = new Float64Array(0);

  constructor(period: Period, cells: number) {
    this.#period = period;
    this.#days = dayCount(period);
    this.cells = new Float64Array(cells);
  }

  add(firstCell: number, ...[from, to, extraCu, idleSince, isActive]: Parameters<AddTime>): void {
    if (idleSince === undefined) this.#busyCuMs += (to - from) * extraCu;
    else this.#addIdle(from - idleSince, to - idleSince, extraCu);
    if (isActive && this.cells.length > 0) this.#addByDay(firstCell, from, to, extraCu);
  }

  result(): ScaledTime {
    return new ScaledTime(this.#busyCuMs, this.#idle);
  }

  #addIdle(fromMs: DurationMs, toMs: DurationMs, extraCu: number): void {
    const seconds = Math.min(LONGEST_DECAY_S, Math.ceil(toMs / SECOND));
    if (seconds > this.#idle.length) {
      const longer = new Float64Array(seconds);
      longer.set(this.#idle);
      this.#idle = longer;
    }
    for (let second = Math.floor(fromMs / SECOND); second < seconds; second += 1) {
      const ms = Math.min(toMs, (second + 1) * SECOND) - Math.max(fromMs, second * SECOND);
      this.#idle[second] = (this.#idle[second] as number) + ms * extraCu;
    }
  }

  #addByDay(firstCell: number, from: SimTime, to: SimTime, extraCu: number): void {
    const firstDay = dayStart(this.#period.startAt);
    for (let at = from; at < to; ) {
      const day = Math.min(this.#days - 1, Math.floor((at - firstDay) / DAY));
      const next = day === this.#days - 1 ? to : Math.min(to, firstDay + (day + 1) * DAY);
      this.cells[firstCell + day] = (this.cells[firstCell + day] as number) + (next - at) * extraCu;
      at = next;
    }
  }
}
