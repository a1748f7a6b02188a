import { KeepAliveConnection } from "./keep-alive-connection.ts";
import { type Latencies, summarize } from "./latencies.ts";
import { type EncodedRequest, encode, type LoadRequest } from "./request.ts";

/** Each connection sends its next request after its response. The requests are sent in turn. */
export type ClosedLoopOptions = {
  readonly port: number;
  readonly connections: number;
  readonly total: number;
  readonly requests: readonly LoadRequest[];
};

export type ClosedLoopResult = {
  readonly total: number;
  readonly elapsedMs: number;
  readonly latencies: Latencies;
};

export async function runClosedLoop({
  port,
  connections,
  total,
  requests,
}: ClosedLoopOptions): Promise<ClosedLoopResult> {
  const encoded = requests.map((request) => encode(request, port));
  const latenciesMs: number[] = [];
  let sent = 0;
  let open: KeepAliveConnection[] = [];
  try {
    return await new Promise<ClosedLoopResult>((resolve, reject) => {
      const next = (connection: KeepAliveConnection) => {
        const request = encoded[sent % encoded.length] as EncodedRequest;
        sent += 1;
        const sentAt = performance.now();
        connection.send(request.bytes, (status) => {
          latenciesMs.push(performance.now() - sentAt);
          if (status !== request.expected)
            return reject(new Error(`expected status ${request.expected}, got ${status}`));
          if (sent < total) return next(connection);
          if (latenciesMs.length === total)
            resolve({ total, elapsedMs: performance.now() - startedAt, latencies: summarize(latenciesMs) });
        });
      };
      let startedAt = 0;
      openAll(port, Math.min(connections, total), reject).then((all) => {
        open = all;
        startedAt = performance.now();
        for (const connection of all) next(connection);
      }, reject);
    });
  } finally {
    for (const connection of open) connection.close();
  }
}

export function openAll(
  port: number,
  count: number,
  onError: (error: Error) => void,
): Promise<KeepAliveConnection[]> {
  return Promise.all(Array.from({ length: count }, () => KeepAliveConnection.open(port, onError)));
}
