import { setImmediate as nextTurn } from "node:timers/promises";
import { accept, type Result } from "../../platform/catalog/refusal-codes.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { type PointSelector, resolvePoint, worldAt } from "../../simulation/replay.ts";
import type { PastView } from "../world-handle.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

/** The world as it was at a point of its history, which must be committed up to now. */
export async function viewPast(lifecycle: WorldLifecycle, point: PointSelector): Promise<Result<PastView>> {
  const { simulation, clock } = lifecycle.requireLive();
  const { journal } = simulation;
  const guardRead = <T>(read: () => T): T => lifecycle.guardRead(read);
  const head = guardRead(() => resolvePoint(journal, point, { seq: simulation.world.seq, at: clock.now() }));
  if (!head.ok) return head;
  const { seq, at } = head.value;
  const world = await guardRead(() => worldAt(journal, seq, () => nextTurn()));
  const endedByThen = (operation: Operation | undefined) =>
    operation !== undefined && operation.updatedAt <= at ? operation : undefined;
  return accept({
    head: head.value,
    world,
    operation: (id) => world.operations.get(id) ?? endedByThen(guardRead(() => journal.operation(id))),
    now: at,
    eventsAbout: (id, limit, filter) => guardRead(() => journal.eventsAbout(id, seq + 1, limit, filter)),
    events: (since, limit) => guardRead(() => journal.events(since, Math.min(limit, seq - since))),
  });
}
