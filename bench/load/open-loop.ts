import { openAll } from "./closed-loop.ts";
import type { KeepAliveConnection } from "./keep-alive-connection.ts";
import { type Latencies, summarize } from "./latencies.ts";
import { type EncodedRequest, encode, type LoadRequest } from "./request.ts";
import { startTicker } from "./ticker.ts";

/** Poisson arrivals, independent of the responses. A request that finds no idle connection waits for one. */
type OpenLoopStream = {
  readonly name: string;
  readonly perSecond: number;
  readonly connections: number;
  readonly request: LoadRequest;
};

export type OpenLoopOptions = {
  readonly port: number;
  readonly durationMs: number;
  readonly streams: readonly OpenLoopStream[];
};

/** Latencies count from the scheduled send time, which avoids coordinated omission. */
export type OpenLoopResult = {
  readonly name: string;
  readonly total: number;
  readonly perSecond: number;
  readonly latencies: Latencies;
};

/** Approximate largest delay of a request on an idle connection. */
const TICK_MS = 0.1;

type RunningStream = {
  readonly stream: OpenLoopStream;
  readonly request: EncodedRequest;
  readonly idle: KeepAliveConnection[];
  readonly latenciesMs: number[];
  dueAt: number;
  outstanding: number;
};

export async function runOpenLoop({ port, durationMs, streams }: OpenLoopOptions): Promise<OpenLoopResult[]> {
  const open: KeepAliveConnection[] = [];
  let stopTicker: () => unknown = () => undefined;
  try {
    return await new Promise<OpenLoopResult[]>((resolve, reject) => {
      start(port, streams, reject).then((running) => {
        for (const { idle } of running) open.push(...idle);
        let endsAt = Number.NaN;
        stopTicker = startTicker(TICK_MS, () => {
          const now = performance.now();
          // The load begins with the first tick. Until the ticker's thread runs, nothing could be sent in time.
          if (Number.isNaN(endsAt)) {
            endsAt = now + durationMs;
            for (const one of running) one.dueAt = now + gapMs(one.stream);
          }
          for (const one of running) sendDue(one, Math.min(now, endsAt), reject);
          const isOver = now >= endsAt && running.every((one) => one.outstanding === 0 && one.dueAt > endsAt);
          if (isOver) resolve(running.map((one) => resultOf(one, durationMs)));
        });
      }, reject);
    });
  } finally {
    await stopTicker();
    for (const connection of open) connection.close();
  }
}

function start(
  port: number,
  streams: readonly OpenLoopStream[],
  onError: (error: Error) => void,
): Promise<RunningStream[]> {
  return Promise.all(
    streams.map(async (stream) => ({
      stream,
      request: encode(stream.request, port),
      idle: await openAll(port, stream.connections, onError),
      latenciesMs: [],
      dueAt: 0,
      outstanding: 0,
    })),
  );
}

function sendDue(one: RunningStream, until: number, onError: (error: Error) => void): void {
  while (one.dueAt <= until) {
    const connection = one.idle.pop();
    if (connection === undefined) return;
    const { dueAt, request } = one;
    one.dueAt += gapMs(one.stream);
    one.outstanding += 1;
    connection.send(request.bytes, (status) => {
      one.latenciesMs.push(performance.now() - dueAt);
      one.outstanding -= 1;
      one.idle.push(connection);
      if (status !== request.expected)
        onError(new Error(`${one.stream.name}: expected status ${request.expected}, got ${status}`));
    });
  }
}

function gapMs({ perSecond }: OpenLoopStream): number {
  return (-Math.log(1 - Math.random()) / perSecond) * 1_000;
}

function resultOf({ stream, latenciesMs }: RunningStream, durationMs: number): OpenLoopResult {
  const total = latenciesMs.length;
  return {
    name: stream.name,
    total,
    perSecond: (total / durationMs) * 1_000,
    latencies: summarize(latenciesMs),
  };
}
