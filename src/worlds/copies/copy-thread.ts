import { statSync } from "node:fs";
import { SHARE_ENV, Worker } from "node:worker_threads";
import BetterSqlite3 from "better-sqlite3";
import type { Result } from "../../platform/catalog/refusal-codes.ts";
import { CorruptFile } from "../../store/tables/journal-checksum.ts";
import { type CopyCompletion, completeCopy } from "./complete-copy.ts";

/** To complete a smaller copy takes no longer than to start a thread. */
const THREAD_FROM_BYTES = 4 * 1024 ** 2;

/** The script of the thread. Only builds of the package have it, next to their bundles. */
const SCRIPT = new URL("./copy-worker.js", import.meta.url);

/** Errors lose their class and their code between threads. */
type SentError = { readonly name: string; readonly message: string; readonly code?: string | undefined };

/** What a thread sends: first that it has begun, then the outcome. */
export type CopyMessage =
  | { readonly hasBegun: true }
  | { readonly result: Result<undefined> }
  | { readonly error: SentError };

/** Where a copy is completed. */
export type CopyThreadOptions = { readonly fromBytes?: number; readonly script?: URL };

/**
 * Completes a copy. Work on a large one runs in a thread, so that this one can answer requests. If no thread can be used, it
 * runs in this one, and others run in between.
 */
export async function completeCopyAside(
  copy: CopyCompletion,
  { fromBytes = THREAD_FROM_BYTES, script = SCRIPT }: CopyThreadOptions = {},
): Promise<Result<undefined>> {
  const { divergence, seed, isVerified = false, path } = copy;
  const isLong = divergence.rewindTo !== undefined || seed !== undefined || isVerified;
  const outcome =
    isLong && statSync(path).size >= fromBytes ? await completeInThread(copy, script) : undefined;
  return outcome ?? completeCopy(copy);
}

/** `undefined`: there is no thread, and nothing was done. */
function completeInThread(copy: CopyCompletion, script: URL): Promise<Result<undefined> | undefined> {
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    const fail = (error: unknown) => (hasBegun ? reject(error) : resolve(undefined));
    let worker: Worker;
    try {
      worker = new Worker(script, { name: "copy", env: SHARE_ENV, execArgv: [], workerData: copy });
    } catch {
      // Node can be started without the permission to create threads.
      resolve(undefined);
      return;
    }
    worker.on("message", (message: CopyMessage) => {
      if ("hasBegun" in message) hasBegun = true;
      else if ("result" in message) resolve(message.result);
      else reject(errorOf(message.error));
    });
    worker.on("error", fail);
    worker.on("exit", () => fail(new Error("the thread that completes the copy has ended")));
  });
}

function errorOf({ name, message, code }: SentError): Error {
  if (name === "CorruptFile") return new CorruptFile(message);
  if (name === "SqliteError") return new BetterSqlite3.SqliteError(message, code ?? "");
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
