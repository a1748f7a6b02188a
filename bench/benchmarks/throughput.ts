import type { BenchEnvironment } from "../environment/environment.ts";
import type { Server } from "../environment/servers.ts";
import type { LoadRequest } from "../load/request.ts";
import type { ProcessMetrics } from "../processes/process-metrics.ts";

const CONNECTIONS = 64;

export type Throughput = {
  readonly perSecond: number;
  /** User and system time of the server. Valid even if the load generator was the bottleneck. */
  readonly cpuUsPerRequest: number;
  /** Calls of the system that read or write files or sockets; `NaN` where the system does not count them. */
  readonly systemCallsPerRequest: number;
  /** To files and sockets. */
  readonly bytesWrittenPerRequest: number;
};

/** Closed loop: each of 64 connections sends its next request after its response. */
export async function throughput(
  environment: BenchEnvironment,
  server: Server,
  request: LoadRequest,
  total: number,
): Promise<Throughput> {
  const before = await server.metrics();
  const { elapsedMs } = await environment.runClosedLoop({
    port: server.port,
    connections: CONNECTIONS,
    total,
    requests: [request],
  });
  const after = await server.metrics();
  const perRequest = (of: (io: NonNullable<ProcessMetrics["io"]>) => number) =>
    before.io === undefined || after.io === undefined ? Number.NaN : (of(after.io) - of(before.io)) / total;
  return {
    perSecond: total / (elapsedMs / 1_000),
    cpuUsPerRequest: ((after.cpuMs - before.cpuMs) / total) * 1_000,
    systemCallsPerRequest: perRequest(({ reads, writes }) => reads + writes),
    bytesWrittenPerRequest: perRequest(({ bytesWritten }) => bytesWritten),
  };
}
