import { Connection } from "./connection.ts";
import { type Latencies, summarize } from "./latencies.ts";
import { type EncodedRequest, encode, type LoadRequest } from "./request.ts";

/** So many requests as fast as they are answered, each connection waiting for its answer; the requests take turns. */
export type Flood = {
  readonly port: number;
  readonly connections: number;
  readonly total: number;
  readonly requests: readonly LoadRequest[];
};

export type FloodResult = {
  readonly total: number;
  readonly elapsedMs: number;
  readonly latencies: Latencies;
};

export async function flood({ port, connections, total, requests }: Flood): Promise<FloodResult> {
  const encoded = requests.map((request) => encode(request, port));
  const latenciesMs: number[] = [];
  let sent = 0;
  let open: Connection[] = [];
  try {
    return await new Promise<FloodResult>((done, failed) => {
      const next = (connection: Connection) => {
        const request = encoded[sent % encoded.length] as EncodedRequest;
        sent += 1;
        const sentAt = performance.now();
        connection.send(request.bytes, (status) => {
          latenciesMs.push(performance.now() - sentAt);
          if (status !== request.expected)
            return failed(new Error(`answered ${status}, not ${request.expected}`));
          if (sent < total) return next(connection);
          if (latenciesMs.length === total)
            done({ total, elapsedMs: performance.now() - startedAt, latencies: summarize(latenciesMs) });
        });
      };
      let startedAt = 0;
      openAll(port, Math.min(connections, total), failed).then((all) => {
        open = all;
        startedAt = performance.now();
        for (const connection of all) next(connection);
      }, failed);
    });
  } finally {
    for (const connection of open) connection.close();
  }
}

export function openAll(port: number, count: number, failed: (error: Error) => void): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(port, failed)));
}
