import type { Benchmark } from "../benchmark.ts";
import { type BenchEnvironment, PACKAGE } from "../environment/environment.ts";
import { comparedFigure, median, plainFigure } from "../figure.ts";
import type { InProcessOptions, InProcessResult } from "../processes/in-process.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const FIRST_MS = 20;
const LATER_CALLS = 20;

export const inProcess: Benchmark = {
  name: "in-process",
  measures: "first and later calls of createStandin() in one process, compared with a bare node:http server",
  async run(environment, progress) {
    const side = (target: InProcessOptions["target"]) => () => calls(environment, target);
    const sides = {
      withSocket: side("standin"),
      withoutSocket: side("standin without a socket"),
      bare: side("bare server"),
    };
    await measureInRounds(1, sides, () => undefined);
    const rounds = await measureInRounds(environment.quick ? 3 : 15, sides, progress);
    const first = ({ firstMs }: InProcessResult) => firstMs;
    const later = ({ laterMs }: InProcessResult) => median(laterMs);
    const target = { of: "value", atMost: FIRST_MS } as const;
    const [callWithSocket, callWithout] = ["createStandin()", "createStandin({ port: false })"];
    return [
      comparedFigure(
        `${callWithSocket}, first call`,
        "ms",
        "node:http",
        pairs(rounds, "withSocket", "bare", first),
        target,
      ),
      comparedFigure(
        `${callWithout}, first call`,
        "ms",
        "with a socket",
        pairs(rounds, "withoutSocket", "withSocket", first),
        target,
      ),
      comparedFigure(
        `${callWithSocket}, later calls`,
        "ms",
        "node:http",
        pairs(rounds, "withSocket", "bare", later),
      ),
      comparedFigure(
        `${callWithout}, later calls`,
        "ms",
        "with a socket",
        pairs(rounds, "withoutSocket", "withSocket", later),
      ),
      plainFigure(
        "  the import before them",
        "ms",
        median(
          rounds.flatMap(({ withSocket, withoutSocket }) => [withSocket.importMs, withoutSocket.importMs]),
        ),
      ),
    ];
  },
};

async function calls(
  environment: BenchEnvironment,
  target: InProcessOptions["target"],
): Promise<InProcessResult> {
  const options: InProcessOptions = { target, package: PACKAGE, calls: LATER_CALLS };
  const child = await environment.start<InProcessResult>(
    [environment.script("in-process"), JSON.stringify(options)],
    { hasChannel: false },
  );
  await environment.stop(child);
  return child.ready;
}
