import type { Benchmark } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { CREATE_API_KEY, createProjectFixture, listEndpoints } from "../environment/project-fixture.ts";
import { type Server, startAppServer } from "../environment/servers.ts";
import { comparedFigure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const WRITES_PER_SECOND = 5_000;
const READS_PER_SECOND = 2_000;
const CONNECTIONS = 32;

type Measured = { readonly readP50Ms: number; readonly readP99Ms: number; readonly writesPerSecond: number };

export const readLatencyUnderWrites: Benchmark = {
  name: "latency",
  measures: "read p99 during 5,000 writes per second, compared with writes that are not stored",
  async run(environment, progress) {
    const durable = await side(environment, await startAppServer(environment, "sqlite"));
    const noWrite = await side(environment, await startAppServer(environment, "none"));
    const measure = (durationMs: number) => ({
      durable: () => durable.measure(durationMs),
      noWrite: () => noWrite.measure(durationMs),
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
    return [
      comparedFigure(
        "read p99 during 5,000 writes/s",
        "ms",
        "no write",
        of(({ readP99Ms }) => readP99Ms),
        { of: "ratio", atMost: 1.5 },
      ),
      comparedFigure(
        "  read p50",
        "ms",
        "no write",
        of(({ readP50Ms }) => readP50Ms),
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
  const streams = [
    { name: "writes", perSecond: WRITES_PER_SECOND, connections: CONNECTIONS, request: CREATE_API_KEY },
    { name: "reads", perSecond: READS_PER_SECOND, connections: CONNECTIONS, request: read },
  ];
  const measure = async (durationMs: number): Promise<Measured> => {
    const [writes, reads] = await environment.runOpenLoop({ port: server.port, durationMs, streams });
    if (writes === undefined || reads === undefined)
      throw new Error("the load generator returned too few streams");
    return {
      readP50Ms: reads.latencies.p50Ms,
      readP99Ms: reads.latencies.p99Ms,
      writesPerSecond: writes.perSecond,
    };
  };
  return { server, measure };
}
