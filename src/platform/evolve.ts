import { evolveSnapshot } from "./branch/branch-snapshot.ts";
import { evolveDatabase } from "./branch/database.ts";
import { evolveBranch } from "./branch/evolve-branch.ts";
import { evolveRole } from "./branch/role.ts";
import { evolveActivity } from "./compute/evolve-activity.ts";
import { evolveCompute } from "./compute/evolve-compute.ts";
import { applySettingsChanges, NO_NUMBERS, type World } from "./core/world.ts";
import type { RecordedEvent } from "./events.ts";
import { evolveFault } from "./fault/fault.ts";
import { evolveOperation } from "./operation/evolve-operation.ts";
import {
  deleteAllProjectRecords,
  deleteBranchRecords,
  deleteProjectRecords,
  evolveRecord,
} from "./project/evolve-settings-record.ts";
import { evolveProject } from "./project/project.ts";

/** Folds a fact into the world. It never refuses: what cannot be folded in is a bug, and throws. */
export function evolve(world: World, event: RecordedEvent): void {
  world.seq = event.seq;
  world.at = event.at;
  switch (event.type) {
    case "WorldCreated":
      world.settings = event.world;
      return;
    case "WorldConfigured":
      world.settings = applySettingsChanges(world.settings, event.changes);
      return;
    case "WorldReset":
      resetWorld(world);
      return;
    case "AccountCreated":
      world.numbers.account = event.account.number;
      world.accounts.set(event.account);
      return;
    case "AccountPlanChanged": {
      const account = world.accounts.get(event.accountId);
      if (account === undefined)
        throw new Error(`AccountPlanChanged: there is no account ${event.accountId}`);
      world.accounts.set({ ...account, plan: event.plan });
      return;
    }
    case "ApiKeyCreated":
      world.numbers.apiKey = event.apiKey.id;
      world.apiKeys.set(event.apiKey);
      return;
    case "ApiKeyRevoked": {
      const apiKey = world.apiKeys.get(String(event.keyId));
      if (apiKey === undefined) throw new Error(`ApiKeyRevoked: there is no API key ${event.keyId}`);
      world.apiKeys.set({ ...apiKey, revokedAt: event.at });
      return;
    }
    case "ProjectCreated":
    case "ProjectUpdated":
    case "ProjectDeleted":
    case "ProjectRecovered":
    case "ProjectTransferred":
    case "ProjectRemoved":
      evolveProject(world, event);
      if (event.type === "ProjectRemoved") deleteProjectRecords(world, event.projectId, event.at);
      return;
    case "RecordCreated":
    case "RecordUpdated":
    case "RecordDeleted":
      evolveRecord(world, event);
      return;
    case "BranchCreated":
    case "BranchBecameReady":
    case "BranchUpdated":
    case "BranchSetAsDefault":
    case "BranchExpirationSet":
    case "BranchMoved":
    case "BranchRestored":
    case "BranchRecovered":
    case "BranchDeleted":
    case "BranchRemoved":
      if (event.type === "BranchRemoved") deleteBranchRecords(world, event.branchId);
      evolveBranch(world, event);
      return;
    case "RoleCreated":
    case "RoleDeleted":
    case "RolePasswordReset":
      evolveRole(world, event);
      return;
    case "DatabaseCreated":
    case "DatabaseUpdated":
    case "DatabaseDeleted":
      evolveDatabase(world, event);
      return;
    case "SnapshotCreated":
    case "SnapshotRenamed":
    case "SnapshotDeleted":
    case "BackupScheduleSet":
      evolveSnapshot(world, event);
      return;
    case "ComputeCreated":
    case "ComputeUpdated":
    case "ComputeDeleted":
    case "ComputeActivated":
    case "ComputeSuspending":
    case "ComputeSuspended":
    case "ComputeResized":
    case "ComputeStartFailed":
    case "ComputeSuspendFailed":
      evolveCompute(world, event);
      return;
    case "OperationScheduled":
    case "OperationStarted":
    case "OperationFinished":
    case "OperationRetried":
    case "OperationFailed":
    case "OperationCancelled":
      evolveOperation(world, event);
      return;
    case "ActivityScheduled":
    case "ActivityRecorded":
    case "ActivityDropped":
      evolveActivity(world, event);
      return;
    case "FaultSet":
    case "FaultRemoved":
    case "FaultMatched":
    case "FaultHit":
      evolveFault(world, event, event.seq);
      return;
    default:
      event satisfies never;
  }
}

/**
 * Accounts, what belongs to their organizations, and keys stay, so that clients stay logged in; all else is as in a new world,
 * down to the ids that come next.
 */
function resetWorld(world: World): void {
  const { account, apiKey, record } = world.numbers;
  world.numbers = { ...NO_NUMBERS, account, apiKey, record };
  deleteAllProjectRecords(world, world.at);
  for (const table of [
    world.projects,
    world.branches,
    world.computes,
    world.connections,
    world.operations,
    world.scheduledActivities,
    world.usage,
    world.hourlyUsage,
    world.branchSnapshots,
    world.faults,
  ]) {
    table.empty();
  }
}
