import type { TrafficSummary } from "../trace/traffic-summary.ts";
import { delayText, money, plural } from "./number-format.ts";
import type { QuestionSummary } from "./question.ts";

export function requestsText({ requests, computes_used }: TrafficSummary): string {
  return `${plural(requests, "request")} to ${plural(computes_used, "compute")}`;
}

export function periodText({ from, to }: TrafficSummary): string {
  return `${from} to ${to}`;
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
    ? `assumes that avoiding a cold start is worth ${worthText(worth)}`
    : `assumes that an hour of waiting is worth ${worthText(worth)}`;
}

export function worthText({
  cold_start_worth_s,
  cold_start_worth_dollars,
  wait_worth_dollars_per_hour,
}: AssumedWorth): string {
  if (wait_worth_dollars_per_hour !== undefined) return smallMoney(wait_worth_dollars_per_hour);
  if (cold_start_worth_dollars !== undefined) return smallMoney(cold_start_worth_dollars);
  return `${delayText(cold_start_worth_s ?? 0)} of active time`;
}

/** Fractions of a cent with two significant digits. */
export function smallMoney(dollars: number): string {
  return dollars > 0 && dollars < 0.1 ? `$${Number(dollars.toPrecision(2))}` : money(dollars);
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
