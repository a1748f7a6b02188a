import { Temporal } from "temporal-polyfill";
import { DAY, type DurationMs, type SimTime } from "../platform/core/time.ts";

/** A span in which the zone's clocks stand off UTC by the same: from `start` up to, not including, `end`. */
type OffsetPeriod = { readonly start: SimTime; readonly end: SimTime; readonly offset: DurationMs };

/**
 * The clocks of a time zone. Local time is what they show, in milliseconds, counted as if they stood in UTC. Between two changes of
 * the clocks this is one addition.
 */
export class TimeZone {
  readonly #name: string;
  readonly #periods: OffsetPeriod[] = [];
  #period: OffsetPeriod;

  /** Throws where there is no such zone: ask `isTimeZone` first. */
  constructor(name: string) {
    this.#name = name;
    this.#period = this.#loadPeriod(0);
  }

  /** What the zone's clocks show at an instant. */
  toLocal(at: SimTime): number {
    return at + this.offsetAt(at);
  }

  offsetAt(at: SimTime): DurationMs {
    if (at < this.#period.start || at >= this.#period.end) {
      this.#period = this.#periods.find(({ start, end }) => start <= at && at < end) ?? this.#loadPeriod(at);
    }
    return this.#period.offset;
  }

  /**
   * When the zone's clocks show this; where they show it twice, the first time. What they skip is as much later as they skip:
   * half past two of a night without it is half past three.
   */
  toInstant(local: number): SimTime {
    const before = this.offsetAt(local - DAY);
    const after = this.offsetAt(local + DAY);
    const first = local - before;
    if (before === after || this.offsetAt(first) === before) return first;
    return this.offsetAt(local - after) === after ? local - after : first;
  }

  /** The second time that the clocks show this; `undefined` where they show it once or never. */
  repeatedInstant(local: number): SimTime | undefined {
    const repeated = local - this.offsetAt(local + DAY);
    return repeated > this.toInstant(local) && this.toLocal(repeated) === local ? repeated : undefined;
  }

  #loadPeriod(at: SimTime): OffsetPeriod {
    const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(this.#name);
    const offset = zoned.offsetNanoseconds / 1e6;
    const end = zoned.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    // The change at this very instant is the one that is asked for, so it is looked for from the next millisecond.
    const start =
      zoned.add({ milliseconds: 1 }).getTimeZoneTransition("previous")?.epochMilliseconds ??
      Number.NEGATIVE_INFINITY;
    const period = { start, end, offset };
    this.#periods.push(period);
    return period;
  }
}

export function isTimeZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}
