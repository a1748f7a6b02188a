import { setImmediate as nextTurn } from "node:timers/promises";
import type { DurationMs } from "../../kernel/time.ts";
import type { Result } from "../../platform/catalog/refusal-codes.ts";
import { takeCheckpoint } from "../../simulation/checkpoint.ts";
import type { PointSelector } from "../../simulation/replay.ts";
import { NOTHING_CHANGED, type PastView } from "../world-handle.ts";
import { storeUnavailable } from "./store-failure.ts";
import { deleteUnneededSecrets } from "./unneeded-secrets.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

/**
 * Truncates history older than `maxAge` of simulated time, and prunes all of it before it resolves. The caller
 * commits the deletion of secrets.
 */
export async function compactHistory(
  lifecycle: WorldLifecycle,
  maxAge: DurationMs,
  viewAt: (point: PointSelector) => Promise<Result<PastView>>,
): Promise<void> {
  const live = lifecycle.requireLive();
  const { journal } = live.simulation;
  const { oldest } = journal;
  const horizon = live.clock.now() - maxAge;
  const past =
    horizon < Math.max(oldest.at, live.simulation.world.settings.startAt)
      ? undefined
      : await viewAt({ at: horizon });
  if (past?.ok === false) throw new Error(past.refusal.message);
  const checkStillOpen = () => {
    if (lifecycle.live !== live) throw new Error("it was reopened during the compaction; try again");
  };
  let outcome = NOTHING_CHANGED;
  try {
    checkStillOpen();
    const headSeq = past?.value.head.seq ?? 0;
    if (past !== undefined && headSeq > journal.oldest.seq)
      await journal.storeCheckpoint(takeCheckpoint(past.value.world));
    checkStillOpen();
    journal.truncate({ eventsUpTo: Math.max(headSeq, journal.oldest.seq), operationsBefore: horizon });
    outcome = "history is truncated, and later commits delete the rest of its rows";
    while (!journal.prune()) {
      await nextTurn();
      checkStillOpen();
    }
    await deleteUnneededSecrets(live, lifecycle);
  } catch (error) {
    const failure = `world "${lifecycle.name}" could not be compacted`;
    lifecycle.reportFailure(error, failure);
    throw storeUnavailable(failure, error, outcome);
  }
}
