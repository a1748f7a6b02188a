import { DAY, type DurationMs, HOUR, MINUTE, SECOND, type SimTime } from "./time.ts";

/** A date in UTC, in whole numbers. */
export type UtcDate = {
  readonly year: number;
  /** 1 January, 12 December. */
  readonly month: number;
  /** From 1. */
  readonly day: number;
  readonly hour: number;
  /** 1 Monday, 7 Sunday. */
  readonly weekday: number;
};

export function utcDateOf(at: SimTime): UtcDate {
  const days = Math.floor(at / DAY);
  return { ...dateOfDay(days), hour: Math.floor((at - days * DAY) / HOUR), weekday: weekdayOf(at) };
}

/** 1 Monday, 7 Sunday. */
export function weekdayOf(at: SimTime): number {
  return ((((Math.floor(at / DAY) + 3) % 7) + 7) % 7) + 1;
}

/** The instant of an hour of a date. A month or day outside its range overflows into the next one. */
export function utcInstant(year: number, month: number, day = 1, hour = 0): SimTime {
  return daysSinceEpoch(year, month, day) * DAY + hour * HOUR;
}

/** ISO 8601 with milliseconds, in UTC. */
export function isoInstant(at: SimTime): string {
  const start = dayStart(at);
  if (start !== cachedDay.start) cachedDay = { start, text: dayText(start) };
  const ms = Math.floor(at - start);
  const hour = Math.floor(ms / HOUR);
  const minute = Math.floor((ms % HOUR) / MINUTE);
  const second = Math.floor((ms % MINUTE) / SECOND);
  return `${cachedDay.text}T${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(second)}.${threeDigits(ms % SECOND)}Z`;
}

/** Most instants are written after others of the same day. */
let cachedDay: { readonly start: SimTime; readonly text: string } = { start: Number.NaN, text: "" };

function dayText(start: SimTime): string {
  const { year, month, day } = utcDateOf(start);
  return `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

function threeDigits(value: number): string {
  return value < 100 ? `0${twoDigits(value)}` : `${value}`;
}

export function hourStart(at: SimTime): SimTime {
  return floorTo(at, HOUR);
}

export function dayStart(at: SimTime): SimTime {
  return floorTo(at, DAY);
}

export function monthStart(at: SimTime): SimTime {
  return monthBoundsOf(at).start;
}

/** The end of the month, exclusive. */
export function nextMonthStart(at: SimTime): SimTime {
  return monthBoundsOf(at).end;
}

type MonthBounds = { readonly start: SimTime; readonly end: SimTime };

/** Every booking of usage needs the bounds of its month, which is nearly always the same as the last time. */
let cachedMonth: MonthBounds = { start: 0, end: 0 };

function monthBoundsOf(at: SimTime): MonthBounds {
  if (at < cachedMonth.start || at >= cachedMonth.end) {
    const { year, month } = dateOfDay(Math.floor(at / DAY));
    cachedMonth = { start: utcInstant(year, month), end: utcInstant(year, month + 1) };
  }
  return cachedMonth;
}

function floorTo(at: SimTime, span: DurationMs): SimTime {
  return Math.floor(at / span) * span;
}

/** Years start in March, so that a leap day is the last day of its year. */
const DAYS_TO_1970 = 719_468;
const DAYS_OF_400_YEARS = 146_097;

function daysSinceEpoch(year: number, month: number, day: number): number {
  const sinceMarch = year * 12 + month - 3;
  const y = Math.floor(sinceMarch / 12);
  const m = sinceMarch - y * 12;
  return (
    y * 365 +
    Math.floor(y / 4) -
    Math.floor(y / 100) +
    Math.floor(y / 400) +
    daysBeforeMonth(m) +
    day -
    1 -
    DAYS_TO_1970
  );
}

function dateOfDay(days: number): Pick<UtcDate, "year" | "month" | "day"> {
  const since = days + DAYS_TO_1970;
  const era = Math.floor(since / DAYS_OF_400_YEARS);
  const dayOfEra = since - era * DAYS_OF_400_YEARS;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const m = Math.floor((5 * dayOfYear + 2) / 153);
  const month = m < 10 ? m + 3 : m - 9;
  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - daysBeforeMonth(m) + 1,
  };
}

/** From March on, every five months have 153 days. */
function daysBeforeMonth(sinceMarch: number): number {
  return Math.floor((153 * sinceMarch + 2) / 5);
}
