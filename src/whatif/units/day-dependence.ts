import jStat from "jstat";

/** The contribution of each day of a record to a figure. Days of one kind (workdays or weekend days) are comparable. */
export type DayEffects = {
  /** Day numbers since 1970-01-01, ascending, possibly with gaps. */
  readonly days: readonly number[];
  /** The kind of each day. */
  readonly kinds: readonly number[];
  /** Contribution of each day, in the unit of the figure. */
  readonly effects: Float64Array;
};

const UPPER_TAIL = 0.975;
const WEEK_DAYS = 7;
/** 1970-01-01 was a Thursday. */
const DAYS_AFTER_MONDAY = 3;
/** With fewer weeks, their variance is not known well enough to use. */
export const MIN_WEEKS = 4;
/** Tolerance of `MIN_WEEKS`, in weeks: the first and the last week may be partial. */
const PARTS_OF_WEEKS = 0.5;
/** Standard errors above zero from which the lag test counts days as dependent: rather too often than too rarely. */
const LAG_TEST = 0.5;
/** Upper bound of the correlation of neighboring days. A record with a higher one would be too short to know more. */
const MAX_CORRELATION = 0.9;

/**
 * Half the width of a 95 % interval of a sum of effects, for a record of `judgedDays` instead of all of these.
 * Three variances are estimated, and the widest interval is used:
 *
 * - of independent days of each kind;
 * - if a lag test finds neighbors alike, that of days of which each resembles the one before (AR(1));
 * - in that case, and with `MIN_WEEKS` weeks, the variance between calendar weeks.
 */
export function marginOfEffects(of: DayEffects, judgedDays: number = of.days.length): number {
  const count = of.days.length;
  const centered = centeredByKind(of);
  const independent = independentVariance(centered, of.kinds);
  const freedom = independentFreedom(of.kinds);
  const shorter = count / judgedDays;
  const margin = studentT(freedom) * Math.sqrt(independent * shorter);
  const correlation = neighbourCorrelation(centered, of.kinds);
  if (correlation === undefined) return margin;
  const [all, judged] = [count, judgedDays].map((days) => inflation(days, correlation)) as [number, number];
  // The mean is estimated from the same days, which hides part of their common variation.
  const hidden = (count - 1) / Math.max(1, count - all);
  const alikeFreedom = Math.min(freedom, Math.max(2, count / all));
  const alike = studentT(alikeFreedom) * Math.sqrt(independent * shorter * judged * hidden);
  return Math.max(margin, alike, weekMargin(of.days, centered) * Math.sqrt(shorter));
}

/** Factor by which an interval for independent days must be widened because these days are not independent. */
export function dependenceFactor(of: DayEffects): number {
  const independent = Math.sqrt(independentVariance(centeredByKind(of), of.kinds));
  if (independent === 0) return 1;
  return Math.max(1, marginOfEffects(of) / (studentT(independentFreedom(of.kinds)) * independent));
}

export function wholeWeeks(days: number): number {
  return Math.floor(days / WEEK_DAYS);
}

/** Subtracts the mean of its kind from each effect. */
export function centeredByKind({ kinds, effects }: Pick<DayEffects, "kinds" | "effects">): Float64Array {
  const [sums, counts] = [new Map<number, number>(), new Map<number, number>()];
  for (const [index, kind] of kinds.entries()) {
    sums.set(kind, (sums.get(kind) ?? 0) + (effects[index] as number));
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return effects.map((effect, index) => {
    const kind = kinds[index] as number;
    return effect - (sums.get(kind) as number) / (counts.get(kind) as number);
  });
}

/**
 * The correlation of neighboring days, corrected for its bias in a short record (Kendall 1954), if the lag test finds
 * any. Kinds whose days are all equal, such as weekends without traffic, are omitted.
 */
function neighbourCorrelation(centered: Float64Array, kinds: readonly number[]): number | undefined {
  const varying = new Set(kinds.filter((_, index) => centered[index] !== 0));
  const series = centered.filter((_, index) => varying.has(kinds[index] as number));
  const count = series.length;
  if (count <= WEEK_DAYS) return undefined;
  const [correlation, bias] = [lagCorrelation(series), 1 / count];
  if ((correlation + bias) * Math.sqrt(count) < LAG_TEST) return undefined;
  return Math.min(MAX_CORRELATION, Math.max(0, (count * correlation + 1) / (count - 4)));
}

/** Correlation of neighbors in a series whose mean is 0; 0 if the series is constant. */
export function lagCorrelation(series: Float64Array): number {
  let [products, squares] = [0, 0];
  for (const [index, value] of series.entries()) {
    squares += value ** 2;
    if (index > 0) products += value * (series[index - 1] as number);
  }
  return squares === 0 ? 0 : products / squares;
}

/** Factor by which the variance of a mean of AR(1) days exceeds that of independent days. */
function inflation(days: number, correlation: number): number {
  let [sum, power] = [1, 1];
  for (let lag = 1; lag < days && power > 1e-6; lag += 1) {
    power *= correlation;
    sum += 2 * (1 - lag / days) * power;
  }
  return sum;
}

function independentVariance(centered: Float64Array, kinds: readonly number[]): number {
  let variance = 0;
  for (const [kind, count] of kindCounts(kinds)) {
    if (count < 2) continue;
    let squares = 0;
    for (const [index, value] of centered.entries()) if (kinds[index] === kind) squares += value ** 2;
    variance += (squares * count) / (count - 1);
  }
  return variance;
}

/** Degrees of freedom by Welch's approximation, with the same variance assumed for all kinds. */
function independentFreedom(kinds: readonly number[]): number {
  let sum = 0;
  for (const count of kindCounts(kinds).values()) sum += count ** 2 / Math.max(1, count - 1);
  return kinds.length ** 2 / sum;
}

function kindCounts(kinds: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/**
 * Margin from the differences between calendar weeks; 0 with fewer than `MIN_WEEKS`. Weeks may be partial or lack
 * omitted days.
 */
function weekMargin(days: readonly number[], centered: Float64Array): number {
  const weeks = new Map<number, { days: number; sum: number }>();
  for (const [index, day] of days.entries()) {
    const number = Math.floor((day + DAYS_AFTER_MONDAY) / WEEK_DAYS);
    const week = weeks.get(number) ?? { days: 0, sum: 0 };
    weeks.set(number, { days: week.days + 1, sum: week.sum + (centered[index] as number) });
  }
  let [squares, shares] = [0, 0];
  for (const week of weeks.values()) {
    squares += week.sum ** 2;
    shares += (week.days / days.length) ** 2;
  }
  // Effective number of weeks: as many weeks of equal length contain the same information.
  const count = 1 / shares;
  if (count < MIN_WEEKS - PARTS_OF_WEEKS) return 0;
  // One degree of freedom is used by the mean, another one allows for the skew of the levels of weeks: a quiet month
  // hides how busy a week can be.
  return studentT(count - 2) * Math.sqrt(squares / (1 - shares));
}

function studentT(freedom: number): number {
  return jStat.studentt.inv(UPPER_TAIL, freedom);
}
