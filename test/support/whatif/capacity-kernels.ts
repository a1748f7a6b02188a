import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import type { ComputeArrivals } from "../../../src/traffic/recorded/trace/trace.ts";
import {
  directConnections,
  pooledConnections,
} from "../../../src/whatif/questions/capacity/pool-connections.ts";
import { replayScaling } from "../../../src/whatif/questions/capacity/scaling-replay.ts";
import { hitRatioOf, StackDistances } from "../../../src/whatif/questions/capacity/stack-distance.ts";
import { WHOLE_SECONDS } from "./whole-seconds.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

type Row = readonly [at: number, durationMs: number, source?: number];

function requestsOf(rows: readonly Row[]): ComputeArrivals {
  return {
    at: Float64Array.from(rows, ([at]) => at),
    durationMs: Float64Array.from(rows, ([, durationMs]) => durationMs),
    source: Uint16Array.from(rows, ([, , source = 0]) => source),
  };
}

/** Results of small cases from the capacity kernels: caches, connections, sizes. */
export function capacityFigures(): Record<string, number> {
  return { ...cacheFigures(), ...connectionFigures(), ...scalingFigures() };
}

function cacheFigures(): Record<string, number> {
  const few = distancesOf([1, 2, 3, 1, 1, 2], new StackDistances());
  const two = distancesOf(
    Array.from({ length: 3_000 }, (_, index) => index % 2),
    new StackDistances(),
  );
  const started = distancesOf([1, "start", 1, 1], new StackDistances());
  const sampled = distancesOf(
    Array.from({ length: 200 }, (_, index) => index % 100),
    new StackDistances(0.5, 10),
  );
  return {
    "cache: hits of one block": hitRatioOf(few, 1) * few.accesses,
    "cache: hits of two blocks": hitRatioOf(few, 2) * few.accesses,
    "cache: hits of three blocks": hitRatioOf(few, 3) * few.accesses,
    "cache: hits of one, of two in turns": hitRatioOf(two, 1) * two.accesses,
    "cache: hits of two, of two in turns": hitRatioOf(two, 2) * two.accesses,
    "cache: hits after a start": hitRatioOf(started, 9) * started.accesses,
    "cache: uses that samples stand for":
      sampled.misses + [...sampled.counts.values()].reduce((sum, count) => sum + count, 0),
  };
}

function distancesOf(uses: readonly (number | "start")[], distances: StackDistances) {
  for (const use of uses) use === "start" ? distances.restart() : distances.access(use);
  return distances.histogram();
}

function connectionFigures(): Record<string, number> {
  const five = [50, 40, 30, 20, 10].map((ms): Row => [0, ms]);
  const rules = { poolSize: 2, ceiling: 9, clients: 9, waitLimitMs: 1_000 };
  const line: Row[] = [
    [0, 100],
    [0, 50],
    [10, 5],
    [20, 5],
  ];
  const pools: Row[] = [
    [0, 100, 0],
    [5, 7, 2],
    [6, 7, 1],
  ];
  const late = (durationMs: number) =>
    pooledConnections(
      requestsOf([
        [0, durationMs],
        [10, 1],
      ]),
      { ...rules, poolSize: 1 },
    ).refused;
  return {
    "connections: peak": directConnections(requestsOf([...five, [25, 1]])).peak,
    "connections: refused": directConnections(requestsOf([...five, [20, 99], [20, 99], [20, 99]]), 5).refused,
    "connections: freed again": directConnections(
      requestsOf([...five, [25, 99], [25, 99], [35, 99], [45, 99]]),
      5,
    ).refused,
    "pool: waits": pooledConnections(requestsOf(line), rules).waits.sumMs,
    "pool: refused as one client too many": pooledConnections(requestsOf(line), { ...rules, clients: 3 })
      .refused,
    "pool: refused at the limit of the wait": late(1_010),
    "pool: refused behind it": late(1_011),
    "pool: waits for the ceiling": pooledConnections(requestsOf(pools), { ...rules, poolSize: 1, ceiling: 1 })
      .waits.sumMs,
    "pool: waits in two pools": pooledConnections(requestsOf([...pools, [7, 1, 0]]), {
      ...rules,
      poolSize: 1,
    }).waits.sumMs,
  };
}

function scalingFigures(): Record<string, number> {
  const period = { startAt: 0, endAt: HOUR };
  const setting = {
    period,
    delay: "never",
    latencies: { at: () => 0 },
    readings: WHOLE_SECONDS,
  } as const;
  const run = (rows: readonly Row[], demand: Parameters<typeof replayScaling>[1], maxCu: number) =>
    replayScaling(requestsOf(rows), demand, setting, { minCu: 1, maxCu }, PROFILES["2024"]);
  const burst: Row[] = [
    [0, SECOND],
    [0, SECOND],
    [0, SECOND],
    [0, 10 * SECOND],
  ];
  const throttled = run(burst, { loadPerRequest: 1 }, 1);
  const grown = run([[0, HOUR - 20 * SECOND]], { loadPerRequest: 1.25 }, 1.25);
  return {
    "sizes: throttled": throttled.throttledMs / SECOND,
    "sizes: added wait": throttled.addedWaits.sumMs / SECOND,
    "sizes: CU-seconds by load": grown.cuMs / SECOND,
    "sizes: changes": grown.scaleEvents,
    "sizes: CU-seconds by memory":
      run([[0, HOUR]], { loadPerRequest: 0, memoryGbPerRequest: 3.01 }, 4).cuMs / SECOND,
    "sizes: CU-seconds by the working set":
      run([[0, 0]], { loadPerRequest: 0, workingSetGb: 6 }, 4).cuMs / SECOND,
    "sizes: CU-seconds of a moment": run([[0, 0]], { loadPerRequest: 1.8 }, 4).cuMs / SECOND,
  };
}
