import { CronExpressionParser } from "cron-parser";
import { utcDateOf, weekdayOf } from "../../kernel/calendar.ts";
import { messageOf } from "../../kernel/message-of.ts";
import { DAY, MINUTE, type SimTime } from "../../kernel/time.ts";
import type { ArrivalTimes } from "./arrival-times.ts";
import type { TimeZone } from "./time-zone.ts";

/** When a crontab line is due, in the local time of its zone. */
export type CronSchedule = {
  /** Minutes since midnight, ascending. */
  readonly minutes: readonly number[];
  /**
   * The hour field is a wildcard: the line follows the minute alone, even when the clocks skip or repeat an
   * hour.
   */
  readonly hourly: boolean;
  readonly days: ReadonlySet<number> | undefined;
  readonly months: ReadonlySet<number> | undefined;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number> | undefined;
};

const CRON_RULE =
  "must be a crontab line of five fields (minute, hour, day of month, month, day of week) such as */15 9-17 * * mon-fri";
/**
 * The syntax that all crons share. The library accepts more (L, #, H), but its random H does not come from
 * our seed.
 */
const MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
const PLAIN_FIELD = /^[\d*,/-]+$/;
const FIELD_PATTERNS = [
  PLAIN_FIELD,
  PLAIN_FIELD,
  PLAIN_FIELD,
  new RegExp(`^([\\d*,/-]|${MONTHS})+$`, "i"),
  /^([\d*,/-]|sun|mon|tue|wed|thu|fri|sat)+$/i,
];

/** The schedule of a crontab line, or why it is invalid. */
export function parseCron(
  line: string,
):
  | { readonly schedule: CronSchedule; readonly problem?: never }
  | { readonly problem: string; readonly schedule?: never } {
  const fields = line.trim().split(/\s+/);
  if (
    fields.length !== FIELD_PATTERNS.length ||
    fields.some((field, index) => FIELD_PATTERNS[index]?.test(field) !== true)
  )
    return { problem: CRON_RULE };
  try {
    const { minute, hour, dayOfMonth, month, dayOfWeek } = CronExpressionParser.parse(line, {
      currentDate: 0,
      tz: "UTC",
    }).fields;
    const schedule = {
      minutes: sortedValues(hour).flatMap((hours) =>
        sortedValues(minute).map((minutes) => hours * 60 + minutes),
      ),
      hourly: hour.isWildcard,
      days: restrictedValues(dayOfMonth),
      months: restrictedValues(month),
      weekdays: restrictedValues(dayOfWeek),
    };
    return { schedule };
  } catch (error) {
    return { problem: `${CRON_RULE}: ${messageOf(error)}` };
  }
}

type CronField = { readonly values: readonly (number | string)[]; readonly isWildcard: boolean };

function sortedValues({ values }: CronField): number[] {
  return values.map(Number).sort((one, other) => one - other);
}

function restrictedValues(field: CronField): ReadonlySet<number> | undefined {
  return field.isWildcard ? undefined : new Set(sortedValues(field).map((value) => value));
}

/**
 * No schedule pauses for longer: 29 February falls on a given weekday every 28 years, and after 40 years
 * around 2100.
 */
const MAX_GAP_DAYS = 41 * 366;

/**
 * The instants of a schedule. A time in a skipped hour is shifted by the length of the skip; a time in a
 * repeated hour runs once, the first time. A line that is due every hour runs whenever the clocks show its
 * minute, as in Vixie cron.
 */
export class CronTimes implements ArrivalTimes {
  readonly #schedule: CronSchedule;
  readonly #zone: TimeZone;
  readonly #from: SimTime;
  #day: number;
  #instants: number[] = [];
  #position = 0;

  constructor(schedule: CronSchedule, zone: TimeZone, from: SimTime) {
    this.#schedule = schedule;
    this.#zone = zone;
    this.#from = from;
    // A time shifted by a clock change may belong to the day before.
    this.#day = Math.floor(zone.toLocal(from) / DAY) - 2;
  }

  next(until: SimTime): SimTime {
    for (let emptyDays = 0; this.#position === this.#instants.length; emptyDays += 1) {
      this.#day += 1;
      // Local time may differ from UTC by up to a day.
      if ((this.#day - 1) * DAY >= until || emptyDays > MAX_GAP_DAYS) return Number.POSITIVE_INFINITY;
      if (this.#isDue(this.#day)) this.#loadDay(this.#day);
    }
    const at = this.#instants[this.#position] as number;
    this.#position += 1;
    return at;
  }

  fill(buffer: Float64Array, until: SimTime): void {
    for (let i = 0; i < buffer.length; i += 1) buffer[i] = this.next(until);
  }

  /** When both kinds of days are restricted, either one is enough (crontab(5)). */
  #isDue(day: number): boolean {
    const { days, months, weekdays } = this.#schedule;
    const isWeekday = weekdays?.has(weekdayOf(day * DAY) % 7);
    if (days === undefined && isWeekday === false) return false;
    if (days === undefined && months === undefined) return true;
    const date = utcDateOf(day * DAY);
    if (months?.has(date.month) === false) return false;
    return days === undefined || days.has(date.day) || isWeekday === true;
  }

  #loadDay(day: number): void {
    const { minutes, hourly } = this.#schedule;
    const last = this.#instants.at(-1) ?? this.#from - 1;
    const instants: number[] = [];
    for (const minute of minutes) {
      const local = day * DAY + minute * MINUTE;
      const at = this.#zone.toInstant(local);
      if (!hourly || this.#zone.toLocal(at) === local) instants.push(at);
      const repeated = hourly ? this.#zone.repeatedInstant(local) : undefined;
      if (repeated !== undefined) instants.push(repeated);
    }
    const sorted = [...new Set(instants)].sort((one, other) => one - other);
    this.#instants = sorted.filter((at) => at > last);
    this.#position = 0;
  }
}
