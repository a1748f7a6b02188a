import { dayStart } from "../../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../../kernel/time.ts";
import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import { wholeDays } from "../../held-out/day-split.ts";
import { tooManyDays } from "../../held-out/day-statistics.ts";

/** Length of a fold in UTC days, after which policies are trained again. */
export const FOLD_DAYS = { week: 7, day: 1 } as const;
export type FoldLength = keyof typeof FOLD_DAYS;

/** Policies are trained on all days before `testFrom` and judged on those up to `testTo` (exclusive). */
export type Fold = {
  readonly testFrom: SimTime;
  readonly testTo: SimTime;
  /** Whole days, numbered as in `LongGaps`. */
  readonly trainDays: readonly number[];
  readonly testDays: readonly number[];
};

/** One week, which contains workdays and weekend days. */
const MIN_TRAINING_DAYS = 7;
/** Drift needs two folds to compare. */
const MIN_FOLDS = 2;
/** Maximum number of folds: the last ones of a longer trace. Each takes a pass through all earlier traffic. */
const MAX_FOLDS = 60;

/** The folds in order. The last one ends with the last whole UTC day. Throws a RangeError if there are too few. */
export function foldsOf(period: Period, length: FoldLength): readonly Fold[] {
  const tooMany = tooManyDays(period);
  if (tooMany !== undefined) throw new RangeError(tooMany);
  const days = wholeDays(period);
  const foldDays = FOLD_DAYS[length];
  const count = Math.min(MAX_FOLDS, Math.floor((days.length - MIN_TRAINING_DAYS) / foldDays));
  if (count < MIN_FOLDS) throw new RangeError(tooFewDays(days.length, length));
  const first = days.length - count * foldDays;
  const instantOf = (index: number) => dayStart(period.startAt) + ((days[0] as number) + index) * DAY;
  return Array.from({ length: count }, (_, fold) => {
    const [from, to] = [first + fold * foldDays, first + (fold + 1) * foldDays];
    return {
      testFrom: instantOf(from),
      testTo: Math.min(period.endAt, instantOf(to)),
      trainDays: days.slice(0, from),
      testDays: days.slice(from, to),
    };
  });
}

function tooFewDays(days: number, length: FoldLength): string {
  const needed = (each: FoldLength) => MIN_TRAINING_DAYS + MIN_FOLDS * FOLD_DAYS[each];
  const shorter = length === "week" && days >= needed("day") ? "; use --fold day, or longer traffic" : "";
  return `the traffic has ${days} whole ${days === 1 ? "day" : "days"} (UTC), and a backtest by ${length} needs ${needed(length)}: ${MIN_TRAINING_DAYS} to train on and ${MIN_FOLDS} folds of ${FOLD_DAYS[length]}${shorter}`;
}
