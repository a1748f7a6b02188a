import { closeSync, openSync, writeSync } from "node:fs";
import { uniform } from "../../src/platform/chance.ts";
import { chanceFrom } from "../../src/simulation/random.ts";
import type { Trace } from "../../src/whatif/trace.ts";

const BEGIN = Date.parse("2026-01-05T00:00:00Z");
const LONGEST_REQUEST_MS = 60;

/** Poisson requests of so many computes; a request every `meanMs` for each of them. */
export function poissonFleet(computes: number, requestsEach: number, meanMs: number): Trace {
  const chance = chanceFrom(7);
  const fleet = Array.from({ length: computes }, (_, number) => {
    const source = chance.source("bench-whatif", number);
    const [at, durationMs] = [new Float64Array(requestsEach), new Float64Array(requestsEach)];
    let now = BEGIN;
    for (let i = 0; i < requestsEach; i += 1) {
      now += Math.round(-Math.log(1 - uniform(source)) * meanMs);
      at[i] = now;
      durationMs[i] = Math.floor(uniform(source) * LONGEST_REQUEST_MS);
    }
    return { id: `compute-${number}`, requests: { at, durationMs } };
  });
  const last = fleet.reduce((latest, { requests }) => Math.max(latest, requests.at[requestsEach - 1] ?? BEGIN), BEGIN);
  return { period: { startAt: BEGIN, endAt: last + 1 }, computes: fleet };
}

/** Writes it as the programs in C and Python read it. */
export function writeFleet({ period, computes }: Trace, path: string): void {
  const columns = [
    Float64Array.of(computes.length, period.startAt, period.endAt, ...computes.map(({ requests }) => requests.at.length)),
    ...computes.map(({ requests }) => requests.at),
    ...computes.map(({ requests }) => requests.durationMs),
  ];
  const file = openSync(path, "w");
  for (const { buffer, byteOffset, byteLength } of columns) writeSync(file, new Uint8Array(buffer, byteOffset, byteLength));
  closeSync(file);
}
