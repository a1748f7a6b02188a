import type { RecordedEvent } from "../platform/events.ts";
import { evolve } from "../platform/evolve.ts";
import { emptyWorld, type World } from "../platform/world.ts";

/** Folds a history into an empty world. Draws nothing, decides nothing: the same events always give the same world. */
export function replay(events: Iterable<RecordedEvent>): World {
  const world = emptyWorld();
  for (const event of events) {
    evolve(world, event);
    world.changes.clear();
  }
  return world;
}
