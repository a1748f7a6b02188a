import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";
import { errorBody, publishedCodeOf, shortened } from "../../http/errors.ts";
import type { DateHeader } from "../../http/timestamps.ts";
import { MAX } from "../../input-limits/limits.ts";
import { instantOf, type WorldHandle } from "../../worlds/world-handle.ts";
import { JsonList } from "../render/cached-json.ts";
import type { CachedBodies, CachedBody } from "./cached-bodies.ts";
import type { RouteResponse } from "./incoming-request.ts";
import { MANUAL_CLOCK_HINTS } from "./manual-clock-hints.ts";
import { StoredBytes } from "./stored-bytes.ts";

const gzipped = promisify(gzip);
/** Characters. A smaller body would not become a packet less. */
const SMALLEST_COMPRESSED = 1_400;

type Sending = {
  readonly requestId: string;
  /** Whether the body of an error has the id, too. */
  readonly namesRequest: boolean;
  /** `undefined` if the request names no world that can be opened. */
  readonly world: WorldHandle | undefined;
  readonly date: DateHeader;
  readonly cached: CachedBodies;
};

/** Sends a response with the headers of the imitated API. */
export async function sendResponse(
  context: Context,
  { requestId, namesRequest, world, date, cached }: Sending,
  response: RouteResponse,
): Promise<Response> {
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "X-Request-ID": requestId,
    // C: the platform has both.
    "X-Neon-Ret-Request-ID": requestId,
  };
  // The time of a world would tell a caller without a key that the world exists.
  const now = world && response.status !== 401 ? instantOf(world) : undefined;
  if (now !== undefined) headers["Date"] = date.at(now);
  if ("code" in response) {
    headers["X-Standin-Code"] = response.code;
    const hint = response.hint ?? (await manualClockHint(world, response.status));
    if (hint !== undefined) headers["X-Standin-Hint"] = headerText(hint);
  }
  if ("body" in response) {
    if (response.body === undefined) {
      delete headers["Content-Type"];
      return context.body(null, response.status as 200, headers);
    }
    if (response.body instanceof StoredBytes)
      return new Response(new Uint8Array(response.body.bytes), {
        status: response.status,
        headers: { ...headers, ...response.body.headers },
      });
    if (response.body instanceof JsonList)
      return sendList(context, cached.of(context.req.url, response.body), response.status, headers);
    const text = typeof response.body === "string" ? response.body : JSON.stringify(response.body);
    return compressed(context, text, response.status, headers);
  }
  Object.assign(headers, response.headers);
  const published = { code: publishedCodeOf(response.code), message: response.message };
  return context.body(
    errorBody(namesRequest ? requestId : undefined, published),
    response.status as 400,
    headers,
  );
}

/** A hint may quote what a client sent, but a header has only characters of ASCII. */
function headerText(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]/g, (character) => `\\u${hexadecimal(character)}`);
  return shortened(printable, MAX.hintCharacters).replace("…", "...");
}

function hexadecimal(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}

/** Only its user advances a manual clock, so a client that retries would wait forever. */
async function manualClockHint(world: WorldHandle | undefined, status: number): Promise<string | undefined> {
  const hint = MANUAL_CLOCK_HINTS[status];
  return hint !== undefined && (await world?.clock())?.mode === "manual" ? hint : undefined;
}

/** A list has an entity tag, and a client that sends it gets 304 while the list is the same. */
async function sendList(
  context: Context,
  body: CachedBody,
  status: number,
  headers: Record<string, string>,
): Promise<Response> {
  headers["ETag"] = body.etag;
  const known = context.req.header("if-none-match");
  if (known !== undefined && (known.trim() === "*" || known.includes(body.etag))) {
    delete headers["Content-Type"];
    return new Response(null, { status: 304, headers });
  }
  if (body.bytes.byteLength < SMALLEST_COMPRESSED) return new Response(body.bytes, { status, headers });
  headers["Vary"] = "Accept-Encoding";
  if (!acceptsGzip(context)) return new Response(body.bytes, { status, headers });
  headers["Content-Encoding"] = "gzip";
  return new Response(await body.gzipped(), { status, headers });
}

/** C: large responses are compressed if the client accepts it. */
async function compressed(
  context: Context,
  text: string,
  status: number,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  if (!acceptsGzip(context) || text.length < SMALLEST_COMPRESSED)
    return new Response(text, { status, headers });
  return new Response(await gzipped(text), {
    status,
    headers: { ...headers, "Content-Encoding": "gzip", Vary: "Accept-Encoding" },
  });
}

function acceptsGzip(context: Context): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?(\s|,|$))/.test(context.req.header("accept-encoding") ?? "");
}
