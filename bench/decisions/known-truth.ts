import { DAY } from "../../src/kernel/time.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { ComputeArrivals } from "../../src/traffic/recorded/trace/trace.ts";
import { weightedCostMs } from "../../src/whatif/gap-curve/costs.ts";
import { pointOf } from "../../src/whatif/gap-curve/curve.ts";
import type { SuspendDelay } from "../../src/whatif/gap-curve/delay.ts";
import { dayTotals } from "../../src/whatif/held-out/day-totals.ts";
import { emptyGaps, type Gaps, mergeGaps } from "../../src/whatif/trace/gaps.ts";
import type { LongGaps } from "../../src/whatif/trace/long-gaps.ts";
import {
  CURRENT_DELAY_S,
  costPerMonth,
  daysFrom,
  QUESTION,
  quotaDate,
  type TrafficReader,
  waitMs,
} from "./recorded-answer.ts";
import { arrivalsOfKind, FIRST_DAY, type TrafficKind } from "./traffic-kinds.ts";

export const RECORDED_DAYS = 28;
/** The month after the record. */
export const MONTH_DAYS = 31;
/** The quota is used up after this share of the month on average. */
const QUOTA_SHARE = 0.65;

/** Expected figures of a kind of traffic, from many replications of the same days. */
class ExpectedFigures {
  readonly #gaps: Gaps;
  readonly #records: readonly LongGaps[];
  readonly #lastWeek = new Map<SuspendDelay, { readonly activeMs: number; readonly coldStarts: number }>();
  readonly waitMeanMs: number;

  /** `gaps`: of all records together. */
  constructor(gaps: Gaps, records: readonly LongGaps[]) {
    this.#gaps = gaps;
    this.#records = records;
    this.waitMeanMs = records.reduce((sum, record) => sum + waitMs(record), 0) / gaps.arrivals;
  }

  costPerMonth(delay: SuspendDelay): number {
    return costPerMonth(this.#gaps, delay, QUESTION.costs) / this.#records.length;
  }

  coldStartsPerDay(delay: SuspendDelay): number {
    return pointOf(this.#gaps, delay).coldStartsPerDay / this.#records.length;
  }

  /** Weighted cost saved in the last week, compared with the current delay. */
  gainPercent(delay: SuspendDelay, worthS: number): number {
    const costOf = (of: SuspendDelay) => weightedCostMs(this.#inLastWeek(of), worthS);
    return (1 - costOf(delay) / costOf(CURRENT_DELAY_S)) * 100;
  }

  #inLastWeek(delay: SuspendDelay) {
    const known = this.#lastWeek.get(delay);
    if (known !== undefined) return known;
    const sum = { activeMs: 0, coldStarts: 0 };
    for (const record of this.#records) {
      const totals = dayTotals(
        record,
        () => delay,
        () => 1,
      );
      for (let day = RECORDED_DAYS - 7; day < RECORDED_DAYS; day += 1) {
        sum.activeMs += totals.activeMs[day] as number;
        sum.coldStarts += totals.coldStarts[day] as number;
      }
    }
    this.#lastWeek.set(delay, sum);
    return sum;
  }
}

export type KnownTruth = {
  /** Expected figures of the recorded days. `later`: of as many days after them. */
  readonly recorded: ExpectedFigures;
  readonly later: ExpectedFigures;
  /** Quota that is used up within the month after the record in most replications. */
  readonly quotaCuHours: number;
};

/** `replications`: of other seeds than those of the judged ones. */
export function knownTruth(kind: TrafficKind, replications: number, reader: TrafficReader): KnownTruth {
  const first = daysFrom(FIRST_DAY, RECORDED_DAYS);
  const second = daysFrom(first.endAt, RECORDED_DAYS);
  const sums = [first, second].map((period) => ({
    period,
    gaps: emptyGaps(period),
    records: [] as LongGaps[],
  }));
  let usedCuHours = 0;
  for (let replication = 0; replication < replications; replication += 1) {
    const arrivals = arrivalsOfKind(kind, RECORDED_DAYS + MONTH_DAYS, randomFrom(-1 - replication));
    for (const sum of sums) {
      const { gaps, longGaps } = reader.read(arrivals, sum.period);
      mergeGaps(sum.gaps, gaps);
      sum.records.push(longGaps);
    }
    const month = daysFrom(first.endAt, Math.round(MONTH_DAYS * QUOTA_SHARE));
    usedCuHours += quotaDate(afterRecord(arrivals), month, Number.MAX_SAFE_INTEGER).usedCuHours;
  }
  const [recorded, later] = sums.map((sum) => new ExpectedFigures(sum.gaps, sum.records)) as [
    ExpectedFigures,
    ExpectedFigures,
  ];
  return { recorded, later, quotaCuHours: usedCuHours / replications };
}

/** The requests of the month after the record. */
export function afterRecord(arrivals: readonly ComputeArrivals[]): ComputeArrivals[] {
  const from = FIRST_DAY + RECORDED_DAYS * DAY;
  return arrivals.map(({ at, durationMs }) => ({
    at: at.filter((instant) => instant >= from),
    durationMs: durationMs.filter((_, index) => (at[index] as number) >= from),
  }));
}
