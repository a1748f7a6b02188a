import type { Benchmark } from "../benchmark.ts";
import { LARGE_HEAP } from "../environment/simulated-world.ts";
import { type Figure, median, plainFigure } from "../figure.ts";
import type { AnswerMeasurement, ControlAnswersOptions } from "../processes/control-answers.ts";

const PROJECTS = 25_000;
const LONGEST_BLOCK_MS = 20;
/** All answers of the control API that grow with the world. */
const PATHS = [
  "/accounts",
  "/data",
  "/endpoints",
  "/events?limit=10000",
  "/health",
  "/invariants",
  "/metrics",
  "/requests",
  "/state",
  "/timeline",
  "/worlds",
] as const;

export const controlAnswers: Benchmark = {
  name: "control",
  measures: "longest block of the thread by each answer of the control API, with 25,000 projects",
  async run(environment, progress) {
    const options: ControlAnswersOptions = { projects: environment.quick ? PROJECTS / 10 : PROJECTS };
    progress(`creating ${options.projects} projects`);
    const child = await environment.start([
      LARGE_HEAP,
      environment.script("control-answers"),
      JSON.stringify(options),
    ]);
    const figures: Figure[] = [];
    for (const path of PATHS) {
      const measured: AnswerMeasurement[] = [];
      // The first one includes the compilation of its code.
      for (let round = 0; round < 4; round += 1)
        measured.push(await child.request<AnswerMeasurement>("answer", path));
      const later = measured.slice(1);
      figures.push(
        plainFigure(
          `GET ${path}: longest block, processor time`,
          "ms",
          median(later.map(({ blockMs }) => blockMs)),
          {
            of: "value",
            atMost: LONGEST_BLOCK_MS,
          },
        ),
        plainFigure("  whole answer, processor time", "ms", median(later.map(({ cpuMs }) => cpuMs))),
        plainFigure("  first call: longest block", "ms", measured[0]?.blockMs ?? Number.NaN),
      );
    }
    await environment.stop(child);
    return figures;
  },
};
