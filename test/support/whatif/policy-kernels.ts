import { randomFrom } from "../../../src/simulation/random.ts";
import type { CoupledFleet } from "../../../src/whatif/coupled/coupled-fleet.ts";
import { simulateCoupled } from "../../../src/whatif/coupled/coupled-simulation.ts";
import { hybridHistogram } from "../../../src/whatif/policies/hybrid-histogram.ts";
import { learnedHazard } from "../../../src/whatif/policies/learned-hazard.ts";
import type { Policy, PolicyState, SleepSchedule } from "../../../src/whatif/policies/policy.ts";
import { predictiveResume } from "../../../src/whatif/policies/predictive-resume.ts";
import { Attributor } from "../../../src/whatif/questions/attribution/attribution.ts";
import { quotaMonths } from "../../../src/whatif/questions/quota/quota-months.ts";
import { emptyGaps } from "../../../src/whatif/trace/gaps.ts";
import { policyContext } from "./replay-trace.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** Results of small cases from the kernels in which computes share a resource, and from those that learn. */
export function policyFigures(): Record<string, number> {
  return { ...startFigures(), ...quotaFigures(), ...attributionFigures(), ...learnedFigures() };
}

type Row = readonly [at: number, durationMs?: number];

function fleetOf(
  computes: readonly (readonly Row[])[],
  endAt: number,
  options: Partial<CoupledFleet> = {},
): CoupledFleet {
  return {
    period: { startAt: 0, endAt },
    delayMs: new Float64Array(computes.length).fill(MINUTE),
    cu: new Float64Array(computes.length).fill(1),
    arrivals: computes.map((rows) => ({
      at: Float64Array.from(rows, ([at]) => at),
      durationMs: Float64Array.from(rows, ([, durationMs = 0]) => durationMs),
    })),
    clients: [],
    latency: { kind: "fixed", ms: 10 * SECOND },
    starts: {},
    random: randomFrom(1),
    ...options,
  };
}

function startFigures(): Record<string, number> {
  const turns = (endAt: number) =>
    simulateCoupled(fleetOf([[[0]], [[2_000]], [[1_000]]], endAt, { starts: { concurrent: 1 } }));
  const pooled = (secondAt: number) =>
    simulateCoupled(fleetOf([[[0]], [[secondAt]]], HOUR, { starts: { pool: { size: 1, refillMs: 30_000 } } }))
      .limiter.poolHits;
  return {
    "starts: most under way": turns(HOUR).limiter.mostUnderWay,
    "starts: waits for turns": turns(HOUR).waits.sumMs,
    "starts: longest wait": turns(HOUR).waits.quantile(1, 3),
    "starts: waits for turns behind the end": turns(3_000).waits.sumMs,
    "starts: prepared again": pooled(30_000),
    "starts: not prepared again": pooled(29_999),
  };
}

function quotaFigures(): Record<string, number> {
  const latency = { kind: "fixed", ms: 0 } as const;
  const two = fleetOf(
    [
      [[0, HOUR], [300_000]],
      [[5_000, HOUR], [360_000]],
    ],
    600_000,
    { latency },
  );
  const [first] = quotaMonths(two, 25.0005);
  const month = 31 * DAY;
  const rows: Row[] = [[0, HOUR], [month - 1], [month]];
  const months = quotaMonths(fleetOf([rows], month + HOUR, { latency }), 25);
  const across = quotaMonths(fleetOf([[[month - 10_000, 20_000]]], month + HOUR, { latency }), 1e9);
  return {
    "quota: reached": first?.reachedAt ?? Number.NaN,
    "quota: reached as it is as much": months[0]?.reachedAt ?? Number.NaN,
    "quota: refused": first?.refused ?? Number.NaN,
    "quota: refused until the next month": months.reduce((sum, { refused }) => sum + refused, 0),
    "quota: seconds of the next month": (across[1]?.usedCuHours ?? Number.NaN) * 3_600,
  };
}

function attributionFigures(): Record<string, number> {
  const attributor = new Attributor({ startAt: 0, endAt: 600_000 }, 60, 2);
  attributor.begin({ at: () => 0 });
  const at = Float64Array.of(0, 50_000, 100_000);
  attributor.add({ at, durationMs: new Float64Array(3), source: Uint16Array.of(0, 1, 0) });
  attributor.end();
  const { all, shares } = attributor.attribution();
  const [first, second] = shares;
  return {
    "attribution: all": all.activeMs,
    "attribution: without the first": first?.without.activeMs ?? Number.NaN,
    "attribution: without the second": second?.without.activeMs ?? Number.NaN,
    "attribution: the first alone": first?.alone.activeMs ?? Number.NaN,
    "attribution: requests of the first": first?.arrivals ?? Number.NaN,
  };
}

function learnedFigures(): Record<string, number> {
  const histogram = policyStateOf(hybridHistogram({ rangeMs: 4 * HOUR, fallbackMs: 300_000 }));
  const fallback = sleepScheduleOf(histogram, 0).sleepAt;
  for (let i = 0; i < 100; i += 1) histogram.learn?.(i < 4 ? 300_000 : i < 98 ? 600_000 : 1_200_000, 0);
  const hybrid = sleepScheduleOf(histogram, 0);
  const far = policyStateOf(hybridHistogram({ rangeMs: 4 * HOUR, fallbackMs: 300_000 }));
  for (const hours of [5, 6]) far.learn?.(hours * HOUR, 0);
  const weekly = policyStateOf(predictiveResume({ delayMs: 300_000, leadMs: 600_000, share: 0.5 }));
  const cameAt = 10 * HOUR + 20 * MINUTE;
  weekly.learn?.(0, cameAt);
  const predicted = sleepScheduleOf(weekly, cameAt);
  const hazard = policyStateOf(learnedHazard);
  const idleTimes = [30, 30, 30, 30, 1_000, 30, 30, 30, 30, 30].map((seconds) => seconds * SECOND);
  for (const idleMs of idleTimes.slice(1)) hazard.learnStart?.(MINUTE, idleMs, 0);
  const unlearned = sleepScheduleOf(hazard, 0).sleepAt;
  hazard.learnStart?.(MINUTE, 30 * SECOND, 0);
  return {
    "hybrid: fallback": fallback,
    "hybrid: resumes": hybrid.resumeAt,
    "hybrid: holds": hybrid.holdMs,
    "hybrid: resumes far away": sleepScheduleOf(far, 0).resumeAt,
    "predictive: resumes": predicted.resumeAt,
    "predictive: holds": predicted.holdMs,
    "predictive: resumes when it came once in four weeks": Number.isFinite(
      sleepScheduleOf(weekly, cameAt + 3 * WEEK).resumeAt,
    )
      ? 1
      : 0,
    "hazard: of nine": unlearned,
    "hazard: of ten": sleepScheduleOf(hazard, 0).sleepAt,
  };
}

function policyStateOf(policy: Policy): PolicyState {
  const gaps = () => emptyGaps({ startAt: 0, endAt: 1 });
  return policy.createState(policyContext({ computeGaps: gaps, fleetGaps: gaps }));
}

function sleepScheduleOf(policyState: PolicyState, idleSince: number): SleepSchedule {
  const schedule: SleepSchedule = { sleepAt: 0, resumeAt: 0, holdMs: 0 };
  policyState.schedule(idleSince, schedule, Number.POSITIVE_INFINITY);
  return schedule;
}
