import type { Connection } from "./connection.ts";
import { openAll } from "./flood.ts";
import { type Latencies, summarize } from "./latencies.ts";
import { startPacer } from "./pacer.ts";
import { type EncodedRequest, encode, type LoadRequest } from "./request.ts";

/** A stream of requests that arrive by their own clock, whatever the server does: exponential gaps, so that nothing falls in step. */
type PacedStream = {
  readonly name: string;
  readonly perSecond: number;
  readonly connections: number;
  readonly request: LoadRequest;
};

export type Paced = {
  readonly port: number;
  readonly durationMs: number;
  readonly streams: readonly PacedStream[];
};

/** Latencies count from the instant at which a request was due, so a client that could not send in time hides nothing. */
export type PacedResult = {
  readonly name: string;
  readonly total: number;
  readonly perSecond: number;
  readonly latencies: Latencies;
};

/** About how late a request may be sent. */
const TICK_MS = 0.1;

type Running = {
  readonly stream: PacedStream;
  readonly request: EncodedRequest;
  readonly idle: Connection[];
  readonly latenciesMs: number[];
  dueAt: number;
  unanswered: number;
};

export async function paced({ port, durationMs, streams }: Paced): Promise<PacedResult[]> {
  const open: Connection[] = [];
  let stopPacer: () => unknown = () => undefined;
  try {
    return await new Promise<PacedResult[]>((done, failed) => {
      start(port, streams, failed).then((running) => {
        for (const { idle } of running) open.push(...idle);
        const startedAt = performance.now();
        for (const one of running) one.dueAt = startedAt + gapMs(one.stream);
        const endsAt = startedAt + durationMs;
        stopPacer = startPacer(TICK_MS, () => {
          const now = performance.now();
          for (const one of running) sendDue(one, Math.min(now, endsAt), failed);
          const isOver = now >= endsAt && running.every((one) => one.unanswered === 0 && one.dueAt > endsAt);
          if (isOver) done(running.map((one) => resultOf(one, durationMs)));
        });
      }, failed);
    });
  } finally {
    await stopPacer();
    for (const connection of open) connection.close();
  }
}

function start(
  port: number,
  streams: readonly PacedStream[],
  failed: (error: Error) => void,
): Promise<Running[]> {
  return Promise.all(
    streams.map(async (stream) => ({
      stream,
      request: encode(stream.request, port),
      idle: await openAll(port, stream.connections, failed),
      latenciesMs: [],
      dueAt: 0,
      unanswered: 0,
    })),
  );
}

function sendDue(one: Running, until: number, failed: (error: Error) => void): void {
  while (one.dueAt <= until) {
    const connection = one.idle.pop();
    if (connection === undefined) return;
    const { dueAt, request } = one;
    one.dueAt += gapMs(one.stream);
    one.unanswered += 1;
    connection.send(request.bytes, (status) => {
      one.latenciesMs.push(performance.now() - dueAt);
      one.unanswered -= 1;
      one.idle.push(connection);
      if (status !== request.expected)
        failed(new Error(`${one.stream.name}: answered ${status}, not ${request.expected}`));
    });
  }
}

function gapMs({ perSecond }: PacedStream): number {
  return (-Math.log(1 - Math.random()) / perSecond) * 1_000;
}

function resultOf({ stream, latenciesMs }: Running, durationMs: number): PacedResult {
  const total = latenciesMs.length;
  return {
    name: stream.name,
    total,
    perSecond: (total / durationMs) * 1_000,
    latencies: summarize(latenciesMs),
  };
}
