import { dayStart } from "../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import { parseInstant } from "../../traffic/recorded/rows/instant.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { daysByKind, recordedDays } from "../units/bootstrap.ts";

/** Days are numbered from the first UTC day of the period, as in `LongGaps`. */
export type DaySplit = {
  readonly train: readonly number[];
  readonly test: readonly number[];
};

/** Whole days: a number of them, a share of all, or all from a date on. */
export type DaySpan = { readonly days: number } | { readonly share: number } | { readonly from: SimTime };

export type SplitInput = { readonly train?: DaySpan | undefined; readonly test?: DaySpan | undefined };

/** Cross-validation omits one of them. */
const MIN_TRAINING_DAYS = 2;
const WEEK_DAYS = 7;
/** With fewer whole weeks, the test days are taken from the workdays and from the weekend days. */
const MIN_WEEKS = 3;
/** Share of the test in the whole weeks, or in the days of each kind. */
const TEST_SHARE = 1 / 3;

export const SPAN_RULE =
  "must be a number of days such as 7d, a share such as 30%, or a date such as 2026-01-22";

/** Parses a span of days; undefined for any other text. */
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
 * The last days are for the test; those before them for the training, by default all. Workdays do not test a
 * delay that was chosen on weekends, so the default for the test is whole weeks, or days of each kind. Throws a
 * RangeError if too few days remain.
 */
export function splitDays(period: Period, { train, test }: SplitInput): DaySplit {
  const all = wholeDays(period);
  const { days, tested } =
    test === undefined ? matchedDays(period, all) : { days: all, tested: lastDays(period, all, test) };
  const before = days.filter((day) => !tested.includes(day));
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

/**
 * The last third of whole weeks; with fewer than three, the last third of the workdays and of the weekend days. A
 * kind with a single day is omitted.
 */
function matchedDays(
  period: Period,
  all: readonly number[],
): { readonly days: readonly number[]; readonly tested: readonly number[] } {
  const weeks = Math.floor(all.length / WEEK_DAYS);
  if (weeks >= MIN_WEEKS)
    return { days: all, tested: all.slice(all.length - WEEK_DAYS * Math.floor(weeks * TEST_SHARE)) };
  const kinds = daysByKind(all.map((day) => dayStart(period.startAt) + day * DAY))
    .map((kind) => kind.map((at) => (at - dayStart(period.startAt)) / DAY))
    .filter(({ length }) => length > 1);
  const ascending = (days: readonly number[]) => [...days].sort((a, b) => a - b);
  const tested = kinds.flatMap((kind) => kind.slice(-Math.max(1, Math.floor(kind.length * TEST_SHARE))));
  return { days: ascending(kinds.flat()), tested: ascending(tested) };
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
