import { SECOND, type SimTime } from "../../platform/core/time.ts";
import { enableHourlyUsage } from "../enable-hourly-usage.ts";
import type { Transaction } from "../world-handle.ts";
import type { LiveWorld } from "./live-world.ts";

/**
 * The transaction at the instant `now`. Reads of stored history call `commit` first, so that they see its
 * events.
 */
export function transactionAt(
  { simulation, requests }: LiveWorld,
  now: SimTime,
  commit: () => void,
): Transaction {
  const { world, journal } = simulation;
  const commitPending = () => {
    if (simulation.hasUncommittedEvents) commit();
  };
  return {
    world,
    now,
    execute(command) {
      enableHourlyUsage(simulation, now);
      return simulation.execute(command, now);
    },
    storeSecret: (id, value) => world.secrets.set({ id, value }),
    deleteSecret: (id) => world.secrets.delete(id),
    recordKeyUse(keyId, address) {
      const use = world.apiKeyUses.get(String(keyId));
      if (use !== undefined && now - use.lastUsedAt < SECOND && use.lastUsedFromAddr === address) return;
      world.apiKeyUses.set({ keyId, lastUsedAt: now, lastUsedFromAddr: address });
    },
    logRequest: requests && ((request) => requests.append({ at: now, seq: world.seq, ...request })),
    operations(projectId, limit, beforeNumber) {
      commitPending();
      return journal.operations(projectId, limit, beforeNumber);
    },
    eventsAbout(id, limit, filter) {
      commitPending();
      return journal.eventsAbout(id, Number.MAX_SAFE_INTEGER, limit, filter);
    },
    events(since, limit) {
      commitPending();
      return journal.events(since, limit);
    },
    operation(id) {
      const unfinished = world.operations.get(id);
      if (unfinished !== undefined) return unfinished;
      commitPending();
      return journal.operation(id);
    },
  };
}
