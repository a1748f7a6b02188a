import type { Benchmark } from "../benchmark.ts";
import { bareAsUser, firstAnswer, type Started, serveAsUser } from "../environment/as-a-user.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { makeUsedDirectory } from "../environment/scene.ts";
import { comparedFigure } from "../figure.ts";
import { inRounds, pairs } from "../rounds.ts";

const READY_MS = 130;

export const startUp: Benchmark = {
  name: "start",
  measures: "time from process start to the first answer, against a bare node:http server",
  async run(environment, progress) {
    const used = await makeUsedDirectory(environment);
    const sides = {
      existing: () => firstAnswerMs(environment, () => serveAsUser(environment, used)),
      new: () => firstAnswerMs(environment, () => serveAsUser(environment, environment.directory())),
      bare: () => firstAnswerMs(environment, () => bareAsUser(environment)),
    };
    await inRounds(1, sides, () => undefined);
    const rounds = await inRounds(environment.quick ? 5 : 15, sides, progress);
    const same = (ms: number) => ms;
    const target = { of: "value", atMost: READY_MS } as const;
    return [
      comparedFigure(
        "first answer, existing data",
        "ms",
        "node -e",
        pairs(rounds, "existing", "bare", same),
        target,
      ),
      comparedFigure("first answer, new data", "ms", "node -e", pairs(rounds, "new", "bare", same), target),
    ];
  },
};

/** From before the process exists until it has answered a request. */
async function firstAnswerMs(environment: BenchEnvironment, start: () => Promise<Started>): Promise<number> {
  const startedAt = performance.now();
  const child = await start();
  await firstAnswer(child);
  const elapsedMs = performance.now() - startedAt;
  await environment.stop(child);
  return elapsedMs;
}
