// @ts-nocheck
import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { watchForHang } from "./hang-watch.ts";

/** Headers that the server under test adds to each answer. */
export const CPU_HEADER = "x-fuzz-cpu-us";
export const CHANGED_HEADER = "x-fuzz-changed";
export const BUG_HEADER = "x-fuzz-bug";

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
/** Nearly all answers come sooner, and need no watch. */
const WATCH_AFTER_MS = 1_000;
/** A call that waits on purpose is given up after this time. */
const WAITING_CALL_MS = 20;

export type ServerAddress = { readonly port: number; readonly pid: number };
export type RawRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};
export type RawAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

/**
 * `undefined` if the request cannot be written, if its answer is a stream, or if it waits on purpose. Throws if
 * the server hangs.
 */
export function send(
  { port, pid }: ServerAddress,
  { method, path, headers, body }: RawRequest,
): Promise<RawAnswer | undefined> {
  return new Promise((resolve, reject) => {
    let outgoing: ReturnType<typeof httpRequest>;
    try {
      outgoing = httpRequest({ agent, port, host: "127.0.0.1", method, path, headers });
    } catch {
      resolve(undefined);
      return;
    }
    const answered = new AbortController();
    const giveUp = (hang: string | undefined) => {
      if (answered.signal.aborted) return;
      if (hang === undefined) resolve(undefined);
      else reject(new Error(hang));
      end();
      outgoing.destroy();
    };
    const timer = path.includes("/wait")
      ? setTimeout(() => giveUp(undefined), WAITING_CALL_MS)
      : setTimeout(
          () => watchForHang({ port, pid, signal: answered.signal }).then(giveUp, reject),
          WATCH_AFTER_MS,
        );
    const end = () => {
      clearTimeout(timer);
      answered.abort();
    };
    outgoing.on("response", (response) => {
      if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
        end();
        response.destroy();
        resolve(undefined);
        return;
      }
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => {
        end();
        resolve(undefined);
      });
      response.on("end", () => {
        end();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        });
      });
    });
    outgoing.on("error", () => {
      end();
      // A large body may be answered before it is sent; the server may close then.
      resolve(undefined);
    });
    outgoing.end(body);
  });
}

/** Writes bytes that need not be HTTP, and hangs up, in the middle of a body if there is one. */
export function sendBytes(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, () => socket.destroy()));
    socket.on("error", () => resolve());
    socket.on("close", () => resolve());
  });
}
