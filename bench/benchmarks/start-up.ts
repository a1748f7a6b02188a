import type { Benchmark } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { createPopulatedDirectory } from "../environment/project-fixture.ts";
import { largeWorld } from "../environment/simulated-world.ts";
import {
  awaitFirstResponse,
  startUninstrumented,
  startUninstrumentedBaseline,
  type UninstrumentedServer,
} from "../environment/uninstrumented-servers.ts";
import { comparedFigure, median, plainFigure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const READY_MS = 130;

export const startUp: Benchmark = {
  name: "start",
  measures: "time from process start to the first response, compared with a bare node:http server",
  async run(environment, progress) {
    const populated = await createPopulatedDirectory(environment);
    const sides = {
      existing: () => firstResponseMs(environment, () => startUninstrumented(environment, populated)),
      new: () =>
        firstResponseMs(environment, () => startUninstrumented(environment, environment.directory())),
      bare: () => firstResponseMs(environment, () => startUninstrumentedBaseline(environment)),
    };
    await measureInRounds(1, sides, () => undefined);
    const rounds = await measureInRounds(environment.quick ? 5 : 15, sides, progress);
    const large = await largeWorld(environment, progress);
    const startLarge = {
      large: () => firstResponseMs(environment, () => startUninstrumented(environment, large.data)),
    };
    await measureInRounds(1, startLarge, () => undefined);
    const largeRounds = await measureInRounds(environment.quick ? 1 : 5, startLarge, progress);
    const same = (ms: number) => ms;
    const target = { of: "value", atMost: READY_MS } as const;
    return [
      comparedFigure(
        "first response, existing data",
        "ms",
        "node -e",
        pairs(rounds, "existing", "bare", same),
        target,
      ),
      comparedFigure("first response, new data", "ms", "node -e", pairs(rounds, "new", "bare", same), target),
      plainFigure(`first response, ${large.title}`, "ms", median(largeRounds.map((round) => round.large))),
    ];
  },
};

/** Includes the creation of the process. */
async function firstResponseMs(
  environment: BenchEnvironment,
  start: () => Promise<UninstrumentedServer>,
): Promise<number> {
  const startedAt = performance.now();
  const child = await start();
  await awaitFirstResponse(child);
  const elapsedMs = performance.now() - startedAt;
  await environment.stop(child);
  return elapsedMs;
}
