import type { Benchmark } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { CREATE_API_KEY, listEndpoints, makeScene } from "../environment/scene.ts";
import { type Server, startDouble } from "../environment/servers.ts";
import { comparedFigure } from "../figure.ts";
import { inRounds, pairs } from "../rounds.ts";

const WRITES_PER_SECOND = 5_000;
const READS_PER_SECOND = 2_000;
const CONNECTIONS = 32;

type Measured = { readonly readP50Ms: number; readonly readP99Ms: number; readonly writesPerSecond: number };

export const readLatencyUnderWrites: Benchmark = {
  name: "latency",
  measures: "read p99 under 5,000 writes a second, against the same with writes that write nothing",
  async run(environment, progress) {
    const durable = await side(environment, await startDouble(environment, "sqlite"));
    const noWrite = await side(environment, await startDouble(environment, "none"));
    const measure = (durationMs: number) => ({
      durable: () => durable.measure(durationMs),
      noWrite: () => noWrite.measure(durationMs),
    });
    progress("warming up");
    await inRounds(1, measure(environment.quick ? 1_000 : 4_000), () => undefined);
    const rounds = await inRounds(
      environment.quick ? 3 : 9,
      measure(environment.quick ? 1_000 : 3_000),
      progress,
    );
    for (const { server } of [durable, noWrite]) await environment.stop(server.child);
    const of = (number: (measured: Measured) => number) => pairs(rounds, "durable", "noWrite", number);
    return [
      comparedFigure(
        "read p99 under 5,000 writes/s",
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
        "  writes that were answered",
        "/s",
        "no write",
        of(({ writesPerSecond }) => writesPerSecond),
      ),
    ];
  },
};

async function side(environment: BenchEnvironment, server: Server) {
  const read = listEndpoints(await makeScene(server));
  const streams = [
    { name: "writes", perSecond: WRITES_PER_SECOND, connections: CONNECTIONS, request: CREATE_API_KEY },
    { name: "reads", perSecond: READS_PER_SECOND, connections: CONNECTIONS, request: read },
  ];
  const measure = async (durationMs: number): Promise<Measured> => {
    const [writes, reads] = await environment.paced({ port: server.port, durationMs, streams });
    if (writes === undefined || reads === undefined) throw new Error("the client lost a stream");
    return {
      readP50Ms: reads.latencies.p50Ms,
      readP99Ms: reads.latencies.p99Ms,
      writesPerSecond: writes.perSecond,
    };
  };
  return { server, measure };
}
