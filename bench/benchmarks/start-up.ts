import type { Benchmark } from "../benchmark.ts";
import { comparedFigure } from "../figure.ts";
import { inRounds, pairs } from "../rounds.ts";
import { bareAsUser, firstAnswer, type Started, serveAsUser } from "../stage/as-a-user.ts";
import { makeUsedDirectory } from "../stage/scene.ts";
import type { Stage } from "../stage/stage.ts";

const READY_MS = 130;

export const startUp: Benchmark = {
  name: "start",
  measures: "time from process start to the first answer, against a bare node:http server",
  async run(stage, progress) {
    const used = await makeUsedDirectory(stage);
    const sides = {
      existing: () => firstAnswerMs(stage, () => serveAsUser(stage, used)),
      new: () => firstAnswerMs(stage, () => serveAsUser(stage, stage.directory())),
      bare: () => firstAnswerMs(stage, () => bareAsUser(stage)),
    };
    await inRounds(1, sides, () => undefined);
    const rounds = await inRounds(stage.quick ? 5 : 15, sides, progress);
    const same = (ms: number) => ms;
    const target = { of: "value", atMost: READY_MS } as const;
    return [
      comparedFigure("first answer, existing data", "ms", "node -e", pairs(rounds, "existing", "bare", same), target),
      comparedFigure("first answer, new data", "ms", "node -e", pairs(rounds, "new", "bare", same), target),
    ];
  },
};

/** From before the process exists until it has answered a request. */
async function firstAnswerMs(stage: Stage, start: () => Promise<Started>): Promise<number> {
  const startedAt = performance.now();
  const child = await start();
  await firstAnswer(child);
  const elapsedMs = performance.now() - startedAt;
  await stage.stop(child);
  return elapsedMs;
}
