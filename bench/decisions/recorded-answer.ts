import { DAY, type DurationMs, HOUR, SECOND, type SimTime } from "../../src/kernel/time.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { ComputeArrivals, Period } from "../../src/traffic/recorded/trace/trace.ts";
import { bestOf, tooLittleReasons } from "../../src/whatif/choice/decision.ts";
import { stretched } from "../../src/whatif/choice/robust-delay.ts";
import {
  billOf,
  type Costs,
  perMonth,
  startWorthS,
  weightedCostMs,
} from "../../src/whatif/gap-curve/costs.ts";
import { curveOf, pointOf } from "../../src/whatif/gap-curve/curve.ts";
import type { SuspendDelay } from "../../src/whatif/gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../../src/whatif/gap-curve/optimum.ts";
import { ALL_DELAYS } from "../../src/whatif/gap-curve/settable-delays.ts";
import { DayStatistics } from "../../src/whatif/held-out/day-statistics.ts";
import type { HeldOutSummary } from "../../src/whatif/held-out/held-out-summary.ts";
import type { ChangeMargins, FigureMargins } from "../../src/whatif/held-out/margins.ts";
import { type Question, questionFrom } from "../../src/whatif/input/question.ts";
import { type DateSummary, printedDate } from "../../src/whatif/questions/quota/project-quota.ts";
import { quotaMonths } from "../../src/whatif/questions/quota/quota-months.ts";
import { quotaReport } from "../../src/whatif/questions/quota/quota-report.ts";
import { clearGaps, emptyGaps, GapReader, type Gaps } from "../../src/whatif/trace/gaps.ts";
import { LongGapStore } from "../../src/whatif/trace/long-gap-store.ts";
import type { LongGaps } from "../../src/whatif/trace/long-gaps.ts";
import { computeGroups } from "../../src/whatif/trace/long-gaps.ts";
import { trafficOf } from "../../src/whatif/trace/traffic.ts";

export const CURRENT_DELAY_S = 300;
export const START_MS = 500;

/** All computes are of 1 CU, and a start takes half a second. */
export const QUESTION: Question = questionFrom({
  present: CURRENT_DELAY_S,
  cu: 1,
  startLatency: { kind: "fixed", ms: START_MS },
});

/** Reads traffic of periods of one length, into the same memory: its gaps are valid until the next reading. */
export class TrafficReader {
  readonly #gaps: Gaps;

  constructor(period: Period) {
    this.#gaps = emptyGaps(period);
  }

  read(arrivals: readonly ComputeArrivals[], period: Period): Reading {
    clearGaps(this.#gaps);
    const store = new LongGapStore(period, {
      from: 0,
      groups: computeGroups(arrivals.map((_, number) => `ep-${number}`)),
    });
    const reader = new GapReader(period, this.#gaps, { startMs: START_MS, store });
    for (const { at, durationMs } of arrivals) {
      const isWithin = (_: number, index: number) =>
        (at[index] as number) >= period.startAt && (at[index] as number) < period.endAt;
      reader.add({ at: at.filter(isWithin), durationMs: durationMs.filter(isWithin) });
      reader.end();
    }
    const longGaps = store.result();
    if (longGaps === undefined) throw new Error("too many gaps");
    return { gaps: this.#gaps, longGaps };
  }
}

export type Reading = { readonly gaps: Gaps; readonly longGaps: LongGaps };

/** The figures that `whatif curve` prints from the gaps, with their margins. */
export type RecordedAnswer = {
  /** Worth of a cold start with this traffic, in seconds. */
  readonly worthS: number;
  readonly current: FigureMargins;
  /** Undefined if the answer says why there are none. */
  readonly margins: FigureMargins | undefined;
  /** The delay with the lowest weighted cost, also if gaps get longer. */
  readonly balanced: SuspendDelay;
  /** Undefined if the answer says why there is no recommendation. */
  readonly recommended: SuspendDelay | undefined;
  /** Change of the cost with the balanced delay. */
  readonly changePercent: number;
  readonly changeMargins: ChangeMargins | undefined;
  readonly heldOut: HeldOutSummary;
  /** The first lines warn that the traffic does not stay as it was. */
  readonly isWarned: boolean;
};

export function recordedAnswer({ gaps, longGaps }: Reading, period: Period): RecordedAnswer {
  const costs = { ...QUESTION.costs, coldStartS: startWorthS(QUESTION.costs, gaps) };
  const statistics = new DayStatistics({
    gaps: longGaps,
    period,
    costs,
    currentDelay: CURRENT_DELAY_S,
    delayOf: (delay) => delay as SuspendDelay,
  });
  const found = statistics.margins();
  const margins = "missing" in found ? undefined : found;
  const objective = { curve: curveOf(gaps), worthS: costs.coldStartS };
  const balanced = bestOf(stretched(objective), [ALL_DELAYS]);
  const cost = (delay: SuspendDelay) => costPerMonth(gaps, delay, costs);
  const { coldStarts } = pointOf(gaps, SHORTEST_DELAY_S);
  const figures = (delay: SuspendDelay) => pointOf(gaps, delay);
  const gain =
    (1 -
      weightedCostMs(figures(balanced), costs.coldStartS) /
        weightedCostMs(figures(CURRENT_DELAY_S), costs.coldStartS)) *
    100;
  const changeMargins = margins?.change(balanced, CURRENT_DELAY_S).days;
  const isTooLittle =
    tooLittleReasons(period.endAt - period.startAt, coldStarts).length > 0 || statistics.change !== undefined;
  // Same rule as `decisionSummary`, which also needs the curve of all delays.
  const isNoise = gain < 2 && gain <= (changeMargins?.weighted_cost_percent ?? -1);
  return {
    worthS: costs.coldStartS,
    recommended: isTooLittle ? undefined : isNoise ? CURRENT_DELAY_S : balanced,
    current: {
      cost_dollars_per_month: cost(CURRENT_DELAY_S),
      cold_starts_per_day: pointOf(gaps, CURRENT_DELAY_S).coldStartsPerDay,
      wait_mean_ms: waitMs(longGaps) / gaps.arrivals,
    },
    margins: margins?.figures(CURRENT_DELAY_S).days,
    balanced,
    changePercent: (cost(balanced) / cost(CURRENT_DELAY_S) - 1) * 100,
    changeMargins,
    heldOut: statistics.heldOut({}),
    isWarned: statistics.change !== undefined,
  };
}

export function costPerMonth(gaps: Gaps, delay: SuspendDelay, costs: Costs): number {
  return perMonth(billOf(pointOf(gaps, delay), costs).cost, gaps.periodMs);
}

/** Time that requests wait for starts with the current delay, without those of first requests. */
export function waitMs({ gapMs, waitMs: waits }: LongGaps): DurationMs {
  return waits.reduce(
    (sum, wait, index) => ((gapMs[index] as number) > CURRENT_DELAY_S * SECOND ? sum + wait : sum),
    0,
  );
}

/** When a quota is used up in the month after the record, as `whatif quota` prints it. */
export function quotaForecast(
  arrivals: readonly ComputeArrivals[],
  period: Period,
  quotaCuHours: number,
  seed: number,
): DateSummary | undefined {
  const traffic = trafficOf({
    period,
    computes: arrivals.map((own, compute) => ({ id: `app-${compute}`, arrivals: own })),
  });
  const project = {
    project: "fleet",
    computes: arrivals.map((_, compute) => compute),
    computeSeconds: quotaCuHours * (HOUR / SECOND),
  };
  const report = quotaReport(
    traffic,
    { ...QUESTION, seed },
    { delays: [CURRENT_DELAY_S], projects: [project], monthsAhead: 1, replications: 39 },
    randomFrom,
  );
  for (let step = report.next(); ; step = report.next()) {
    if (step.done !== true) continue;
    const own = step.value.delays[0]?.projects[0];
    const month = own?.months.find(({ recorded_until }) => recorded_until === null);
    return own === undefined || month === undefined ? undefined : printedDate(month, own.change);
  }
}

/** When a quota is used up in a month that begins with `period`; infinite if it is not. */
export function quotaDate(
  arrivals: readonly ComputeArrivals[],
  period: Period,
  quotaCuHours: number,
): { readonly reachedAt: SimTime; readonly usedCuHours: number } {
  const [month] = quotaMonths(
    {
      period,
      delayMs: new Float64Array(arrivals.length).fill(CURRENT_DELAY_S * SECOND),
      cu: new Float64Array(arrivals.length).fill(1),
      arrivals,
      clients: [],
      latency: QUESTION.latency,
      starts: {},
      random: randomFrom(1),
    },
    quotaCuHours * (HOUR / SECOND),
  );
  if (month === undefined) throw new Error(`no month from ${period.startAt} on`);
  return month;
}

export function daysFrom(startAt: SimTime, days: number): Period {
  return { startAt, endAt: startAt + days * DAY };
}
