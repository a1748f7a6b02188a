import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, statSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { TransferOptions } from "@standin/standin/ports/object-store";
import { UserError } from "@standin/standin/ports/user-error";
import { ObjectStoreError } from "./object-error.ts";
import { requestObject } from "./object-request.ts";

/** A transfer that the store or the network fails is repeated from its beginning. */
export const MAX_ATTEMPTS = 5;
const FIRST_DELAY_MS = 500;

/** Writes a file to the object of a presigned URL. */
export async function uploadFile(path: string, url: URL, options: TransferOptions): Promise<void> {
  const bytes = statSync(path).size;
  const open = () => Readable.from(counted(createReadStream(path), bytes, options.progress));
  await withAttempts(`PUT ${describe(url)}`, options, async () => {
    const response = await requestObject(url, {
      method: "PUT",
      body: { bytes, open },
      signal: options.signal,
    });
    response.resume();
  });
}

/** Reads the object of a presigned URL into a new file. Returns the SHA-256 of its bytes. */
export async function downloadFile(url: URL, path: string, options: TransferOptions): Promise<string> {
  return withAttempts(`GET ${describe(url)}`, options, async () => {
    const response = await requestObject(url, { method: "GET", signal: options.signal });
    const bytes = lengthOf(response);
    const hash = createHash("sha256");
    const hashed = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
    const file = createWriteStream(path, { mode: 0o600 });
    const { progress, signal } = options;
    await pipeline(response, hashed, (chunks) => counted(chunks, bytes, progress), file, { signal });
    if (file.bytesWritten !== bytes)
      throw new Error(`the connection ended after ${file.bytesWritten} of ${bytes} bytes`);
    return hash.digest("hex");
  });
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  of: number,
  progress: TransferOptions["progress"],
): AsyncGenerator<Buffer> {
  let done = 0;
  for await (const chunk of chunks) {
    done += chunk.length;
    await progress(done, of);
    yield chunk;
  }
}

function lengthOf({ headers }: IncomingMessage): number {
  const length = Number(headers["content-length"] ?? Number.NaN);
  if (Number.isSafeInteger(length)) return length;
  throw new ObjectStoreError(200, "the response has no Content-Length, so its end could not be recognized");
}

async function withAttempts<T>(
  request: string,
  { signal, onRetry, firstDelayMs = FIRST_DELAY_MS }: TransferOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw new UserError("interrupted; nothing was changed");
      const text = `${request}: ${error instanceof Error ? error.message : error}`;
      if (!isTransient(error)) throw new UserError(`${text}${adviceFor(error)}`);
      if (attempt === MAX_ATTEMPTS) throw new UserError(`${text} (attempt ${attempt} of ${MAX_ATTEMPTS})`);
      const delayMs = firstDelayMs * 2 ** (attempt - 1);
      onRetry(`${text}; trying again in ${delayMs / 1_000} s`);
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw new UserError("interrupted; nothing was changed");
    }
  }
}

/** Codes of errors of this machine's files, which another attempt does not solve. */
const FILE_ERRORS = new Set(["ENOSPC", "EACCES", "EPERM", "ENOENT", "EISDIR", "EROFS", "EDQUOT", "EFBIG"]);

function isTransient(error: unknown): boolean {
  if (error instanceof ObjectStoreError) return error.status >= 500 || error.status === 429;
  return !FILE_ERRORS.has((error as NodeJS.ErrnoException).code ?? "");
}

function adviceFor(error: unknown): string {
  if (!(error instanceof ObjectStoreError) || error.status !== 403) return "";
  return "; a presigned URL is valid for one method and a limited time: create a new one";
}

/** The query of a presigned URL is a credential. */
function describe({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
