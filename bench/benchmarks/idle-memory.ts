import { setTimeout as sleep } from "node:timers/promises";
import type { Benchmark } from "../benchmark.ts";
import { comparedFigure } from "../figure.ts";
import { inRounds, pairs } from "../rounds.ts";
import { bareAsUser, firstAnswer, type Started, serveAsUser } from "../stage/as-a-user.ts";
import { residentBytes } from "../stage/resident-set.ts";
import { makeUsedDirectory } from "../stage/scene.ts";
import type { Stage } from "../stage/stage.ts";

const MIB = 1024 ** 2;
const IDLE_MIB = 75;
const IDLE_FOR_MS = 3_000;

export const idleMemory: Benchmark = {
  name: "idle",
  measures: "resident memory a few seconds after the start, against a bare node:http server",
  async run(stage, progress) {
    const used = await makeUsedDirectory(stage);
    const sides = {
      own: () => idleMib(stage, () => serveAsUser(stage, used)),
      bare: () => idleMib(stage, () => bareAsUser(stage)),
    };
    const rounds = await inRounds(stage.quick ? 1 : 3, sides, progress);
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

async function idleMib(stage: Stage, start: () => Promise<Started>): Promise<number> {
  const child = await start();
  await firstAnswer(child);
  await sleep(IDLE_FOR_MS);
  const bytes = residentBytes(child.process.pid ?? 0);
  await stage.stop(child);
  return bytes / MIB;
}
