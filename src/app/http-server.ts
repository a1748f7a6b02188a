import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
} from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { MAX } from "../input-limits/limits.ts";
import { RequestOrder } from "./request-order.ts";

export type HttpServer = Server & { readonly order: RequestOrder };

/** Answers a request, or calls `otherwise`. */
export type AnswersFirst = {
  answer(incoming: IncomingMessage, outgoing: ServerResponse, otherwise: () => void): void;
};

/**
 * A server of HTTP/1.1, with the limits of what clients send before a request can be handled. `repeated` is called
 * for each request, and answers those that it knows; the others go to `fetch`.
 */
export function createHttpServer(
  fetch: Hono["fetch"],
  repeated: () => AnswersFirst | undefined = () => undefined,
): HttpServer {
  const listener = getRequestListener(fetch);
  const limits = {
    maxHeaderSize: MAX.httpHeaders,
    headersTimeout: MAX.httpHeadersMs,
    requestTimeout: MAX.httpRequestMs,
    keepAliveTimeout: MAX.httpIdleMs,
    ServerResponse: OneSpellingResponse,
  };
  const order = new RequestOrder();
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (hasSecondHost(incoming)) {
      // As Node answers a request without one.
      outgoing.writeHead(400, { Connection: "close" }).end();
      return;
    }
    const otherwise = () => void listener(incoming, outgoing);
    const requests = repeated();
    if (requests === undefined) otherwise();
    else requests.answer(incoming, outgoing, otherwise);
  };
  const server = createServer(limits, (incoming, outgoing) =>
    order.next(incoming, outgoing, () => handle(incoming, outgoing)),
  );
  server.maxConnections = MAX.httpConnections;
  shortenIdleTimeWhenBusy(server);
  return Object.assign(server, { order });
}

/** RFC 9112, 3.2: a proxy and a server could each take another one. Node reads only the first. */
export function hasSecondHost({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
  }
  return hosts > 1;
}

const HOST = "host";

/**
 * Accepts no more requests. Idle connections close at once, the others after their response, at the latest when
 * `graceMs` are over.
 */
export async function closeHttpServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  server.closeIdleConnections();
  // Node 24 adds the second, which older releases do not have.
  Object.assign(server, { keepAliveTimeout: 1, keepAliveTimeoutBuffer: 0 });
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(force);
}

/** Idle connections must not keep others out. Node reads the time at the end of each response. */
function shortenIdleTimeWhenBusy(server: Server): void {
  let open = 0;
  const adjust = (difference: number) => {
    open += difference;
    if (!server.listening) return;
    const isBusy = open > server.maxConnections / 2;
    server.keepAliveTimeout = isBusy ? MAX.httpIdleWhenBusyMs : MAX.httpIdleMs;
  };
  server.on("connection", (socket) => {
    adjust(1);
    socket.once("close", () => adjust(-1));
  });
}

/**
 * Spells the names of all headers in one way, that of Go's servers: `X-Request-Id`. Without it, names are as in
 * the source code in one response, in lower case in another, and Node's own have a third spelling.
 */
class OneSpellingResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override writeHead(
    status: number,
    message?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    return typeof message === "string"
      ? super.writeHead(status, message, respelled(headers))
      : super.writeHead(status, respelled(message ?? headers));
  }
}

function respelled<Headers extends OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined>(
  headers: Headers,
): Headers | OutgoingHttpHeaders {
  if (headers === undefined || Array.isArray(headers)) return headers;
  const named: OutgoingHttpHeaders = {};
  for (const name in headers) named[spellingOf(name)] = headers[name];
  return named;
}

/** The few names that are in most responses. Names that users choose, such as those of faults, must not fill it. */
const SPELLINGS = new Map<string, string>();
const MOST_SPELLINGS = 100;

export function spellingOf(name: string): string {
  const known = SPELLINGS.get(name);
  if (known !== undefined) return known;
  const spelling = name.toLowerCase().replace(/(^|-)[a-z]/g, (first) => first.toUpperCase());
  if (SPELLINGS.size < MOST_SPELLINGS) SPELLINGS.set(name, spelling);
  return spelling;
}
