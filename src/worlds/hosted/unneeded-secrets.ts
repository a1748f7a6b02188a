import { setImmediate as nextTurn } from "node:timers/promises";
import { isSecretCreatedBetween, secretIdsOf } from "../../platform/rules/branch/secret-references.ts";
import { readStoredRows } from "../../platform/world/stored-rows.ts";
import type { World } from "../../platform/world/world.ts";
import { worldFromCheckpoint } from "../../simulation/checkpoint.ts";
import type { Journal } from "../../simulation/journal.ts";
import type { LiveWorld } from "./live-world.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

/** Number of events that are read between two pauses. */
const EVENTS_PER_PORTION = 5_000;

/**
 * Deletes the secrets that neither this world nor a point of its retained history refers to. Ends
 * early if the world is dropped from memory. The caller commits.
 */
export async function deleteUnneededSecrets(
  live: LiveWorld,
  lifecycle: Pick<WorldLifecycle, "live" | "guardRead">,
): Promise<void> {
  const { simulation, clock } = live;
  const { world, journal } = simulation;
  const isCurrent = () => lifecycle.live === live;
  const { oldest } = journal;
  if (oldest.seq === 0) return;
  while (!lifecycle.guardRead(() => readStoredRows(world))) {
    await nextTurn();
    if (!isCurrent()) return;
  }
  if (secretsNotIn(world, secretIdsOf(world, clock.now())).length === 0) return;
  // A reset restarts the numbers of roles, so their ids do not tell when a secret was created.
  if (await wasReset(journal, world, isCurrent)) return;
  if (!isCurrent() || journal.oldest.seq !== oldest.seq) return;
  const first = worldFromCheckpoint(journal.checkpointBefore({ seq: oldest.seq }));
  const needed = new Set([...secretIdsOf(first, first.at), ...secretIdsOf(world, clock.now())]);
  for (const id of secretsNotIn(world, needed))
    if (!isSecretCreatedBetween(first, world, id)) world.secrets.delete(id);
}

function secretsNotIn(world: World, ids: ReadonlySet<string>): string[] {
  return world.secrets
    .toArray()
    .map(({ id }) => id)
    .filter((id) => !ids.has(id));
}

/** Whether the retained history contains a reset. */
async function wasReset(journal: Journal, world: World, isCurrent: () => boolean): Promise<boolean> {
  for (let since = journal.oldest.seq; since < world.seq && isCurrent(); ) {
    const events = journal.events(since, EVENTS_PER_PORTION);
    const last = events.at(-1);
    if (last === undefined) return false;
    if (events.some(({ type }) => type === "WorldReset")) return true;
    since = last.seq;
    await nextTurn();
  }
  return false;
}
