import type { Benchmark } from "../benchmark.ts";
import { answerTo, CREATE_API_KEY } from "../environment/scene.ts";
import { startBare, startDouble } from "../environment/servers.ts";
import { comparedFigure } from "../figure.ts";
import { inRounds, pairs } from "../rounds.ts";
import { type Throughput, throughput } from "./throughput.ts";

const perSecond = (measured: Throughput) => measured.perSecond;
const cpuUs = (measured: Throughput) => measured.cpuUsPerRequest;

export const durableWrites: Benchmark = {
  name: "writes",
  measures:
    "durable POST api_keys, against the same handler without writing, with one commit per request, and bare node:http",
  async run(environment, progress) {
    const durable = await startDouble(environment, "sqlite");
    const noWrite = await startDouble(environment, "none");
    const oneByOne = await startDouble(environment, "sqlite", true);
    const bare = await startBare(environment, await answerTo(noWrite, CREATE_API_KEY));
    // A fixed number of requests, not of seconds: the worlds of both sides grow alike.
    const measure = (total: number) => ({
      durable: () => throughput(environment, durable, CREATE_API_KEY, total),
      noWrite: () => throughput(environment, noWrite, CREATE_API_KEY, total),
      oneByOne: () => throughput(environment, oneByOne, CREATE_API_KEY, total / 5),
      bare: () => throughput(environment, bare, CREATE_API_KEY, total),
    });
    progress("warming up");
    await inRounds(1, measure(environment.quick ? 15_000 : 30_000), () => undefined);
    const rounds = await inRounds(
      environment.quick ? 3 : 9,
      measure(environment.quick ? 5_000 : 15_000),
      progress,
    );
    for (const { child } of [durable, noWrite, oneByOne, bare]) await environment.stop(child);
    const figure = "durable POST api_keys";
    return [
      comparedFigure(figure, "/s", "no write", pairs(rounds, "durable", "noWrite", perSecond), {
        of: "ratio",
        atLeast: 0.6,
      }),
      comparedFigure(figure, "/s", "commit each", pairs(rounds, "durable", "oneByOne", perSecond), {
        of: "ratio",
        atLeast: 6,
      }),
      comparedFigure(figure, "/s", "node:http", pairs(rounds, "durable", "bare", perSecond)),
      comparedFigure(
        "  the server's CPU time for each",
        "us",
        "no write",
        pairs(rounds, "durable", "noWrite", cpuUs),
      ),
    ];
  },
};
