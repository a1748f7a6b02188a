import { isoInstant } from "../../kernel/calendar.ts";
import { DAY } from "../../kernel/time.ts";
import { parseInstant } from "../../traffic/recorded/rows/instant.ts";
import type { QuestionSummary } from "../input/question-summary.ts";
import type { TrafficSummary } from "../trace/traffic-summary.ts";
import { delayText, exactMoney, millisText, plural, smallMoney } from "../units/number-format.ts";

export function requestsText({ requests, computes_used }: TrafficSummary): string {
  return `${plural(requests, "request")} to ${plural(computes_used, "compute")}`;
}

/** The period as dates if it begins and ends at midnight (UTC), otherwise as instants. The last date is inclusive. */
export function periodText({ from, to }: TrafficSummary): string {
  const [start, end] = [parseInstant(from), parseInstant(to)];
  if (start === undefined || end === undefined || start % DAY !== 0 || end % DAY !== 0)
    return `${minuteText(from)} to ${minuteText(to)} UTC`;
  const [first, last] = [dateText(from), dateText(isoInstant(end - DAY))];
  return `${first === last ? first : `${first} to ${last}`} (${plural((end - start) / DAY, "day")})`;
}

/** Formats the date (UTC) of an ISO 8601 instant. */
export function dateText(instant: string): string {
  return instant.slice(0, "2026-01-31".length);
}

/** Formats date and time of an ISO 8601 instant in UTC, without the zone. */
export function minuteText(instant: string): string {
  return `${dateText(instant)} ${instant.slice("2026-01-31T".length, "2026-01-31T12:00".length)}`;
}

/** The title of a table that shows at most `shown` of its rows. */
export function truncatedTitle(title: string, shown: number, all: number): string {
  return all > shown ? `${title} (first ${shown} of ${all})` : title;
}

export type AssumedWorth = Pick<
  QuestionSummary,
  "cold_start_worth_s" | "cold_start_worth_dollars" | "wait_worth_dollars_per_hour"
>;

export function coldStartWorthText(worth: AssumedWorth): string {
  return worth.wait_worth_dollars_per_hour === undefined
    ? `assumes that avoiding a cold start is worth ${worthText(worth, exactMoney)}`
    : `assumes that an hour of waiting is worth ${worthText(worth, exactMoney)}`;
}

export function worthText(
  { cold_start_worth_s, cold_start_worth_dollars, wait_worth_dollars_per_hour }: AssumedWorth,
  show = smallMoney,
): string {
  if (wait_worth_dollars_per_hour !== undefined) return show(wait_worth_dollars_per_hour);
  if (cold_start_worth_dollars !== undefined) return show(cold_start_worth_dollars);
  return `${delayText(cold_start_worth_s ?? 0)} of active time`;
}

export function startsTakeText(latency: string): string {
  return `starts take ${startLengthText(latency)}`;
}

/** Formats the `start_latency` of a question: `3000ms`, `1000ms..5000ms`, `1344ms~1.326` and mixtures of them. */
export function startLengthText(latency: string): string {
  return latency
    .replaceAll(/ms~([\d.]+)/g, "ms in the median (σ $1)")
    .replaceAll("..", " to ")
    .replaceAll(/([\d.]+)ms/g, (_, ms: string) => millisText(Number(ms)));
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
