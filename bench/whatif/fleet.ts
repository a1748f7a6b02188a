import { closeSync, openSync, writeSync } from "node:fs";
import { uniform } from "../../src/kernel/random-port.ts";
import { DAY } from "../../src/kernel/time.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { type ComputeArrivals, partsOf, type Trace } from "../../src/traffic/recorded/trace/trace.ts";
import type { Traffic } from "../../src/whatif/trace/traffic.ts";

const BEGIN = Date.parse("2026-01-05T00:00:00Z");
const LONGEST_REQUEST_MS = 60;

export type FleetShape = {
  readonly computes: number;
  readonly requestsEach: number;
  readonly meanMs: number;
};

/** Poisson arrivals for each compute, with a mean gap of `meanMs`. */
export function poissonFleet({ computes, requestsEach, meanMs }: FleetShape): Trace {
  const fleet = Array.from({ length: computes }, (_, number) => ({
    id: `compute-${number}`,
    arrivals: poissonRequests(number, requestsEach, meanMs),
  }));
  const last = fleet.reduce(
    (latest, { arrivals }) => Math.max(latest, arrivals.at[requestsEach - 1] ?? BEGIN),
    BEGIN,
  );
  // A day after the last request, all computes are suspended, so the end of the period truncates nothing.
  return { period: { startAt: BEGIN, endAt: last + DAY }, computes: fleet };
}

/** The arrivals of `poissonFleet`, generated one compute at a time, so that they need not fit into memory. */
export function poissonTraffic({ computes, requestsEach, meanMs }: FleetShape): Traffic {
  return {
    period: { startAt: BEGIN, endAt: BEGIN + Math.ceil(mostGaps(requestsEach) * meanMs) },
    sources: [],
    computes: Array.from({ length: computes }, (_, number) => `compute-${number}`),
    arrivals: (number) => partsOf(poissonRequests(number, requestsEach, meanMs)),
  };
}

/** The period has this many mean gaps, so that it contains the last request of every compute: ten deviations. */
function mostGaps(requestsEach: number): number {
  return requestsEach + 10 * Math.sqrt(requestsEach) + 20;
}

function poissonRequests(number: number, requestsEach: number, meanMs: number): ComputeArrivals {
  const draw = randomFrom(7).stream("bench-whatif", number);
  const [at, durationMs] = [new Float64Array(requestsEach), new Float64Array(requestsEach)];
  let now = BEGIN;
  for (let i = 0; i < requestsEach; i += 1) {
    now += Math.round(-Math.log(1 - uniform(draw)) * meanMs);
    at[i] = now;
    durationMs[i] = Math.floor(uniform(draw) * LONGEST_REQUEST_MS);
  }
  return { at, durationMs };
}

/** Writes the binary format of the C and Python programs, which kernels.c describes. */
export function writeFleet({ period, computes }: Trace, path: string): void {
  const columns = [
    Float64Array.of(computes.length, period.startAt, period.endAt),
    Float64Array.from(computes, ({ arrivals: requests }) => requests.at.length),
    ...computes.map(({ arrivals: requests }) => requests.at),
    ...computes.map(({ arrivals: requests }) => requests.durationMs),
  ];
  const file = openSync(path, "w");
  for (const { buffer, byteOffset, byteLength } of columns)
    writeSync(file, new Uint8Array(buffer, byteOffset, byteLength));
  closeSync(file);
}
