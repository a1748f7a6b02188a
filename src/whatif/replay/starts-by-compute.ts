import type { DurationMs } from "../../kernel/time.ts";
import type { OutcomeTotals } from "./outcome-days.ts";

/** How the computes with requests differ, in plain values, so that a worker can return it. */
export type StartsByCompute = {
  /** Per compute: percentage of its requests that start it, including the first one. In any order. */
  readonly coldPercents: number[];
  /** Per compute: 99th percentile of the wait over all its requests. In any order. */
  readonly waitsP99Ms: DurationMs[];
  /** Computes with the highest values, by value and then by name. */
  mostColdStarts: readonly ComputeValue[];
  longestWaits: readonly ComputeValue[];
};

export type ComputeValue = { readonly compute: string; readonly value: number };

/** Most computes that are named. */
const MAX_NAMED = 5;
const SHARE = 0.99;

export function emptyStartsByCompute(): StartsByCompute {
  return { coldPercents: [], waitsP99Ms: [], mostColdStarts: [], longestWaits: [] };
}

/** Adds what a replay counted since `before`; `waitsMs`: the waits above 0 since then. */
export function addCompute(
  into: StartsByCompute,
  compute: string,
  before: Pick<OutcomeTotals, "arrivals" | "coldStarts" | "firstStarts">,
  after: Pick<OutcomeTotals, "arrivals" | "coldStarts" | "firstStarts">,
  waitsMs: readonly DurationMs[],
): void {
  const requests = after.arrivals - before.arrivals;
  if (requests === 0) return;
  const starts = after.coldStarts + after.firstStarts - before.coldStarts - before.firstStarts;
  const coldPercent = (starts / requests) * 100;
  const longer = requests - Math.ceil(SHARE * requests);
  const waitP99Ms = Float64Array.from(waitsMs).sort()[waitsMs.length - 1 - longer] ?? 0;
  mergeStartsByCompute(into, {
    coldPercents: [coldPercent],
    waitsP99Ms: [waitP99Ms],
    mostColdStarts: [{ compute, value: coldPercent }],
    longestWaits: [{ compute, value: waitP99Ms }],
  });
}

export function mergeStartsByCompute(into: StartsByCompute, part: StartsByCompute): void {
  for (const value of part.coldPercents) into.coldPercents.push(value);
  for (const value of part.waitsP99Ms) into.waitsP99Ms.push(value);
  into.mostColdStarts = highest([...into.mostColdStarts, ...part.mostColdStarts]);
  into.longestWaits = highest([...into.longestWaits, ...part.longestWaits]);
}

/** Quartiles over the computes, and the computes with the highest values. */
export type ComputeDistribution = {
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly highest: readonly ComputeValue[];
};

/** How the computes with requests differ. */
export type ComputeDistributions = {
  /** Percentage of the requests of a compute that start it, including the first one. */
  readonly cold_start_percent: ComputeDistribution;
  /** 99th percentile of the wait over all requests of a compute. */
  readonly wait_p99_ms: ComputeDistribution;
};

export function distributionsOf(starts: StartsByCompute): ComputeDistributions {
  return {
    cold_start_percent: distributionOf(starts.coldPercents, starts.mostColdStarts),
    wait_p99_ms: distributionOf(starts.waitsP99Ms, starts.longestWaits),
  };
}

export function distributionOf(
  values: readonly number[],
  highest: readonly ComputeValue[],
): ComputeDistribution {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p25: at(0.25), p50: at(0.5), p75: at(0.75), highest };
}

function highest(values: readonly ComputeValue[]): readonly ComputeValue[] {
  const sorted = [...values].sort((a, b) => b.value - a.value || (a.compute < b.compute ? -1 : 1));
  return sorted.slice(0, MAX_NAMED);
}
