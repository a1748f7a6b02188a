import { weekdayOf } from "../../kernel/calendar.ts";
import { DAY, type DurationMs, type SimTime } from "../../kernel/time.ts";
import { TimeZone } from "../../traffic/generated/time-zone.ts";

/** Times in which a compute is active. */
export interface Windows {
  /** `at` itself outside of all windows, otherwise the end of the window; infinite if it has no end. */
  endAt(at: SimTime): SimTime;
  /** The first start of a window after `at` (exclusive); infinite if there is none. */
  nextStart(at: SimTime): SimTime;
}

/** A time that repeats every week, in local time. */
export type WeekWindow = {
  /** From 1 (Monday) to 7 (Sunday). */
  readonly weekday: number;
  /** Start of the window after midnight. */
  readonly fromMs: DurationMs;
  /** End of the window after the same midnight, so it may be after the next one. Above `fromMs`. */
  readonly toMs: DurationMs;
};

const DAYS_PER_WEEK = 7;

/** Windows of a week, one after another without overlap; adjacent ones count as one. */
export class WeekWindows implements Windows {
  readonly #zone: TimeZone;
  readonly #byWeekday: readonly (readonly WeekWindow[])[];

  constructor(windows: readonly WeekWindow[], zone = "UTC") {
    this.#zone = new TimeZone(zone);
    this.#byWeekday = Array.from({ length: DAYS_PER_WEEK + 1 }, (_, weekday) =>
      windows.filter((window) => window.weekday === weekday).sort((a, b) => a.fromMs - b.fromMs),
    );
  }

  endAt(at: SimTime): SimTime {
    let end = at;
    for (let joined = 0; joined < MAX_JOINED; joined += 1) {
      const next = this.#windowAround(end);
      if (next === undefined) return end;
      end = next;
    }
    return Number.POSITIVE_INFINITY;
  }

  nextStart(at: SimTime): SimTime {
    if (at === Number.POSITIVE_INFINITY) return at;
    const day = this.#localDay(at);
    // One more day on both sides, for windows across midnight and clock changes.
    for (let ahead = -1; ahead <= DAYS_PER_WEEK + 1; ahead += 1)
      for (const { fromMs } of this.#windowsOf(day + ahead)) {
        const start = this.#zone.toInstant((day + ahead) * DAY + fromMs);
        if (start > at) return start;
      }
    return Number.POSITIVE_INFINITY;
  }

  /** The end of a window that contains `at`, from its start (inclusive) to its end (exclusive). */
  #windowAround(at: SimTime): SimTime | undefined {
    const day = this.#localDay(at);
    for (const each of [day - 1, day])
      for (const { fromMs, toMs } of this.#windowsOf(each)) {
        const end = this.#zone.toInstant(each * DAY + toMs);
        if (this.#zone.toInstant(each * DAY + fromMs) <= at && at < end) return end;
      }
    return undefined;
  }

  #localDay(at: SimTime): number {
    return Math.floor(this.#zone.toLocal(at) / DAY);
  }

  #windowsOf(day: number): readonly WeekWindow[] {
    return this.#byWeekday[weekdayOf(day * DAY)] as readonly WeekWindow[];
  }
}

/** Number of half-hour windows in a week. Windows that join for longer have no end. */
const MAX_JOINED = 2 * 24 * DAYS_PER_WEEK;
