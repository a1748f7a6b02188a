import { dayStart } from "../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import { parseInstant } from "../../traffic/recorded/rows/instant.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { recordedDays } from "../units/bootstrap.ts";

/** Days are numbered from the first UTC day of the period, as in `LongGaps`. */
export type DaySplit = {
  readonly train: readonly number[];
  readonly test: readonly number[];
};

/** Whole days: a number of them, a share of all, or all from a date on. */
export type DaySpan = { readonly days: number } | { readonly share: number } | { readonly from: SimTime };

export type SplitInput = { readonly train?: DaySpan | undefined; readonly test?: DaySpan | undefined };

/** Cross-validation leaves out one of them. */
const MIN_TRAINING_DAYS = 2;
const DEFAULT_TEST: DaySpan = { share: 1 / 3 };

export const SPAN_RULE =
  "must be a number of days such as 7d, a share such as 30%, or a date such as 2026-01-22";

/** Undefined for anything else. */
export function parseDaySpan(text: string): DaySpan | undefined {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  if (days !== undefined) return Number(days) > 0 ? { days: Number(days) } : undefined;
  const [, percent] = /^(\d{1,2}(?:\.\d+)?)%$/.exec(text) ?? [];
  if (percent !== undefined) return Number(percent) > 0 ? { share: Number(percent) / 100 } : undefined;
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const from = parseInstant(`${text}T00:00:00Z`);
  return from === undefined ? undefined : { from };
}

/**
 * The last days are for the test, by default the last third; those before them for the training, by default
 * all. Throws a RangeError if too few days remain.
 */
export function splitDays(period: Period, { train, test = DEFAULT_TEST }: SplitInput): DaySplit {
  const days = wholeDays(period);
  const tested = lastDays(period, days, test);
  const before = days.slice(0, days.length - tested.length);
  const trained = train === undefined ? before : lastDays(period, before, train, days.length);
  if (tested.length === 0)
    throw new RangeError(`no whole day (UTC) remains for --test, of ${days.length} in the trace`);
  if (trained.length < MIN_TRAINING_DAYS)
    throw new RangeError(
      `too few whole days (UTC) remain for --train: ${trained.length} of ${days.length} in the trace, and ${MIN_TRAINING_DAYS} are needed`,
    );
  return { train: trained, test: tested };
}

/** The whole UTC days of the period. */
export function wholeDays(period: Period): readonly number[] {
  const firstDay = dayStart(period.startAt);
  return recordedDays(period).map((day) => (day - firstDay) / DAY);
}

function lastDays(
  period: Period,
  days: readonly number[],
  span: DaySpan,
  all = days.length,
): readonly number[] {
  if ("from" in span) return days.filter((day) => dayStart(period.startAt) + day * DAY >= span.from);
  const count = "days" in span ? span.days : Math.floor(span.share * all + 1e-9);
  return days.slice(Math.max(0, days.length - count));
}
