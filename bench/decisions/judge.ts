import { DAY, MINUTE, type SimTime } from "../../src/kernel/time.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { weightedCostMs } from "../../src/whatif/gap-curve/costs.ts";
import { pointOf } from "../../src/whatif/gap-curve/curve.ts";
import type { SuspendDelay } from "../../src/whatif/gap-curve/delay.ts";
import { bestDelayOf } from "../../src/whatif/gap-curve/optimum.ts";
import type { HeldOutChoice, HeldOutSummary } from "../../src/whatif/held-out/held-out-summary.ts";
import type { DateSummary } from "../../src/whatif/questions/quota/project-quota.ts";
import type { Gaps } from "../../src/whatif/trace/gaps.ts";
import { afterRecord, type KnownTruth, knownTruth, MONTH_DAYS, RECORDED_DAYS } from "./known-truth.ts";
import {
  CURRENT_DELAY_S,
  daysFrom,
  quotaDate,
  quotaForecast,
  type RecordedAnswer,
  recordedAnswer,
  TrafficReader,
} from "./recorded-answer.ts";
import { arrivalsOfKind, collectedArrivals, FIRST_DAY, type TrafficKind } from "./traffic-kinds.ts";

/** Each has a printed 95 % interval. */
export const INTERVALS = ["cost", "cold starts", "wait", "change", "held-out gain", "quota date"] as const;
type IntervalName = (typeof INTERVALS)[number];

/** Whether an interval contains the truth; `unknown`: the answer says why it has none. */
export type Coverage = { covered: number; missed: number; unknown: number };

export type KindVerdict = {
  readonly kind: string;
  readonly replications: number;
  readonly intervals: Readonly<Record<IntervalName, Coverage>>;
  /** Replications in which the first lines warn that the traffic grows or shrinks. */
  readonly warned: number;
  /** Promised gain of the delay for all computes minus its gain on held-out days, in percentage points; mean. */
  readonly promisedMinusHeldOut: number;
  /** Promised gain minus the expected gain on other days, in percentage points; mean. */
  readonly promisedMinusTrue: number;
  /** Weighted cost of the recommended delay on new days, above that of the best one in hindsight; mean, in percent. */
  readonly regretPercent: number;
  /** Number of recommendations of another delay than the current one. */
  readonly changes: number;
  /** Number of these recommendations that cost more than the current delay on new days, and the largest loss. */
  readonly losses: number;
  readonly worstLossPercent: number;
};

/** Streams: calls `onDone` after each replication. */
export function judgeKind(
  kind: TrafficKind,
  { replications, truths }: { readonly replications: number; readonly truths: number },
  onDone: (replications: number) => void = () => {},
): KindVerdict {
  const reader = new TrafficReader(daysFrom(FIRST_DAY, RECORDED_DAYS));
  const truth = knownTruth(kind, truths, reader);
  const coverage = (): Coverage => ({ covered: 0, missed: 0, unknown: 0 });
  const intervals = Object.fromEntries(INTERVALS.map((name) => [name, coverage()])) as Record<
    IntervalName,
    Coverage
  >;
  const differences = { heldOut: new MeanOf(), truth: new MeanOf(), regret: new MeanOf() };
  let [warned, changes, losses, worstLossPercent] = [0, 0, 0, 0];
  for (let replication = 0; replication < replications; replication += 1) {
    const judged = judgeReplication(kind, truth, 1 + replication, reader);
    for (const name of INTERVALS) intervals[name][judged.intervals[name]] += 1;
    if (judged.isWarned) warned += 1;
    if (judged.promised !== undefined) {
      differences.heldOut.add(judged.promised.gain - judged.promised.heldOut);
      differences.truth.add(judged.promised.gain - judged.promised.truth);
    }
    if (judged.choice !== undefined) {
      const { regretPercent, lossPercent, isChange } = judged.choice;
      differences.regret.add(regretPercent);
      if (isChange) changes += 1;
      if (lossPercent > 0) losses += 1;
      worstLossPercent = Math.max(worstLossPercent, lossPercent);
    }
    onDone(replication + 1);
  }
  return {
    kind: kind.name,
    replications,
    intervals,
    warned,
    promisedMinusHeldOut: differences.heldOut.mean,
    promisedMinusTrue: differences.truth.mean,
    regretPercent: differences.regret.mean,
    changes,
    losses,
    worstLossPercent,
  };
}

/** The share of the intervals that were given; 1 if none was. */
export function coveredShare({ covered, missed }: Coverage): number {
  return covered + missed === 0 ? 1 : covered / (covered + missed);
}

function judgeReplication(kind: TrafficKind, truth: KnownTruth, seed: number, reader: TrafficReader) {
  const all = arrivalsOfKind(kind, RECORDED_DAYS + MONTH_DAYS, randomFrom(seed));
  const period = daysFrom(FIRST_DAY, RECORDED_DAYS);
  const collected = all.map((arrivals) => collectedArrivals(kind, arrivals, period.endAt));
  const answer = recordedAnswer(reader.read(collected, period), period);
  const month = quotaForecast(collected, period, truth.quotaCuHours, seed);
  const { gaps: later } = reader.read(all, daysFrom(period.endAt, RECORDED_DAYS));
  const date = quotaDate(afterRecord(all), daysFrom(period.endAt, MONTH_DAYS), truth.quotaCuHours).reachedAt;
  return {
    isWarned: answer.isWarned,
    intervals: {
      // With the warning, the figures are said to be those of the recorded days.
      ...curveIntervals(answer, answer.isWarned ? truth.recorded : truth.later),
      "quota date": dateVerdict(month, date),
    },
    promised: promisedGain(answer, truth),
    choice: choiceVerdict(answer, later),
  };
}

function curveIntervals(
  { current, margins, balanced, changePercent, changeMargins, heldOut, worthS }: RecordedAnswer,
  expected: KnownTruth["later"],
): Record<Exclude<IntervalName, "quota date">, keyof Coverage> {
  const cost = expected.costPerMonth(CURRENT_DELAY_S);
  const starts = expected.coldStartsPerDay(CURRENT_DELAY_S);
  const change = (expected.costPerMonth(balanced) / cost - 1) * 100;
  const fleet = fleetChoice(heldOut);
  const gain = fleet?.held_out.gain_percent;
  return {
    cost: verdictOf(current.cost_dollars_per_month, margins?.cost_dollars_per_month, cost),
    "cold starts": verdictOf(current.cold_starts_per_day, margins?.cold_starts_per_day, starts),
    wait: verdictOf(current.wait_mean_ms, margins?.wait_mean_ms, expected.waitMeanMs),
    change: verdictOf(changePercent, changeMargins?.cost_percent, change),
    "held-out gain": verdictOf(
      gain,
      fleet?.held_out.margin_95?.gain_percent,
      fleet === undefined ? 0 : expected.gainPercent(fleet.delay_s as SuspendDelay, worthS),
    ),
  };
}

/** One delay for all computes; undefined if it was not judged on other days. */
function fleetChoice(heldOut: HeldOutSummary): HeldOutChoice | undefined {
  return "missing" in heldOut ? undefined : heldOut.choices.find(({ choice }) => choice === "fleet");
}

/** The judged month begins with suspended computes, that of the forecast does not: it uses up its quota earlier. */
const DATE_TOLERANCE_MS = 30 * MINUTE;
/** Rounding errors are no misses where an interval has no width. */
const TOLERANCE = 1e-9;

function verdictOf(
  value: number | null | undefined,
  margin: number | null | undefined,
  truth: number,
): keyof Coverage {
  if (value === null || value === undefined || margin === null || margin === undefined) return "unknown";
  return Math.abs(value - truth) <= margin + TOLERANCE * Math.abs(truth) ? "covered" : "missed";
}

function dateVerdict(month: DateSummary | undefined, date: SimTime): keyof Coverage {
  if (month === undefined) return "unknown";
  const { low, high } = month;
  const endAt = FIRST_DAY + (RECORDED_DAYS + MONTH_DAYS) * DAY;
  const from = low === null ? endAt : Date.parse(low);
  const to = high === null ? Number.POSITIVE_INFINITY : Date.parse(high);
  return date >= from - DATE_TOLERANCE_MS && date <= to + DATE_TOLERANCE_MS ? "covered" : "missed";
}

function promisedGain({ heldOut, worthS }: RecordedAnswer, { later }: KnownTruth) {
  const fleet = fleetChoice(heldOut);
  if (fleet === undefined) return undefined;
  return {
    gain: fleet.promised.gain_percent ?? 0,
    heldOut: fleet.held_out.gain_percent ?? 0,
    truth: later.gainPercent(fleet.delay_s as SuspendDelay, worthS),
  };
}

/** `later`: of new days. */
function choiceVerdict({ recommended, worthS }: RecordedAnswer, later: Gaps) {
  if (recommended === undefined) return undefined;
  const costOf = (delay: SuspendDelay) => weightedCostMs(pointOf(later, delay), worthS);
  const isChange = recommended !== CURRENT_DELAY_S;
  return {
    isChange,
    regretPercent: (costOf(recommended) / costOf(bestDelayOf(later, worthS)) - 1) * 100,
    lossPercent: isChange ? (costOf(recommended) / costOf(CURRENT_DELAY_S) - 1) * 100 : 0,
  };
}

class MeanOf {
  #sum = 0;
  #count = 0;

  add(value: number): void {
    this.#sum += value;
    this.#count += 1;
  }

  /** 0 without values. */
  get mean(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count;
  }
}
