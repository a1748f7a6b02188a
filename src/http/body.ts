import { isUtf8 } from "node:buffer";
import type { Context } from "hono";
import { type JsonExcess, type JsonLimits, JsonScanner } from "../input-limits/json-scanner.ts";

export type RequestBody = {
  readonly text: string;
  readonly contentType: string | undefined;
  readonly tooLarge: boolean;
  readonly isMalformed?: true;
  /** A limit of JSON that the body exceeds. Its text is complete only if the body is small. */
  readonly excess?: JsonExcess;
  /** The body was not read, because `admit` has refused it. */
  readonly isRefused?: true;
};

type ByteLimits = {
  readonly bytes: number;
  /** Bytes that are read of any body, before `admit` is called. */
  readonly smallBytes: number;
  /** Called once before more than `smallBytes` is read; false rejects the rest of the body. */
  readonly admit: () => Promise<boolean>;
};

export type BodyLimits = JsonLimits & ByteLimits;

/** Reads a body up to its limits. Its JSON is counted in the meantime, not parsed. Throws if the body ends early. */
export async function readLimitedBody(context: Context, limits: BodyLimits): Promise<RequestBody> {
  const contentType = context.req.header("content-type");
  const empty = { text: "", contentType, tooLarge: false };
  const scanner = new JsonScanner(limits);
  let excess: JsonExcess | undefined;
  const read = await readLimitedBytes(context, limits, (bytes) => {
    excess = scanner.scan(bytes);
    return excess === undefined;
  });
  if (read.bytes !== undefined) return decode(read.bytes, contentType, excess);
  if (excess !== undefined) return { ...empty, excess };
  return {
    ...empty,
    tooLarge: read.refusal === "too large",
    ...(read.refusal === "not admitted" ? { isRefused: true } : {}),
  };
}

/** The same for a body that has been read, and is small. */
export function smallBody(bytes: Buffer, contentType: string | undefined, limits: JsonLimits): RequestBody {
  return decode(bytes, contentType, new JsonScanner(limits).scan(bytes));
}

/** The bytes of a body, or why they were not read. */
export type ReadBytes =
  | { readonly bytes: Buffer; readonly refusal?: undefined }
  | { readonly bytes?: undefined; readonly refusal: "too large" | "not admitted" | "stopped" };

/**
 * Reads a body up to its limits. `scan` sees each part; for a body that is not small, it stops the reading by
 * `false`. Throws if the body ends early.
 */
export async function readLimitedBytes(
  { req }: Context,
  limits: ByteLimits,
  scan: (bytes: Uint8Array) => boolean = () => true,
): Promise<ReadBytes> {
  const declared = req.header("content-length");
  const length = declared === undefined ? undefined : Number(declared);
  if (length !== undefined && length > limits.bytes) return { refusal: "too large" };
  if (length !== undefined && length <= limits.smallBytes) {
    const bytes = Buffer.from(await req.arrayBuffer());
    scan(bytes);
    return { bytes };
  }
  let isAdmitted = false;
  if (length !== undefined) {
    isAdmitted = await limits.admit();
    if (!isAdmitted) return { refusal: "not admitted" };
  }
  const reader = req.raw.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = await reader?.read();
    if (chunk?.value === undefined) break;
    size += chunk.value.byteLength;
    // Leaves the rest in the socket: canceling the stream would close the connection before the response.
    if (size > limits.bytes) return { refusal: "too large" };
    if (size > limits.smallBytes && !isAdmitted) {
      isAdmitted = await limits.admit();
      if (!isAdmitted) return { refusal: "not admitted" };
    }
    if (!scan(chunk.value)) return { refusal: "stopped" };
    chunks.push(chunk.value);
  }
  return { bytes: Buffer.concat(chunks) };
}

function decode(bytes: Buffer, contentType: string | undefined, excess: JsonExcess | undefined): RequestBody {
  const text = bytes.toString("utf8");
  // The replacement character may come from invalid bytes, or may have been sent.
  const isMalformed = text.includes("\ufffd") && !isUtf8(bytes);
  return {
    ...{ text, contentType, tooLarge: false },
    ...(isMalformed ? { isMalformed } : {}),
    ...(excess === undefined ? {} : { excess }),
  };
}
