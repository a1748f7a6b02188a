import type { Benchmark } from "../benchmark.ts";
import { comparedFigure } from "../figure.ts";
import { inRounds, pairs } from "../rounds.ts";
import { CREATE_API_KEY, listEndpoints, makeScene } from "../stage/scene.ts";
import { type Server, startDouble } from "../stage/servers.ts";
import type { Stage } from "../stage/stage.ts";

const WRITES_PER_SECOND = 5_000;
const READS_PER_SECOND = 2_000;
const CONNECTIONS = 32;

type Measured = { readonly readP50Ms: number; readonly readP99Ms: number; readonly writesPerSecond: number };

export const readLatencyUnderWrites: Benchmark = {
  name: "latency",
  measures: "read p99 under 5,000 writes a second, against the same with writes that write nothing",
  async run(stage, progress) {
    const durable = await side(stage, await startDouble(stage, "sqlite"));
    const noWrite = await side(stage, await startDouble(stage, "none"));
    const measure = (durationMs: number) => ({ durable: () => durable.measure(durationMs), noWrite: () => noWrite.measure(durationMs) });
    progress("warming up");
    await inRounds(1, measure(stage.quick ? 1_000 : 4_000), () => undefined);
    const rounds = await inRounds(stage.quick ? 3 : 9, measure(stage.quick ? 1_000 : 3_000), progress);
    for (const { server } of [durable, noWrite]) await stage.stop(server.child);
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

async function side(stage: Stage, server: Server) {
  const read = listEndpoints(await makeScene(server));
  const streams = [
    { name: "writes", perSecond: WRITES_PER_SECOND, connections: CONNECTIONS, request: CREATE_API_KEY },
    { name: "reads", perSecond: READS_PER_SECOND, connections: CONNECTIONS, request: read },
  ];
  const measure = async (durationMs: number): Promise<Measured> => {
    const [writes, reads] = await stage.paced({ port: server.port, durationMs, streams });
    if (writes === undefined || reads === undefined) throw new Error("the client lost a stream");
    return { readP50Ms: reads.latencies.p50Ms, readP99Ms: reads.latencies.p99Ms, writesPerSecond: writes.perSecond };
  };
  return { server, measure };
}
