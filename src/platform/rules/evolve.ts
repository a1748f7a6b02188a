import type { SimTime } from "../../kernel/time.ts";
import type { Event, RecordedEvent } from "../model/events.ts";
import { applySettingsChanges, type WorldEvent } from "../model/world-settings.ts";
import { type Evolvers, handlersOf } from "../world/handlers.ts";
import { EMPTIED_TABLES, type TablesWith } from "../world/tables.ts";
import { NO_NUMBERS, type World } from "../world/world.ts";
import { accountEvolvers, apiKeyEvolvers } from "./account/evolve-account.ts";
import { databaseEvolvers, roleEvolvers } from "./branch/content-history.ts";
import { branchEvolvers, snapshotEvolvers } from "./branch/evolve-branch.ts";
import { activityEvolvers } from "./compute/evolve-activity.ts";
import { computeEvolvers } from "./compute/evolve-compute.ts";
import { spanEvolvers } from "./compute/evolve-span.ts";
import { faultEvolvers } from "./fault/evolve-fault.ts";
import { operationEvolvers } from "./operation/evolve-operation.ts";
import { projectEvolvers } from "./project/evolve-project.ts";
import {
  deleteAllProjectRecords,
  recordEvolvers,
  revokeProjectKeys,
} from "./settings/evolve-settings-record.ts";
import { beginChildBranches } from "./usage/meter-child-branches.ts";
import { beginStorage } from "./usage/meter-storage.ts";

const worldEvolvers = {
  WorldCreated(world, event) {
    world.settings = event.world;
  },
  WorldConfigured(world, { at, changes }) {
    world.settings = applySettingsChanges(world.settings, changes);
    if (changes.storageUse === true)
      for (const branch of world.branches.values()) beginStorage(world, branch, at);
    if (changes.childBranchUse === true)
      for (const { id } of world.projects.values()) beginChildBranches(world, id, at);
  },
  WorldReset: resetWorld,
} satisfies Evolvers<WorldEvent>;

const EVOLVER_OF_TYPE = handlersOf<Event["type"]>()({
  ...worldEvolvers,
  ...accountEvolvers,
  ...apiKeyEvolvers,
  ...projectEvolvers,
  ...recordEvolvers,
  ...branchEvolvers,
  ...roleEvolvers,
  ...databaseEvolvers,
  ...snapshotEvolvers,
  ...computeEvolvers,
  ...operationEvolvers,
  ...activityEvolvers,
  ...spanEvolvers,
  ...faultEvolvers,
});

type Evolver = (world: World, event: RecordedEvent) => void;

/** A map, because looking up one of 58 properties by a changing name takes twice as long. */
const EVOLVERS = new Map(Object.entries(EVOLVER_OF_TYPE)) as ReadonlyMap<string, Evolver>;

/** The name of every event type. */
export const EVENT_TYPES: readonly string[] = [...EVOLVERS.keys()];

/** Applies an event to the world. It never rejects: an event that cannot be applied is a bug, and throws. */
export function evolve(world: World, event: RecordedEvent): void {
  world.seq = event.seq;
  world.at = event.at;
  // An event type of a newer release has no evolver, and is skipped.
  EVOLVERS.get(event.type)?.(world, event);
}

/** Resets the tables of which some rows are kept, in this order. */
const RESET_RULES: Readonly<
  Record<TablesWith<{ onReset: "partly kept" }>, (world: World, at: SimTime) => void>
> = { records: deleteAllProjectRecords, apiKeys: revokeProjectKeys };

/**
 * Accounts, what belongs to their organizations, and their keys stay, so that clients stay logged in.
 * Everything else is as in a new world, down to the next ids.
 */
function resetWorld(world: World): void {
  const { account, apiKey, record } = world.numbers;
  world.numbers = { ...NO_NUMBERS, account, apiKey, record };
  for (const reset of Object.values(RESET_RULES)) reset(world, world.at);
  for (const name of EMPTIED_TABLES) world[name].empty();
}
