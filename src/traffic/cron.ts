import { CronExpressionParser } from "cron-parser";
import { utcDateOf, weekdayOf } from "../platform/core/calendar.ts";
import { DAY, MINUTE, type SimTime } from "../platform/core/time.ts";
import type { ArrivalTimes } from "./arrival-times.ts";
import type { TimeZone } from "./time-zone.ts";

/** When a crontab line is due, in the clock times of its zone. */
export type CronSchedule = {
  /** Minutes since midnight, ascending. */
  readonly minutes: readonly number[];
  /** Every hour: then it goes by the minute alone, whether the clocks skip an hour or show one twice. */
  readonly hourly: boolean;
  readonly days: ReadonlySet<number> | undefined;
  readonly months: ReadonlySet<number> | undefined;
  /** 0 Sunday. */
  readonly weekdays: ReadonlySet<number> | undefined;
};

const CRON_RULE =
  "must be a crontab line of five fields (minute, hour, day of month, month, day of week) like */15 9-17 * * mon-fri";
/** What all crons understand. The library knows more (L, #, H), of which H is drawn by a chance that is not ours. */
const MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
const PLAIN_FIELD = /^[\d*,/-]+$/;
const FIELD_PATTERNS = [
  PLAIN_FIELD,
  PLAIN_FIELD,
  PLAIN_FIELD,
  new RegExp(`^([\\d*,/-]|${MONTHS})+$`, "i"),
  /^([\d*,/-]|sun|mon|tue|wed|thu|fri|sat)+$/i,
];

/** The schedule of a crontab line, or why it is none. */
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
    return { problem: `${CRON_RULE}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

type CronField = { readonly values: readonly (number | string)[]; readonly isWildcard: boolean };

function sortedValues({ values }: CronField): number[] {
  return values.map(Number).sort((one, other) => one - other);
}

function restrictedValues(field: CronField): ReadonlySet<number> | undefined {
  return field.isWildcard ? undefined : new Set(sortedValues(field).map((value) => value));
}

/** No schedule is silent for longer: a 29 February that is a Monday comes every 28 years, and 40 around 2100. */
const MAX_GAP_DAYS = 41 * 366;

/**
 * The instants of a schedule. What falls into an hour that the clocks skip is as much later as they skip, and what falls into one that they
 * show twice happens the first time; but what is due in every hour is due whenever the clocks show its minute (as vixie's cron does it).
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
    // What the clocks skipped may come from the day before.
    this.#day = Math.floor(zone.toLocal(from) / DAY) - 2;
  }

  next(until: SimTime): SimTime {
    for (let emptyDays = 0; this.#position === this.#instants.length; emptyDays += 1) {
      this.#day += 1;
      // The zone's clocks may stand up to a day off UTC.
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

  /** Where both are named, either day is enough, as crontab(5) has it. */
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
