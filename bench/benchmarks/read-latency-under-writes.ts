import type { Benchmark } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { CREATE_API_KEY, createProjectFixture, listEndpoints } from "../environment/project-fixture.ts";
import { type Server, startAppServer } from "../environment/servers.ts";
import { comparedFigure } from "../figure.ts";
import type { Latencies } from "../load/latencies.ts";
import type { OpenLoopResult } from "../load/open-loop.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const WRITES_PER_SECOND = 5_000;
const READS_PER_SECOND = 2_000;
const CONNECTIONS = 32;

type Measured = { readonly reads: Latencies; readonly writesPerSecond: number };

export const readLatencyUnderWrites: Benchmark = {
  name: "latency",
  measures:
    "reads beside 5,000 writes per second, compared with reads alone and with writes that are not stored",
  async run(environment, progress) {
    const durable = await side(environment, await startAppServer(environment, "sqlite"));
    const noWrite = await side(environment, await startAppServer(environment, "none"));
    const measure = (durationMs: number) => ({
      durable: () => durable.measure(durationMs),
      noWrite: () => noWrite.measure(durationMs),
      alone: () => durable.measureAlone(durationMs),
    });
    progress("warming up");
    await measureInRounds(1, measure(environment.quick ? 1_000 : 4_000), () => undefined);
    const rounds = await measureInRounds(
      environment.quick ? 3 : 9,
      measure(environment.quick ? 1_000 : 3_000),
      progress,
    );
    for (const { server } of [durable, noWrite]) await environment.stop(server.child);
    const of = (number: (measured: Measured) => number) => pairs(rounds, "durable", "noWrite", number);
    const ofAlone = (number: (measured: Measured) => number) => pairs(rounds, "durable", "alone", number);
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

async function side(environment: BenchEnvironment, server: Server) {
  const read = listEndpoints(await createProjectFixture(server));
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
  return { server, measure, measureAlone };
}
