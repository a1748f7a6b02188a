import { closeSync, openSync, writeSync } from "node:fs";
import { uniform } from "../../src/platform/core/random-port.ts";
import { DAY } from "../../src/platform/core/time.ts";
import { type ComputeArrivals, partsOf, type Trace } from "../../src/recordings/trace/trace.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { Traffic } from "../../src/whatif/trace/known-traffic.ts";

const BEGIN = Date.parse("2026-01-05T00:00:00Z");
const LONGEST_REQUEST_MS = 60;

export type FleetShape = {
  readonly computes: number;
  readonly requestsEach: number;
  readonly meanMs: number;
};

/** Poisson requests of so many computes; a request every `meanMs` for each of them. */
export function poissonFleet({ computes, requestsEach, meanMs }: FleetShape): Trace {
  const fleet = Array.from({ length: computes }, (_, number) => ({
    id: `compute-${number}`,
    arrivals: poissonRequests(number, requestsEach, meanMs),
  }));
  const last = fleet.reduce(
    (latest, { arrivals }) => Math.max(latest, arrivals.at[requestsEach - 1] ?? BEGIN),
    BEGIN,
  );
  // A day on, everybody sleeps: nothing is under way at the end that each program would have to charge alike.
  return { period: { startAt: BEGIN, endAt: last + DAY }, computes: fleet };
}

/** The same, made compute by compute when it is read: it need not fit into memory. */
export function poissonTraffic({ computes, requestsEach, meanMs }: FleetShape): Traffic {
  return {
    // Half as long again as it takes on average: nobody's last request comes later.
    period: { startAt: BEGIN, endAt: BEGIN + Math.ceil(1.5 * requestsEach * meanMs) },
    sources: [],
    computes: Array.from({ length: computes }, (_, number) => `compute-${number}`),
    arrivals: (number) => partsOf(poissonRequests(number, requestsEach, meanMs)),
  };
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

/** Writes it as the programs in C and Python read it. */
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
