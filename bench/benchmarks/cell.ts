import type { Benchmark } from "../benchmark.ts";
import { computeFigures } from "../cell/computes.ts";
import { moveFigures } from "../cell/moves.ts";
import { worldFigures } from "../cell/worlds.ts";

export const cell: Benchmark = {
  name: "cell",
  measures: "one server with 10 to 1,000 worlds and 1,000 to 100,000 computes; waits while a world moves",
  async run(environment, progress) {
    return [
      ...(await worldFigures(environment, progress)),
      ...(await computeFigures(environment, progress)),
      ...(await moveFigures(environment, progress)),
    ];
  },
};
