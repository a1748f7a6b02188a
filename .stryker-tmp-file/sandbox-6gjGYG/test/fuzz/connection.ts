// @ts-nocheck
import { connect, type Socket } from "node:net";
import { Client, type Dispatcher } from "undici";
import { type HangWatchOptions, watchForHang } from "./hang-watch.ts";
import { type RawAnswer, type RawRequest, type ServerAddress, send } from "./send.ts";

/** Requests that are sent at once. */
export const WINDOW = 16;
/** Larger requests may be answered before they are read, and then the server closes the connection. */
const MAX_PIPELINED_CHARACTERS = 2_000;
/** Nearly all answers come sooner, and need no watch. */
const WATCH_AFTER_MS = 1_000;

/** Limits of the watch for hanging requests, for tests. */
type HangLimits = Pick<HangWatchOptions, "maxCpuMs" | "pauseMs" | "checkCpuEveryMs"> & {
  readonly watchAfterMs?: number;
};

/**
 * Sends requests without waiting for the answers to those before (HTTP pipelining). The server handles them in
 * order, so the same requests find the same world again.
 */
export class Connection {
  readonly #server: ServerAddress;
  readonly #client: Client;
  readonly #limits: HangLimits;
  #socket: Socket | undefined;

  constructor(server: ServerAddress, limits: HangLimits = {}) {
    const { port } = server;
    this.#server = server;
    this.#limits = limits;
    this.#client = new Client(`http://127.0.0.1:${port}`, {
      pipelining: WINDOW,
      // The watch finds requests that hang.
      ...{ headersTimeout: 0, bodyTimeout: 0 },
      connect: (_, callback) => {
        const socket = connect(port, "127.0.0.1", () => callback(null, socket)).setNoDelay(true);
        socket.once("error", (error) => callback(error, null));
        this.#socket = socket;
        return socket;
      },
    });
  }

  /** The answers in the order of the requests; `undefined` as for `send`. Throws if the server hangs. */
  async sendAll(requests: readonly RawRequest[]): Promise<(RawAnswer | undefined)[]> {
    const answers: (RawAnswer | undefined)[] = [];
    let pipelined: RawRequest[] = [];
    for (const request of requests) {
      if (mayBePipelined(request)) {
        pipelined.push(request);
        continue;
      }
      answers.push(...(await this.#sendPipelined(pipelined)));
      pipelined = [];
      answers.push(await send(this.#server, request).catch((error) => fail(error, request)));
    }
    answers.push(...(await this.#sendPipelined(pipelined)));
    return answers;
  }

  async close(): Promise<void> {
    await this.#client.destroy();
  }

  async #sendPipelined(requests: readonly RawRequest[]): Promise<(RawAnswer | undefined)[]> {
    const answered = new AbortController();
    const unanswered = new Set(requests);
    const socket = this.#socket;
    // One write for all of them.
    socket?.cork();
    const answers = Promise.all(
      requests.map((request) => this.#sendOne(request).finally(() => unanswered.delete(request))),
    );
    socket?.uncork();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(async () => {
        const hang = await watchForHang({
          ...this.#server,
          ...this.#limits,
          signal: answered.signal,
        }).catch(String);
        const [first] = unanswered;
        if (hang !== undefined && first !== undefined) reject(new Error(`${hang}: ${describe(first)}`));
      }, this.#limits.watchAfterMs ?? WATCH_AFTER_MS);
      answers.then(resolve, reject).finally(() => {
        clearTimeout(timer);
        answered.abort();
      });
    });
  }

  #sendOne({ method, path, headers, body }: RawRequest): Promise<RawAnswer | undefined> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let status = 0;
      let received: RawAnswer["headers"] = {};
      const options = { method, path, headers, body: body ?? null, idempotent: true, reset: false };
      this.#client.dispatch(options as Dispatcher.DispatchOptions, {
        onRequestStart: () => undefined,
        onResponseStart: (_, statusCode, responseHeaders) => {
          status = statusCode;
          received = responseHeaders;
        },
        onResponseData: (_, chunk) => chunks.push(chunk),
        onResponseEnd: () => resolve({ status, headers: received, text: Buffer.concat(chunks).toString() }),
        onResponseError: () => resolve(undefined),
      });
    });
  }
}

function mayBePipelined({ path, headers, body = "" }: RawRequest): boolean {
  const characters = path.length + body.length + Object.values(headers).join("").length;
  return characters <= MAX_PIPELINED_CHARACTERS && !/\/wait|\/stream/.test(path);
}

function fail(error: unknown, request: RawRequest): never {
  throw new Error(`${String(error)}: ${describe(request)}`);
}

/** A request in an error message. */
export function describe(request: RawRequest): string {
  return JSON.stringify(request, (_, value) =>
    typeof value === "string" && value.length > 999
      ? `${value.length} characters: ${value.slice(0, 99)}`
      : value,
  );
}
