import { utcDateOf } from "../../kernel/calendar.ts";
import { DAY, type DurationMs, HOUR, MINUTE, SECOND, type SimTime } from "../../kernel/time.ts";
import type { Sampler } from "./distribution.ts";
import { minutesOf } from "./pattern-fields.ts";
import { type PatternOf, WEEKDAYS } from "./patterns.ts";
import type { RateProfile } from "./rate.ts";
import type { TimeZone } from "./time-zone.ts";

/** The current segment. Each profile derives the next segment from the last one. */
abstract class RateProfileBase implements RateProfile {
  start: SimTime;
  end: SimTime;
  startRate = 0;
  endRate = 0;

  constructor(from: SimTime) {
    this.start = from;
    this.end = from;
  }

  abstract next(): void;

  /** Rates per second. */
  protected advanceTo(end: SimTime, startRate: number, endRate = startRate): void {
    this.start = this.end;
    this.end = end;
    this.startRate = startRate / SECOND;
    this.endRate = endRate / SECOND;
  }
}

/** A constant rate. */
export class FlatRateProfile extends RateProfileBase {
  readonly #rate: number;

  constructor(rate: number, from: SimTime) {
    super(from);
    this.#rate = rate;
    this.next();
  }

  next(): void {
    this.advanceTo(Number.POSITIVE_INFINITY, this.#rate);
  }
}

/** Alternating busy and silent periods, each at least 1 ms long. */
export class OnOffRateProfile extends RateProfileBase {
  readonly #rate: number;
  readonly #on: Sampler;
  readonly #off: Sampler;
  #isOn = false;

  constructor(rate: number, on: Sampler, off: Sampler, from: SimTime) {
    super(from);
    this.#rate = rate;
    this.#on = on;
    this.#off = off;
    this.next();
  }

  next(): void {
    this.#isOn = !this.#isOn;
    const length = Math.max(1, this.#isOn ? this.#on() : this.#off());
    this.advanceTo(this.end + length, this.#isOn ? this.#rate : 0);
  }
}

/** Opening hours in local time; days with a clock change are shorter or longer. */
export class OfficeHoursRateProfile extends RateProfileBase {
  readonly #zone: TimeZone;
  readonly #weekdays: readonly boolean[];
  readonly #opens: DurationMs;
  /** Counted from midnight of the opening day. */
  readonly #closes: DurationMs;
  readonly #rateInside: number;
  readonly #rateOutside: number;
  #day: number;
  #isOpen = true;

  constructor(
    { weekdays, opens, closes, rate, rate_outside }: PatternOf<"office-hours">,
    zone: TimeZone,
    from: SimTime,
  ) {
    super(from);
    this.#zone = zone;
    this.#weekdays = WEEKDAYS.map((name) => weekdays.includes(name));
    this.#opens = minutesOf(opens) * MINUTE;
    this.#closes = minutesOf(closes) * MINUTE + (minutesOf(closes) < minutesOf(opens) ? DAY : 0);
    this.#rateInside = rate;
    this.#rateOutside = rate_outside;
    // An office that opened the day before may still be open.
    this.#day = Math.floor(zone.toLocal(from) / DAY) - 2;
    this.next();
  }

  next(): void {
    do this.#toggle();
    while (this.end <= this.start);
  }

  #toggle(): void {
    this.#isOpen = !this.#isOpen;
    if (!this.#isOpen) {
      do this.#day += 1;
      while (this.#weekdays[utcDateOf(this.#day * DAY).weekday - 1] !== true);
    }
    const end = this.#zone.toInstant(this.#day * DAY + (this.#isOpen ? this.#closes : this.#opens));
    this.advanceTo(Math.max(this.end, end), this.#isOpen ? this.#rateInside : this.#rateOutside);
  }
}

/** A cosine over the local day, approximated by linear segments of one hour. */
export class DailyRateProfile extends RateProfileBase {
  readonly #zone: TimeZone;
  readonly #rates: readonly number[];

  constructor({ rate, low, peak }: PatternOf<"daily">, zone: TimeZone, from: SimTime) {
    super(Math.floor(from / HOUR) * HOUR);
    this.#zone = zone;
    // The extremes are 1 + swing and 1 − swing; their ratio is `low`.
    const swing = (1 - low) / (1 + low);
    const peakHour = minutesOf(peak) / 60;
    this.#rates = Array.from(
      { length: 24 },
      (_, hour) => rate * (1 + swing * Math.cos(((hour - peakHour) / 12) * Math.PI)),
    );
    this.next();
  }

  next(): void {
    const hour = Math.floor(this.#zone.toLocal(this.end) / HOUR);
    this.advanceTo(this.end + HOUR, this.#rateOf(hour), this.#rateOf(hour + 1));
  }

  #rateOf(hour: number): number {
    return this.#rates[((hour % 24) + 24) % 24] ?? 0;
  }
}

/** Consecutive phases; afterwards they repeat, or the rate stays 0. */
export class RampRateProfile extends RateProfileBase {
  readonly #phases: PatternOf<"ramp">["phases"];
  readonly #repeat: boolean;
  #phase = 0;
  #rate = 0;

  constructor({ phases, repeat }: PatternOf<"ramp">, from: SimTime) {
    super(from);
    this.#phases = phases;
    this.#repeat = repeat;
    this.next();
  }

  next(): void {
    const phase = this.#phases[this.#phase];
    if (phase === undefined) {
      this.advanceTo(Number.POSITIVE_INFINITY, 0);
      return;
    }
    this.advanceTo(this.end + phase.for, phase.from ?? this.#rate, phase.to);
    this.#rate = phase.to;
    this.#phase += 1;
    if (this.#repeat) this.#phase %= this.#phases.length;
  }
}
