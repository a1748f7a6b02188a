import type { Redis } from "ioredis";
import { WORKER_TTL_S, WORKERS_KEY, workerKey } from "./redis-keys.ts";

/** A worker that showed a sign of life a few seconds ago. */
export type ListedWorker = { readonly name: string; readonly code: string };

/** A sign of life of a worker. */
export async function signIn(redis: Redis, { name, code }: ListedWorker): Promise<void> {
  await redis.multi().sadd(WORKERS_KEY, name).set(workerKey(name), code, "EX", WORKER_TTL_S).exec();
}

export async function signOut(redis: Redis, name: string): Promise<void> {
  await redis.multi().srem(WORKERS_KEY, name).del(workerKey(name)).exec();
}

/** The workers of all versions, by name. Those that ended without signing out are removed from the list. */
export async function listWorkers(redis: Redis): Promise<readonly ListedWorker[]> {
  const names = (await redis.smembers(WORKERS_KEY)).sort();
  if (names.length === 0) return [];
  const codes = await redis.mget(names.map(workerKey));
  const expired = names.filter((_, index) => codes[index] === null);
  if (expired.length > 0) await redis.srem(WORKERS_KEY, ...expired);
  return names.flatMap((name, index) => {
    const code = codes[index];
    return code === null || code === undefined ? [] : [{ name, code }];
  });
}
