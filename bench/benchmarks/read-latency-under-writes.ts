import type { Benchmark } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import {
  CREATE_API_KEY,
  createProjectFixture,
  listEndpoints,
  recordResponse,
} from "../environment/project-fixture.ts";
import { type Server, startAppServer, startBare } from "../environment/servers.ts";
import { comparedFigure } from "../figure.ts";
import type { Latencies } from "../load/latencies.ts";
import type { OpenLoopResult } from "../load/open-loop.ts";
import type { LoadRequest } from "../load/request.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const WRITES_PER_SECOND = 5_000;
const READS_PER_SECOND = 2_000;
const CONNECTIONS = 32;

type Measured = { readonly reads: Latencies; readonly writesPerSecond: number };

export const readLatencyUnderWrites: Benchmark = {
  name: "latency",
  measures:
    "reads beside 5,000 writes per second, compared with reads alone, with writes that are not stored, and with bare node:http",
  async run(environment, progress) {
    const durable = await appSide(environment, "sqlite");
    const noWrite = await appSide(environment, "none");
    // What the machine and the generator allow: the same requests to a server that does nothing.
    const response = await recordResponse(durable.server, durable.read);
    const bare = side(environment, await startBare(environment, response), durable.read);
    const measure = (durationMs: number) => ({
      durable: () => durable.measure(durationMs),
      noWrite: () => noWrite.measure(durationMs),
      alone: () => durable.measureAlone(durationMs),
      bare: () => bare.measure(durationMs),
      bareAlone: () => bare.measureAlone(durationMs),
    });
    progress("warming up");
    await measureInRounds(1, measure(environment.quick ? 1_000 : 4_000), () => undefined);
    const rounds = await measureInRounds(
      environment.quick ? 3 : 9,
      measure(environment.quick ? 1_000 : 3_000),
      progress,
    );
    for (const { server } of [durable, noWrite, bare]) await environment.stop(server.child);
    const of = (number: (measured: Measured) => number) => pairs(rounds, "durable", "noWrite", number);
    const ofAlone = (number: (measured: Measured) => number) => pairs(rounds, "durable", "alone", number);
    const ofBare = (number: (measured: Measured) => number) => pairs(rounds, "bare", "bareAlone", number);
    return [
      comparedFigure(
        "read p50 beside 5,000 writes/s",
        "ms",
        "reads alone",
        ofAlone(({ reads }) => reads.p50Ms),
        { of: "ratio", atMost: 1.3 },
      ),
      comparedFigure(
        "read p99 beside 5,000 writes/s",
        "ms",
        "reads alone",
        ofAlone(({ reads }) => reads.p99Ms),
        { of: "ratio", atMost: 2 },
      ),
      comparedFigure(
        "  read p50 of bare node:http beside 5,000 POSTs/s",
        "ms",
        "its reads alone",
        ofBare(({ reads }) => reads.p50Ms),
      ),
      comparedFigure(
        "  read p99 of bare node:http beside 5,000 POSTs/s",
        "ms",
        "its reads alone",
        ofBare(({ reads }) => reads.p99Ms),
      ),
      comparedFigure(
        "read p99 during 5,000 writes/s",
        "ms",
        "no write",
        of(({ reads }) => reads.p99Ms),
        { of: "ratio", atMost: 1.5 },
      ),
      comparedFigure(
        "  read p50",
        "ms",
        "no write",
        of(({ reads }) => reads.p50Ms),
      ),
      comparedFigure(
        "  completed writes",
        "/s",
        "no write",
        of(({ writesPerSecond }) => writesPerSecond),
      ),
    ];
  },
};

async function appSide(environment: BenchEnvironment, kind: "sqlite" | "none") {
  const server = await startAppServer(environment, kind);
  return side(environment, server, listEndpoints(await createProjectFixture(server)));
}

function side(environment: BenchEnvironment, server: Server, read: LoadRequest) {
  const reads = { name: "reads", perSecond: READS_PER_SECOND, connections: CONNECTIONS, request: read };
  const writes = {
    ...{ name: "writes", perSecond: WRITES_PER_SECOND, connections: CONNECTIONS, request: CREATE_API_KEY },
  };
  const run = async (durationMs: number, ...streams: (typeof reads)[]) => {
    const results = await environment.runOpenLoop({ port: server.port, durationMs, streams });
    if (results.length !== streams.length) throw new Error("the load generator returned too few streams");
    return results as [OpenLoopResult, ...OpenLoopResult[]];
  };
  const measure = async (durationMs: number): Promise<Measured> => {
    const [{ latencies }, written] = await run(durationMs, reads, writes);
    return { reads: latencies, writesPerSecond: written?.perSecond ?? 0 };
  };
  const measureAlone = async (durationMs: number): Promise<Measured> => {
    const [{ latencies }] = await run(durationMs, reads);
    return { reads: latencies, writesPerSecond: 0 };
  };
  return { server, read, measure, measureAlone };
}
