import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import type { QueueHost } from "@standin/standin/ports/queue";
import type { QueueKey } from "./signing-key.ts";

/** The prefix of every key in Redis. */
export const PREFIX = "standin";

/** How long a result can be reused by a later run. */
export const RESULT_TTL_S = 3_600;
/** How long the files of a run, and the run itself, outlive the last sign of its process. */
export const RUN_TTL_S = 600;
/** How long a worker is listed after its last sign. */
export const WORKER_TTL_S = 10;
export const SIGN_EVERY_MS = 3_000;

/**
 * The version and a digest of the code that runs scenarios and answers questions, and the id of the key. Different
 * code could give different results, and jobs of another key would be rejected, so both have a queue of their own.
 */
export function codeVersion({ version, codeDigest }: QueueHost, key: QueueKey): string {
  const own = readFileSync(fileURLToPath(import.meta.url));
  const digest = createHash("sha256").update(codeDigest).update(own);
  return `${version}+${digest.digest("hex").slice(0, 8)}.key-${key.id}`;
}

/** The name of the queue; BullMQ uses it as a part of its keys. */
export const queueName = (code: string) => `runs-${code}`;
/** A file, by the digest of its content. */
export const fileKey = (digest: string) => `${PREFIX}:file:${digest}`;
/** A result, by what it depends on. */
export const resultKey = (id: string) => `${PREFIX}:result:${id}`;
/** Exists while the process that waits for the results of a run shows signs of life. */
export const runKey = (run: string) => `${PREFIX}:run:${run}`;
/** List of the completed jobs of a run. */
export const doneKey = (run: string) => `${PREFIX}:done:${run}`;
/** Set of the names of workers, and what each of them is. */
export const WORKERS_KEY = `${PREFIX}:workers`;
export const workerKey = (name: string) => `${PREFIX}:worker:${name}`;

export const workerName = () => `${hostname()}/${process.pid}`;
