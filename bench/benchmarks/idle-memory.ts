import { setTimeout as sleep } from "node:timers/promises";
import type { Benchmark } from "../benchmark.ts";
import { bareAsUser, firstAnswer, type Started, serveAsUser } from "../environment/as-a-user.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { residentBytes } from "../environment/resident-set.ts";
import { makeUsedDirectory } from "../environment/scene.ts";
import { comparedFigure } from "../figure.ts";
import { inRounds, pairs } from "../rounds.ts";

const MIB = 1024 ** 2;
const IDLE_MIB = 75;
const IDLE_FOR_MS = 3_000;

export const idleMemory: Benchmark = {
  name: "idle",
  measures: "resident memory a few seconds after the start, against a bare node:http server",
  async run(environment, progress) {
    const used = await makeUsedDirectory(environment);
    const sides = {
      own: () => idleMib(environment, () => serveAsUser(environment, used)),
      bare: () => idleMib(environment, () => bareAsUser(environment)),
    };
    const rounds = await inRounds(environment.quick ? 1 : 3, sides, progress);
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

async function idleMib(environment: BenchEnvironment, start: () => Promise<Started>): Promise<number> {
  const child = await start();
  await firstAnswer(child);
  await sleep(IDLE_FOR_MS);
  const bytes = residentBytes(child.process.pid ?? 0);
  await environment.stop(child);
  return bytes / MIB;
}
