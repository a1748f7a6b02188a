import { setTimeout as sleep } from "node:timers/promises";
import type { Benchmark } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { createPopulatedDirectory } from "../environment/project-fixture.ts";
import { residentBytes } from "../environment/resident-set.ts";
import {
  awaitFirstResponse,
  startUninstrumented,
  startUninstrumentedBaseline,
  type UninstrumentedServer,
} from "../environment/uninstrumented-servers.ts";
import { comparedFigure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const MIB = 1024 ** 2;
const IDLE_MIB = 75;
const IDLE_FOR_MS = 3_000;

export const idleMemory: Benchmark = {
  name: "idle",
  measures: "resident memory 3 s after the start, compared with a bare node:http server",
  async run(environment, progress) {
    const populated = await createPopulatedDirectory(environment);
    const sides = {
      own: () => idleMib(environment, () => startUninstrumented(environment, populated)),
      bare: () => idleMib(environment, () => startUninstrumentedBaseline(environment)),
    };
    const rounds = await measureInRounds(environment.quick ? 1 : 3, sides, progress);
    const target = { of: "value", atMost: IDLE_MIB } as const;
    return [
      comparedFigure(
        "idle RSS",
        "MiB",
        "node -e",
        pairs(rounds, "own", "bare", (mib: number) => mib),
        target,
      ),
    ];
  },
};

async function idleMib(
  environment: BenchEnvironment,
  start: () => Promise<UninstrumentedServer>,
): Promise<number> {
  const child = await start();
  await awaitFirstResponse(child);
  await sleep(IDLE_FOR_MS);
  const bytes = residentBytes(child.process.pid ?? 0);
  await environment.stop(child);
  return bytes / MIB;
}
