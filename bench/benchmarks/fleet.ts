import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { MINUTE, SECOND } from "../../src/kernel/time.ts";
import type { Benchmark, Progress } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { comparedFigure, median, plainFigure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";
import type { FleetResult, FleetShape } from "../simulated/fleet.ts";

const EVENTS_PER_SECOND = 500_000;
/** Events per second of standin for each of the SimPy model. */
const OF_SIMPY = 1.5;
const SIMPY = join(import.meta.dirname, "../simulated/fleet.py");
/** Largest relative difference in compute starts at which both models count as the same. */
const TOLERANCE = 0.02;

export const fleet: Benchmark = {
  name: "fleet",
  measures: "simulated days of 1,000 computes with generated traffic, compared with SimPy: events per second",
  async run(environment, progress) {
    const shape: FleetShape = {
      ...{ computes: 1_000, days: environment.quick ? 1 : 5 },
      ...{ busyGapMs: 5 * MINUTE, quietGapMs: 30 * MINUTE, queryMs: 200, delayMs: 5 * MINUTE, startMs: 500 },
    };
    const fleetSize = `${shape.computes.toLocaleString("en-US")} computes, ${shape.days} days`;
    const own = () => runFleet(environment, shape);
    const rounds = environment.quick ? 1 : 3;
    const rate = ({ events, elapsedMs }: FleetResult) => events / (elapsedMs / SECOND);
    if (!hasSimPy(progress)) {
      const runs = (await measureInRounds(rounds, { own }, progress)).map((round) => round.own);
      return [
        plainFigure(`${fleetSize}, generated traffic`, "events/s", median(runs.map(rate)), {
          of: "value",
          atLeast: EVENTS_PER_SECOND,
        }),
        plainFigure(
          `${fleetSize}, peak memory`,
          "MB",
          Math.max(...runs.map(({ peakBytes }) => peakBytes)) / 1e6,
        ),
      ];
    }
    const simpy = async () =>
      JSON.parse(
        execFileSync("/usr/bin/python3", [SIMPY, JSON.stringify(shape)], { encoding: "utf8" }),
      ) as FleetResult;
    const measured = await measureInRounds(rounds, { own, simpy }, progress);
    for (const round of measured) checkSameModel(round.own, round.simpy);
    return [
      comparedFigure(
        `${fleetSize}, generated traffic`,
        "events/s",
        "SimPy",
        pairs(measured, "own", "simpy", rate),
        { of: "ratio", atLeast: OF_SIMPY },
      ),
      comparedFigure(
        `${fleetSize}, peak memory`,
        "MB",
        "SimPy",
        pairs(measured, "own", "simpy", ({ peakBytes }) => peakBytes / 1e6),
      ),
    ];
  },
};

async function runFleet(environment: BenchEnvironment, shape: FleetShape): Promise<FleetResult> {
  const child = await environment.start<FleetResult>([environment.script("fleet"), JSON.stringify(shape)], {
    hasChannel: false,
  });
  await environment.stop(child);
  return child.ready;
}

function checkSameModel(own: FleetResult, simpy: FleetResult): void {
  if (Math.abs(own.starts / simpy.starts - 1) > TOLERANCE)
    throw new Error(`${own.starts} compute starts, but ${simpy.starts} in SimPy: the models differ`);
}

function hasSimPy(progress: Progress): boolean {
  try {
    execFileSync("/usr/bin/python3", ["-c", "import simpy"], { stdio: "ignore" });
    return true;
  } catch {
    progress("SimPy not found, comparison skipped (Debian: apt-get install python3-simpy3)");
    return false;
  }
}
