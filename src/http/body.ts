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

export type BodyLimits = JsonLimits & {
  readonly bytes: number;
  /** What is read of any body. */
  readonly smallBytes: number;
  /** Asked once before more is read. */
  readonly admit: () => Promise<boolean>;
};

/** Reads a body up to its limits. Its JSON is counted meanwhile, not parsed. Throws if the body ends early. */
export async function readLimitedBody({ req }: Context, limits: BodyLimits): Promise<RequestBody> {
  const contentType = req.header("content-type");
  const empty = { text: "", contentType, tooLarge: false };
  const declared = req.header("content-length");
  const length = declared === undefined ? undefined : Number(declared);
  if (length !== undefined && length > limits.bytes) return { ...empty, tooLarge: true };
  const scanner = new JsonScanner(limits);
  if (length !== undefined && length <= limits.smallBytes) {
    const bytes = Buffer.from(await req.arrayBuffer());
    return decode(bytes, contentType, scanner.scan(bytes));
  }
  let isAdmitted = false;
  if (length !== undefined) {
    isAdmitted = await limits.admit();
    if (!isAdmitted) return { ...empty, isRefused: true };
  }
  const reader = req.raw.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = await reader?.read();
    if (chunk?.value === undefined) break;
    size += chunk.value.byteLength;
    // What follows stays in the socket: to cancel the stream would close the connection before the response.
    if (size > limits.bytes) return { ...empty, tooLarge: true };
    if (size > limits.smallBytes && !isAdmitted) {
      isAdmitted = await limits.admit();
      if (!isAdmitted) return { ...empty, isRefused: true };
    }
    const excess = scanner.scan(chunk.value);
    if (excess !== undefined) return { ...empty, excess };
    chunks.push(chunk.value);
  }
  return decode(Buffer.concat(chunks), contentType, undefined);
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
