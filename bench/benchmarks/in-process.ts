import type { Benchmark } from "../benchmark.ts";
import { type BenchEnvironment, PACKAGE } from "../environment/environment.ts";
import { comparedFigure, median, plainFigure } from "../figure.ts";
import type { InProcessOptions, InProcessResult } from "../processes/in-process.ts";
import { inRounds, pairs } from "../rounds.ts";

const FIRST_MS = 20;
const LATER_CALLS = 20;

export const inProcess: Benchmark = {
  name: "in-process",
  measures:
    "createStandin() in a test's process: the first call and later ones, against listening with a bare node:http server",
  async run(environment, progress) {
    const side = (makes: InProcessOptions["makes"]) => () => calls(environment, makes);
    const sides = {
      double: side("double"),
      silent: side("double without a socket"),
      bare: side("bare server"),
    };
    await inRounds(1, sides, () => undefined);
    const rounds = await inRounds(environment.quick ? 3 : 15, sides, progress);
    const first = ({ firstMs }: InProcessResult) => firstMs;
    const later = ({ laterMs }: InProcessResult) => median(laterMs);
    const target = { of: "value", atMost: FIRST_MS } as const;
    const [withSocket, without] = ["createStandin()", "createStandin({ port: false })"];
    return [
      comparedFigure(
        `${withSocket}, first call`,
        "ms",
        "node:http",
        pairs(rounds, "double", "bare", first),
        target,
      ),
      comparedFigure(
        `${without}, first call`,
        "ms",
        "with a socket",
        pairs(rounds, "silent", "double", first),
        target,
      ),
      comparedFigure(`${withSocket}, later calls`, "ms", "node:http", pairs(rounds, "double", "bare", later)),
      comparedFigure(
        `${without}, later calls`,
        "ms",
        "with a socket",
        pairs(rounds, "silent", "double", later),
      ),
      plainFigure(
        "  the import before them",
        "ms",
        median(rounds.flatMap(({ double, silent }) => [double.importMs, silent.importMs])),
      ),
    ];
  },
};

async function calls(
  environment: BenchEnvironment,
  makes: InProcessOptions["makes"],
): Promise<InProcessResult> {
  const options: InProcessOptions = { makes, package: PACKAGE, calls: LATER_CALLS };
  const child = await environment.start<InProcessResult>(
    [environment.script("in-process"), JSON.stringify(options)],
    { hasChannel: false },
  );
  await environment.stop(child);
  return child.ready;
}
