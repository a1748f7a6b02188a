import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { objectStoreError } from "./object-error.ts";

/** Time without data after which a connection is closed. */
const IDLE_TIMEOUT_MS = 60_000;
/** A store that does not answer `Expect: 100-continue` within this time gets the body without it. */
const CONTINUE_TIMEOUT_MS = 1_000;
const MAX_REDIRECTS = 3;

/** A body of a known length; a chunked one is not accepted by S3. */
type SizedBody = { readonly bytes: number; readonly open: () => Readable };

type ObjectRequest = {
  readonly method: "GET" | "PUT";
  readonly body?: SizedBody;
  readonly signal: AbortSignal;
};

/**
 * Sends one request to an object store, and follows redirects. Returns the response with a status of 2xx, whose
 * body the caller must read. Rejects with `ObjectStoreError` for another status, and with the error of the
 * connection.
 */
export async function requestObject(url: URL, request: ObjectRequest): Promise<IncomingMessage> {
  let current = url;
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(current, request);
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    const next = redirects < MAX_REDIRECTS ? redirectOf(current, response) : undefined;
    if (next === undefined) {
      const error = await objectStoreError(response);
      response.destroy();
      throw error;
    }
    response.destroy();
    current = next;
  }
}

/** URL of a redirect; `undefined` if the response is none, or if the redirect would give up encryption. */
function redirectOf(from: URL, { statusCode, headers: { location } }: IncomingMessage): URL | undefined {
  if (statusCode !== 307 && statusCode !== 308) return undefined;
  if (location === undefined || !URL.canParse(location, from.href)) return undefined;
  const to = new URL(location, from);
  return to.protocol === from.protocol || to.protocol === "https:" ? to : undefined;
}

function send(url: URL, { method, body, signal }: ObjectRequest): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method,
    signal,
    // Uses a new connection, because the store may be about to close an idle one.
    agent: false,
    headers: body === undefined ? {} : { "Content-Length": body.bytes, Expect: "100-continue" },
  };
  const request = url.protocol === "https:" ? requestHttps(url, options) : requestHttp(url, options);
  request.setTimeout(IDLE_TIMEOUT_MS, () =>
    request.destroy(new Error(`no data was transferred for ${IDLE_TIMEOUT_MS / 1_000} s`)),
  );
  return new Promise((resolve, reject) => {
    const stopWaiting = body === undefined ? request.end() && undefined : sendWhenExpected(request, body);
    request.once("response", (response) => {
      stopWaiting?.();
      resolve(response);
    });
    request.once("error", (error) => {
      stopWaiting?.();
      reject(error);
    });
  });
}

/** Sends the body once the store has accepted the request: a rejected one may be gigabytes long. */
function sendWhenExpected(request: ClientRequest, { open }: SizedBody): () => void {
  let isOver = false;
  const start = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    // An error of either stream is an `error` of the request.
    pipeline(open(), request).catch(() => undefined);
  };
  const timer = setTimeout(start, CONTINUE_TIMEOUT_MS);
  request.once("continue", start);
  request.flushHeaders();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
