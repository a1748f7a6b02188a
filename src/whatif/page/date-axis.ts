import * as Plot from "@observablehq/plot";
import { utcDateOf, weekdayOf } from "../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import { parseInstant } from "../../traffic/recorded/rows/instant.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { INK } from "./palette.ts";
import type { Frame } from "./svg.ts";

const WEEK_DAYS = 7;
const TICK_STEPS_DAYS: readonly number[] = [1, 2, 7, 14, 28, 56, 91, 182, 364];
const TICKS = { wide: 12, narrow: 5 };
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONDAY = 1;
const SATURDAY = 6;
/** In a longer period, weekends are too thin to see. */
const MAX_WEEKEND_DAYS = 200;

/** The x axis of a period: dates in UTC. `instants` are in milliseconds. */
export function dateAxis(period: Period, { isNarrow }: Frame): Plot.ScaleOptions {
  return {
    type: "linear",
    domain: [period.startAt, period.endAt],
    label: `date, UTC (${yearsText(period)}) →`,
    ticks: tickDays(period, isNarrow ? TICKS.narrow : TICKS.wide),
    tickFormat: dateText,
  } as Plot.ScaleOptions;
}

/** Shades Saturdays and Sundays over the height of the chart. */
export function weekendShade(period: Period): Plot.Markish[] {
  const weekends = weekendsOf(period);
  if (weekends.length === 0) return [];
  return [
    Plot.rectX(weekends, {
      x1: "startAt",
      x2: "endAt",
      fill: INK.faint,
      fillOpacity: 0.12,
      title: ({ startAt }: Period) => `weekend of ${dateText(startAt)}`,
    }),
  ];
}

/** The weekends within the period. The first and the last one may be cut off. None for a long period. */
export function weekendsOf({ startAt, endAt }: Period): Period[] {
  if (endAt - startAt > MAX_WEEKEND_DAYS * DAY) return [];
  const weekends: Period[] = [];
  for (let day = Math.floor(startAt / DAY) - 1; day * DAY < endAt; day++) {
    if (weekdayOf(day * DAY) !== SATURDAY) continue;
    const weekend = { startAt: Math.max(startAt, day * DAY), endAt: Math.min(endAt, (day + 2) * DAY) };
    if (weekend.startAt < weekend.endAt) weekends.push(weekend);
  }
  return weekends;
}

/** Midnights (UTC). With a step of a week or more, they are Mondays. */
function tickDays({ startAt, endAt }: Period, most: number): number[] {
  const days = (endAt - startAt) / DAY;
  const step = TICK_STEPS_DAYS.find((each) => days / each <= most) ?? Math.ceil(days / most);
  let first = Math.ceil(startAt / DAY);
  while (step >= WEEK_DAYS && weekdayOf(first * DAY) !== MONDAY) first++;
  const ticks: number[] = [];
  for (let day = first; day * DAY <= endAt; day += step) ticks.push(day * DAY);
  return ticks;
}

function dateText(at: number): string {
  const { day, month } = utcDateOf(at);
  return `${day} ${MONTHS[month - 1]}`;
}

export function weekdayText(at: number): string {
  return `${WEEKDAYS[weekdayOf(at) - 1]} ${dateText(at)}`;
}

/** An instant of a report, which is always ISO 8601. */
export function instantOf(text: string): SimTime {
  return parseInstant(text) as SimTime;
}

/** Formats `2026-02` as `Feb 2026`. */
export function monthText(month: string): string {
  const [year, number] = month.split("-");
  return `${MONTHS[Number(number) - 1]} ${year}`;
}

function yearsText({ startAt, endAt }: Period): string {
  const [first, last] = [startAt, endAt - 1].map((at) => utcDateOf(at).year);
  return first === last ? String(first) : `${first}–${last}`;
}
