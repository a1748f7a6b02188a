import { Temporal } from "temporal-polyfill";
import { DAY, type DurationMs, type SimTime } from "../../kernel/time.ts";

/** A span with a constant UTC offset; `start` is inclusive, `end` exclusive. */
type OffsetPeriod = { readonly start: SimTime; readonly end: SimTime; readonly offset: DurationMs };

/**
 * The clocks of a time zone. Local time is in milliseconds, counted as if the clocks showed UTC. Between two
 * clock changes a conversion is one addition.
 */
export class TimeZone {
  readonly #name: string;
  readonly #periods: OffsetPeriod[] = [];
  #period: OffsetPeriod;

  /** Throws for an unknown zone; check with `isTimeZone` first. */
  constructor(name: string) {
    this.#name = name;
    this.#period = this.#loadPeriod(0);
  }

  /** Local time at an instant. */
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
   * The instant of a local time; of a repeated local time, the first one. A skipped local time is shifted by
   * the length of the skip: 02:30 in a night without that hour becomes 03:30.
   */
  toInstant(local: number): SimTime {
    const before = this.offsetAt(local - DAY);
    const after = this.offsetAt(local + DAY);
    const first = local - before;
    if (before === after || this.offsetAt(first) === before) return first;
    return this.offsetAt(local - after) === after ? local - after : first;
  }

  /** The second instant of a repeated local time; otherwise `undefined`. */
  repeatedInstant(local: number): SimTime | undefined {
    const repeated = local - this.offsetAt(local + DAY);
    return repeated > this.toInstant(local) && this.toLocal(repeated) === local ? repeated : undefined;
  }

  #loadPeriod(at: SimTime): OffsetPeriod {
    const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(this.#name);
    const offset = zoned.offsetNanoseconds / 1e6;
    const end = zoned.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    // A change at this very instant starts the period, so the search begins one millisecond later.
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
