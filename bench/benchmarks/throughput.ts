import type { BenchEnvironment } from "../environment/environment.ts";
import type { Server } from "../environment/servers.ts";
import type { LoadRequest } from "../load/request.ts";

const CONNECTIONS = 64;

export type Throughput = {
  readonly perSecond: number;
  /** The server's own time, both of its mode and of the kernel's: also right where it was the client that could not keep up. */
  readonly cpuUsPerRequest: number;
};

/** Sends so many requests over 64 connections that each wait for their answer. */
export async function throughput(
  environment: BenchEnvironment,
  server: Server,
  request: LoadRequest,
  total: number,
): Promise<Throughput> {
  const before = await server.sample();
  const { elapsedMs } = await environment.flood({
    port: server.port,
    connections: CONNECTIONS,
    total,
    requests: [request],
  });
  const after = await server.sample();
  return {
    perSecond: total / (elapsedMs / 1_000),
    cpuUsPerRequest: ((after.cpuMs - before.cpuMs) / total) * 1_000,
  };
}
