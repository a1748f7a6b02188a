import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";

/** Headers that the server under test adds to each answer. */
export const CPU_HEADER = "x-fuzz-cpu-us";
export const CHANGED_HEADER = "x-fuzz-changed";

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
/** Many times what an answer takes on a busy machine. */
const PATIENCE_MS = 60_000;

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

/** `undefined` if the request cannot be written, if its answer is a stream, or if it waits on purpose. */
export function send(
  port: number,
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
    const patience = setTimeout(
      () => {
        outgoing.destroy();
        if (path.includes("/wait")) resolve(undefined);
        else reject(new Error(`no answer within ${PATIENCE_MS} ms`));
      },
      path.includes("/wait") ? 20 : PATIENCE_MS,
    );
    outgoing.on("response", (response) => {
      clearTimeout(patience);
      if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
        response.destroy();
        resolve(undefined);
        return;
      }
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => resolve(undefined));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.on("error", () => {
      clearTimeout(patience);
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
