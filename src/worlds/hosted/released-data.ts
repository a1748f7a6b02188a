import type { Event } from "../../platform/model/events.ts";

/** Events after which no branch may need the data that a removed or restored one had. */
const RELEASING = new Set<Event["type"]>([
  "BranchRemoved",
  "BranchRestored",
  "ProjectRemoved",
  "SnapshotDeleted",
  "WorldReset",
]);

export function releasesData({ type }: Pick<Event, "type">): boolean {
  return RELEASING.has(type);
}
