import type { Benchmark } from "../benchmark.ts";
import {
  COMPUTES,
  createProjectFixture,
  listEndpoints,
  recordResponse,
} from "../environment/project-fixture.ts";
import { startBare, startCommand } from "../environment/servers.ts";
import { comparedFigure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";
import { throughput } from "./throughput.ts";

export const readThroughput: Benchmark = {
  name: "reads",
  measures: "authenticated GET endpoints with 20 computes, compared with bare node:http and the same bytes",
  async run(environment, progress) {
    const own = await startCommand(environment, environment.directory());
    const request = listEndpoints(await createProjectFixture(own));
    const bare = await startBare(environment, await recordResponse(own, request));
    const measure = (total: number) => ({
      own: () => throughput(environment, own, request, total),
      bare: () => throughput(environment, bare, request, total),
    });
    progress("warming up");
    await measureInRounds(1, measure(environment.quick ? 20_000 : 40_000), () => undefined);
    const rounds = await measureInRounds(
      environment.quick ? 3 : 9,
      measure(environment.quick ? 5_000 : 20_000),
      progress,
    );
    await environment.stop(own.child);
    await environment.stop(bare.child);
    return [
      comparedFigure(
        `GET endpoints, ${COMPUTES} computes`,
        "/s",
        "node:http",
        pairs(rounds, "own", "bare", ({ perSecond }) => perSecond),
        { of: "ratio", atLeast: 0.4 },
      ),
      comparedFigure(
        "  server CPU time per request",
        "us",
        "node:http",
        pairs(rounds, "own", "bare", ({ cpuUsPerRequest }) => cpuUsPerRequest),
      ),
    ];
  },
};
