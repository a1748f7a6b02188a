import { isoInstant } from "../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import { suspectedSilences } from "../../traffic/recorded/trace/silence.ts";
import { plural } from "./number-format.ts";

/** Consecutive days; `to` is exclusive. */
export type SilentDays = { readonly from: SimTime; readonly to: SimTime; readonly days: number };

/**
 * The longest run of days without requests of any compute that are usually busy. Probably no data was collected on
 * them. The rule is that of the input: see `suspectedSilences`. `days`: in order; `requests`: number per day.
 */
export function silentDays(days: readonly SimTime[], requests: readonly number[]): SilentDays | undefined {
  const counted = days.flatMap((day, index) => {
    const count = requests[index] as number;
    return count === 0 ? [] : [[day / DAY, count] as const];
  });
  return suspectedSilences(counted)
    .map(({ startAt, endAt }) => ({ from: startAt, to: endAt, days: (endAt - startAt) / DAY }))
    .reduce<SilentDays | undefined>(
      (longest, one) => (one.days > (longest?.days ?? 0) ? one : longest),
      undefined,
    );
}

/** Explains why nothing can be said about other days because of days without requests; undefined if it can. */
export function silenceReason(days: readonly SimTime[], requests: readonly number[]): string | undefined {
  const silent = silentDays(days, requests);
  return silent === undefined ? undefined : silenceText(silent);
}

export function silenceText({ from, to, days }: SilentDays): string {
  const date = (at: SimTime) => isoInstant(at).slice(0, "2026-01-01".length);
  return `no compute has a request from ${date(from)} to ${date(to - DAY)} (${plural(days, "day")}); if they were not collected, use the days before or after them (--from, --to)`;
}
