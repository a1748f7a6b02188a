import { SECOND } from "../../src/kernel/time.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { eachPart, partsOf, type Trace } from "../../src/traffic/recorded/trace/trace.ts";
import { simulateCoupled } from "../../src/whatif/coupled/coupled-simulation.ts";
import { curveOf } from "../../src/whatif/gap-curve/curve.ts";
import { FixedReplay } from "../../src/whatif/replay/fixed-replay.ts";
import type { ReplayOutcome } from "../../src/whatif/replay/replay-outcome.ts";
import { clearGaps, GapReader } from "../../src/whatif/trace/gaps.ts";
import { StartLatencies } from "../../src/whatif/units/start-latency.ts";
import { COUPLED_PARAMETERS, type StartCapacity } from "../whatif/coupled-parameters.ts";
import { type FleetShape, poissonFleet, writeFleet } from "../whatif/fleet.ts";

/** `traceFile`: where to write the trace for the C and Python programs. */
export type WhatifOptions = FleetShape & {
  readonly kernel: "curve" | "replay" | "coupled";
  readonly starts: StartCapacity;
  readonly rounds: number;
  readonly traceFile?: string;
};

/** `perSecond`: gaps, requests or (coupled) events per second of processor time, in the fastest round. */
export type WhatifResult = {
  readonly perSecond: number;
  readonly cold: number;
  readonly naivePerSecond?: number;
  readonly activeMs?: number;
  readonly startingMs?: number;
  readonly waitMs?: number;
};

const DELAY_S = COUPLED_PARAMETERS.delayS;

const options = JSON.parse(process.argv[2] ?? "") as WhatifOptions;
const trace = poissonFleet(options);
if (options.traceFile !== undefined) writeFleet(trace, options.traceFile);
const kernels = { curve, replay, coupled };
process.stdout.write(`${JSON.stringify(kernels[options.kernel](trace, options.rounds))}\n`);

function curve({ period, computes }: Trace, rounds: number): WhatifResult {
  const requests = options.computes * options.requestsEach;
  const reader = new GapReader(period);
  const { perSecond, result } = best(rounds, requests, () => {
    // As in the C program, the table is allocated once and cleared in each round.
    clearGaps(reader.gaps);
    for (const { arrivals: requests } of computes) {
      eachPart(partsOf(requests), (part) => reader.add(part));
      reader.end();
    }
    return reader.gaps;
  });
  // The naive algorithm, one loop over all gaps per delay, for one of the 604,741 possible delays.
  const naive = best(rounds, requests, () => {
    let cold = 0;
    for (const { arrivals: requests } of computes) {
      let busyEnd = requests.at[0] ?? 0;
      for (let i = 0; i < requests.at.length; i += 1) {
        if ((requests.at[i] as number) - busyEnd > DELAY_S * SECOND) cold += 1;
        busyEnd = Math.max(busyEnd, (requests.at[i] as number) + (requests.durationMs[i] as number));
      }
    }
    return cold;
  });
  return { perSecond, cold: curveOf(result).coldStarts[DELAY_S] ?? 0, naivePerSecond: naive.perSecond };
}

function replay({ period, computes }: Trace, rounds: number): WhatifResult {
  const latencies = new StartLatencies({ kind: "fixed", ms: COUPLED_PARAMETERS.latencyMs }, randomFrom(1), 0);
  const { perSecond, result } = best(rounds, options.computes * options.requestsEach, () => {
    const fixed = new FixedReplay(period, DELAY_S);
    for (const { arrivals: requests } of computes) {
      fixed.begin(latencies);
      eachPart(partsOf(requests), (part) => fixed.add(part));
      fixed.end();
    }
    return fixed.outcome;
  });
  return { perSecond, ...figuresOf(result) };
}

function coupled({ period, computes }: Trace, rounds: number): WhatifResult {
  const { delayS, latencyMs, preparedMs, refillMs } = COUPLED_PARAMETERS;
  const { pool, concurrent } = options.starts;
  const { perSecond, result } = best(rounds, 1, () =>
    simulateCoupled({
      period,
      delayMs: new Float64Array(computes.length).fill(delayS * SECOND),
      cu: new Float64Array(computes.length).fill(0.25),
      arrivals: computes.map(({ arrivals: requests }) => requests),
      clients: [],
      latency: { kind: "fixed", ms: latencyMs },
      preparedLatency: { kind: "fixed", ms: preparedMs },
      starts: { pool: { size: pool, refillMs }, concurrent },
      random: randomFrom(1),
    }),
  );
  return { perSecond: perSecond * result.events, ...figuresOf(result) };
}

function figuresOf({
  coldStarts,
  activeMs,
  startingMs,
  waits,
}: ReplayOutcome): Omit<WhatifResult, "perSecond"> {
  return { cold: coldStarts, activeMs, startingMs, waitMs: waits.sumMs };
}

/** Measures processor time of all threads, which excludes other processes. The first run is a warm-up. */
function best<T>(
  rounds: number,
  amount: number,
  run: () => T,
): { readonly perSecond: number; readonly result: T } {
  let [fastest, result] = [Number.POSITIVE_INFINITY, run()];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    result = run();
    const { user, system } = process.cpuUsage(before);
    fastest = Math.min(fastest, user + system);
  }
  return { perSecond: amount / (fastest / 1_000_000), result };
}
