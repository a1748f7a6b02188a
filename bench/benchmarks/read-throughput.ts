import type { Benchmark } from "../benchmark.ts";
import { comparedFigure } from "../figure.ts";
import { inRounds, pairs } from "../rounds.ts";
import { answerTo, COMPUTES, listEndpoints, makeScene } from "../stage/scene.ts";
import { startBare, startCommand } from "../stage/servers.ts";
import { throughput } from "./throughput.ts";

export const readThroughput: Benchmark = {
  name: "reads",
  measures: "authenticated GET endpoints with 20 computes, against bare node:http answering the same bytes",
  async run(stage, progress) {
    const own = await startCommand(stage, stage.directory());
    const request = listEndpoints(await makeScene(own));
    const bare = await startBare(stage, await answerTo(own, request));
    const measure = (total: number) => ({
      own: () => throughput(stage, own, request, total),
      bare: () => throughput(stage, bare, request, total),
    });
    progress("warming up");
    await inRounds(1, measure(stage.quick ? 20_000 : 40_000), () => undefined);
    const rounds = await inRounds(stage.quick ? 3 : 9, measure(stage.quick ? 5_000 : 20_000), progress);
    await stage.stop(own.child);
    await stage.stop(bare.child);
    return [
      comparedFigure(
        `GET endpoints, ${COMPUTES} computes`,
        "/s",
        "node:http",
        pairs(rounds, "own", "bare", ({ perSecond }) => perSecond),
        { of: "ratio", atLeast: 0.4 },
      ),
      comparedFigure(
        "  the server's CPU time for each",
        "us",
        "node:http",
        pairs(rounds, "own", "bare", ({ cpuUsPerRequest }) => cpuUsPerRequest),
      ),
    ];
  },
};
