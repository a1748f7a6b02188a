import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { CODE_HEADER, errorBody, publishedCodeOf, shortened } from "../../http/errors.ts";
import type { IncomingCall } from "../../http/request.ts";
import type { DateHeader } from "../../http/timestamps.ts";
import { MAX } from "../../input-limits/limits.ts";
import { instantOf, type WorldHandle } from "../../worlds/world-handle.ts";
import { JsonBody } from "../render/json-body.ts";
import type { CachedBodies, CachedBody } from "./cached-bodies.ts";
import type { Decided, RouteResponse } from "./incoming-request.ts";
import { MANUAL_CLOCK_HINTS } from "./manual-clock-hints.ts";
import { StoredBytes } from "./stored-bytes.ts";

const gzipped = promisify(gzip);
/** Characters. A smaller body would not become a packet less. */
const SMALLEST_COMPRESSED = 1_400;

/** What is sent for a request. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
};

export type Sending = {
  readonly date: DateHeader;
  readonly cached: CachedBodies;
};

/** The response with the headers of the imitated API. It is a promise only if there is something to wait for. */
export function answerTo(
  call: IncomingCall,
  decided: Omit<Decided, "result">,
  response: RouteResponse,
  { date, cached }: Sending,
): Answer | Promise<Answer> {
  const { requestId, world } = decided;
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "X-Request-ID": requestId,
    // C: the platform has both.
    "X-Neon-Ret-Request-ID": requestId,
  };
  // The time of a world would tell a caller without a key that the world exists.
  const now = world && response.status !== 401 ? instantOf(world) : undefined;
  if (now !== undefined) headers["Date"] = date.at(now);
  return "code" in response
    ? answerWithError(call, decided, cached, response, headers)
    : answerWithBody(call, cached, response, headers);
}

async function answerWithError(
  call: IncomingCall,
  { requestId, namesRequest, world }: Omit<Decided, "result">,
  cached: CachedBodies,
  response: Extract<RouteResponse, { code: unknown }>,
  headers: Record<string, string>,
): Promise<Answer> {
  const { status, code, message } = response;
  headers[CODE_HEADER] = code;
  const hint = response.hint ?? (await manualClockHint(world, status));
  if (hint !== undefined) headers["X-Standin-Hint"] = headerText(hint);
  if ("body" in response) return answerWithBody(call, cached, response, headers);
  Object.assign(headers, response.headers);
  const published = { code: publishedCodeOf(code), message };
  return { status, headers, body: errorBody(namesRequest ? requestId : undefined, published) };
}

function answerWithBody(
  call: IncomingCall,
  cached: CachedBodies,
  { status, body }: { readonly status: number; readonly body?: unknown },
  headers: Record<string, string>,
): Answer | Promise<Answer> {
  if (body === undefined) {
    delete headers["Content-Type"];
    return { status, headers, body: null };
  }
  if (body instanceof StoredBytes)
    return { status, headers: { ...headers, ...body.headers }, body: new Uint8Array(body.bytes) };
  if (body instanceof JsonBody) return answerWithJson(call, cached.of(call.req.url, body), status, headers);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return acceptsGzip(call) && text.length >= SMALLEST_COMPRESSED
    ? compressed(text, status, headers)
    : { status, headers, body: text };
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

/** The body has an entity tag, and a client that sends it gets 304 while the body is the same. */
function answerWithJson(
  call: IncomingCall,
  body: CachedBody,
  status: number,
  headers: Record<string, string>,
): Answer | Promise<Answer> {
  headers["ETag"] = body.etag;
  const isCompressible = body.bytes.byteLength >= SMALLEST_COMPRESSED;
  if (isCompressible) headers["Vary"] = "Accept-Encoding";
  const known = call.req.header("if-none-match");
  if (known !== undefined && matches(known, body.etag)) {
    delete headers["Content-Type"];
    return { status: 304, headers, body: null };
  }
  if (!isCompressible || !acceptsGzip(call)) return { status, headers, body: body.bytes };
  headers["Content-Encoding"] = "gzip";
  return body.gzipped().then((bytes) => ({ status, headers, body: bytes }));
}

/** RFC 9110, 8.8.3: one or more tags in quotes, whose text has no quotes. */
const ENTITY_TAGS = /^[ \t,]*(?:(?:W\/)?"[!#-~\x80-\xff]*"[ \t]*(?:,[ \t,]*|$))+$/;

/**
 * Tags are compared weakly (RFC 9110, 13.1.2): without `W/`, it is the same tag. Most clients send one tag, and a search
 * for it takes longer than the comparison. A list that is not valid matches nothing.
 */
function matches(known: string, etag: string): boolean {
  if (known === etag || known.trim() === "*") return true;
  return known.includes(etag.slice("W/".length)) && ENTITY_TAGS.test(known);
}

/** C: large responses are compressed if the client accepts it. */
async function compressed(
  text: string,
  status: number,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const body = await gzipped(text);
  return { status, headers: { ...headers, "Content-Encoding": "gzip", Vary: "Accept-Encoding" }, body };
}

function acceptsGzip(call: IncomingCall): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?(\s|,|$))/i.test(call.req.header("accept-encoding") ?? "");
}
