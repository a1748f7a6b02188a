import { setImmediate as nextTurn } from "node:timers/promises";
import { runToEnd } from "../../kernel/run-to-end.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { type HistoryPoint, worldAt } from "../../simulation/replay.ts";
import { searchEvents } from "../../simulation/search-events.ts";
import { type PastView, StoreUnavailable } from "../world-handle.ts";
import { searchAbout } from "./search-about.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

/** The world as it was at a point of its history, which is committed up to then. */
export async function viewPast(lifecycle: WorldLifecycle, head: HistoryPoint): Promise<PastView> {
  const { journal } = lifecycle.requireLive().simulation;
  const guardRead = <T>(read: () => T): T => lifecycle.guardRead(read);
  const { seq, at } = head;
  const world = await guardRead(() => worldAt(journal, seq, () => nextTurn()));
  const endedByThen = (operation: Operation | undefined) =>
    operation !== undefined && operation.updatedAt <= at ? operation : undefined;
  return {
    head,
    world,
    operation: (id) => world.operations.get(id) ?? endedByThen(guardRead(() => journal.operation(id))),
    now: at,
    eventsAbout: (id, limit, filter, after = 0) =>
      guardRead(() => runToEnd(searchEvents(journal, id, { after, before: seq + 1 }, limit, filter))),
    async searchAbout(object) {
      const found = await searchAbout(lifecycle, journal, object, { after: 0, before: seq + 1 });
      if (found !== undefined) return found;
      throw new StoreUnavailable(`world "${lifecycle.name}" was closed while its history was read`);
    },
    events: (since, limit) => guardRead(() => journal.events(since, Math.min(limit, seq - since))),
  };
}
