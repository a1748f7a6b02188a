import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { RESOLUTION_MS } from "./active-periods.ts";
import { PeriodColumns } from "./period-columns.ts";

/** From `startAt` (inclusive) to `endAt` (exclusive). */
export type TimeSpan = { readonly startAt: SimTime; readonly endAt: SimTime };

export type RemainingPeriods = {
  readonly periods: PeriodColumns;
  /** The hours and the periods that are omitted, ascending, without overlaps. */
  readonly spans: readonly TimeSpan[];
  readonly omittedPeriods: number;
  readonly omittedActiveMs: DurationMs;
};

/**
 * The periods of a compute without those that overlap one of these hours, because part of a period says nothing about
 * its last request. What remains on the two sides of an omitted hour are two records: the gap between them is not
 * known.
 *
 * `hours`: ascending. `endAt`: the end of what was read.
 */
export function withoutHours(
  periods: PeriodColumns,
  hours: readonly TimeSpan[],
  endAt: SimTime,
): RemainingPeriods {
  const own = hours.filter(({ startAt }) => startAt < endAt);
  const remaining = new PeriodColumns(periods.length);
  const omitted: TimeSpan[] = [];
  let [hour, omittedActiveMs] = [0, 0];
  for (let index = 0; index < periods.length; index += 1) {
    const from = periods.requestedAt[index] as number;
    const to = periods.lastActiveAt(index, endAt);
    while (hour < own.length && (own[hour] as TimeSpan).endAt <= from) hour += 1;
    const isOmitted = hour < own.length && (own[hour] as TimeSpan).startAt < to + RESOLUTION_MS;
    if (isOmitted) {
      omitted.push({ startAt: from, endAt: to });
      omittedActiveMs += Math.max(0, to - periods.activeAt(index));
    } else remaining.add(periods.at(index));
  }
  const hoursUntilEnd = own.map((span) => ({ startAt: span.startAt, endAt: Math.min(span.endAt, endAt) }));
  const spans = united([...hoursUntilEnd, ...omitted]);
  addBreaks(remaining, spans, endAt);
  return { periods: remaining, spans, omittedPeriods: omitted.length, omittedActiveMs };
}

/** Ends the record of each period that an omitted span follows before the next period. */
function addBreaks(periods: PeriodColumns, spans: readonly TimeSpan[], endAt: SimTime): void {
  let next = 0;
  for (let index = 0; index < periods.length; index += 1) {
    const to = periods.lastActiveAt(index, endAt);
    while (next < spans.length && (spans[next] as TimeSpan).startAt < to) next += 1;
    const span = spans[next];
    if (span === undefined) return;
    const following = index + 1 < periods.length ? (periods.requestedAt[index + 1] as number) : endAt;
    if (span.startAt <= following) periods.endRecordAfter(index, span.startAt);
  }
}

function united(spans: readonly TimeSpan[]): readonly TimeSpan[] {
  const all: TimeSpan[] = [];
  for (const span of [...spans].sort((a, b) => a.startAt - b.startAt)) {
    const last = all.at(-1);
    if (last === undefined || span.startAt > last.endAt) all.push(span);
    else all[all.length - 1] = { startAt: last.startAt, endAt: Math.max(last.endAt, span.endAt) };
  }
  return all;
}
