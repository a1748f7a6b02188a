import type { Queue } from "bullmq";
import type { RedisLink } from "./redis-link.ts";

/** `Queue.getJobState` searches the list of waiting jobs for each job, which takes quadratic time. */
export async function statesOf(
  redis: RedisLink["redis"],
  queue: Pick<Queue, "toKey">,
  ids: readonly string[],
): Promise<readonly ("unknown" | "failed" | "queued")[]> {
  const pipeline = redis.pipeline();
  for (const id of ids) {
    pipeline.exists(queue.toKey(id));
    pipeline.zscore(queue.toKey("failed"), id);
  }
  const answers = (await pipeline.exec()) ?? [];
  return ids.map((_, index) => {
    if (answers[2 * index]?.[1] === 0) return "unknown";
    return answers[2 * index + 1]?.[1] == null ? "queued" : "failed";
  });
}
