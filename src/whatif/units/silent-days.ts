import { isoInstant } from "../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import { daysByKind } from "./bootstrap.ts";
import { plural } from "./number-format.ts";

/** Fewer are taken for idle days, such as a long weekend. */
const MIN_SILENT_DAYS = 3;
/** A kind of day (workdays or weekend days) is usually busy if its other days have this number of requests. */
const USUAL_REQUESTS = 20;

/** Consecutive days; `to` is exclusive. */
export type SilentDays = { readonly from: SimTime; readonly to: SimTime; readonly days: number };

/**
 * The longest time without any request of any compute, if it contains three days or more that are usually busy.
 * Probably nothing was collected then. `days`: in order; `requests`: of each.
 */
export function silentDays(days: readonly SimTime[], requests: readonly number[]): SilentDays | undefined {
  const requestsOn = new Map(days.map((day, index) => [day, requests[index] as number]));
  const busyKinds = daysByKind(days).filter((kind) => {
    const busy = kind.map((day) => requestsOn.get(day) as number).filter((count) => count > 0);
    return busy.length * 2 > kind.length && median(busy) >= USUAL_REQUESTS;
  });
  const usuallyBusy = new Set(busyKinds.flat());
  let longest: SilentDays | undefined;
  for (let first = 0; first < days.length; first += 1) {
    if (requests[first] !== 0) continue;
    let last = first;
    while (requests[last + 1] === 0) last += 1;
    const run = days.slice(first, last + 1);
    const count = run.length;
    const isSuspicious = run.filter((day) => usuallyBusy.has(day)).length >= MIN_SILENT_DAYS;
    if (isSuspicious && count > (longest?.days ?? 0))
      longest = { from: run[0] as SimTime, to: (run.at(-1) as SimTime) + DAY, days: count };
    first = last;
  }
  return longest;
}

/** Why days without requests leave nothing to say about other days, or undefined. */
export function silenceReason(days: readonly SimTime[], requests: readonly number[]): string | undefined {
  const silent = silentDays(days, requests);
  return silent === undefined ? undefined : silenceText(silent);
}

export function silenceText({ from, to, days }: SilentDays): string {
  const date = (at: SimTime) => isoInstant(at).slice(0, "2026-01-01".length);
  return `no compute has a request from ${date(from)} to ${date(to - DAY)} (${plural(days, "day")}); if they were not collected, use the days before or after them (--from, --to)`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
