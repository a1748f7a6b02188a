import type { TrafficSummary } from "../trace/traffic-summary.ts";
import { delayText, plural } from "./number-format.ts";
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

export function coldStartWorthText({
  cold_start_worth_s,
}: Pick<QuestionSummary, "cold_start_worth_s">): string {
  return `assumes that avoiding a cold start is worth ${delayText(cold_start_worth_s)} of active time`;
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
