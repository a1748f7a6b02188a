import type { Benchmark } from "../benchmark.ts";
import { CREATE_API_KEY, recordResponse } from "../environment/project-fixture.ts";
import { startAppServer, startBare } from "../environment/servers.ts";
import { comparedFigure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";
import { type Throughput, throughput } from "./throughput.ts";

const perSecond = (measured: Throughput) => measured.perSecond;
const cpuUs = (measured: Throughput) => measured.cpuUsPerRequest;
const systemCalls = (measured: Throughput) => measured.systemCallsPerRequest;
const bytesWritten = (measured: Throughput) => measured.bytesWrittenPerRequest;

export const durableWrites: Benchmark = {
  name: "writes",
  measures:
    "durable POST api_keys, compared with no writes, with one commit per request, and with bare node:http",
  async run(environment, progress) {
    const durable = await startAppServer(environment, "sqlite");
    const noWrite = await startAppServer(environment, "none");
    const serial = await startAppServer(environment, "sqlite", true);
    const bare = await startBare(environment, await recordResponse(noWrite, CREATE_API_KEY));
    // A fixed number of requests instead of a fixed time, so that the worlds of both sides grow equally.
    const measure = (total: number) => ({
      durable: () => throughput(environment, durable, CREATE_API_KEY, total),
      noWrite: () => throughput(environment, noWrite, CREATE_API_KEY, total),
      serial: () => throughput(environment, serial, CREATE_API_KEY, total / 5),
      bare: () => throughput(environment, bare, CREATE_API_KEY, total),
    });
    progress("warming up");
    await measureInRounds(1, measure(environment.quick ? 15_000 : 30_000), () => undefined);
    const rounds = await measureInRounds(
      environment.quick ? 3 : 9,
      measure(environment.quick ? 5_000 : 15_000),
      progress,
    );
    for (const { child } of [durable, noWrite, serial, bare]) await environment.stop(child);
    const figure = "durable POST api_keys";
    return [
      comparedFigure(figure, "/s", "no write", pairs(rounds, "durable", "noWrite", perSecond), {
        of: "ratio",
        atLeast: 0.85,
      }),
      comparedFigure(figure, "/s", "commit each", pairs(rounds, "durable", "serial", perSecond), {
        of: "ratio",
        atLeast: 10,
      }),
      comparedFigure(figure, "/s", "node:http", pairs(rounds, "durable", "bare", perSecond)),
      comparedFigure(
        "  server CPU time per request",
        "us",
        "no write",
        pairs(rounds, "durable", "noWrite", cpuUs),
      ),
      comparedFigure(
        "  system calls that read or write, per request",
        "",
        "no write",
        pairs(rounds, "durable", "noWrite", systemCalls),
      ),
      comparedFigure(
        "  bytes written to files and sockets, per request",
        "B",
        "no write",
        pairs(rounds, "durable", "noWrite", bytesWritten),
      ),
    ];
  },
};
