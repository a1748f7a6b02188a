import { accept, type Result } from "../catalog/refusal-codes.ts";
import type { Context } from "../model/context.ts";
import type { Event } from "../model/events.ts";
import type { WorldCommand } from "../model/world-settings.ts";
import { type Deciders, handlersOf } from "../world/handlers.ts";
import type { World } from "../world/world.ts";
import { accountDeciders } from "./account/decide-account.ts";
import { apiKeyDeciders, decideRemoveApiKey } from "./account/decide-api-key.ts";
import { organizationDeciders } from "./account/organization.ts";
import { permissionDeciders } from "./account/permission.ts";
import { spendingLimitDeciders } from "./account/spending-limit.ts";
import { databaseDeciders } from "./branch/database.ts";
import { branchDeciders } from "./branch/decide-branch.ts";
import { decideExpireSnapshot, decideScheduledSnapshot, snapshotDeciders } from "./branch/decide-snapshot.ts";
import { decideExpireBranch, deleteBranchDeciders } from "./branch/delete-branch.ts";
import { learnedContentDeciders } from "./branch/learned-content.ts";
import { decideRemoveBranch, decideRemoveProject } from "./branch/removal.ts";
import { restoreBranchDeciders } from "./branch/restore-branch.ts";
import { restoreSnapshotDeciders } from "./branch/restore-snapshot.ts";
import { roleDeciders } from "./branch/role.ts";
import { serviceRecordDeciders } from "./branch/services/decide-service-record.ts";
import type { Command, DueWork } from "./commands.ts";
import { decideRescale } from "./compute/autoscaling/autoscaling.ts";
import { decideAutosuspend } from "./compute/autosuspend.ts";
import { computeLifecycleDeciders } from "./compute/compute-lifecycle.ts";
import { activityDeciders, decideScheduledArrival } from "./compute/decide-activity.ts";
import { computeDeciders } from "./compute/decide-compute.ts";
import { spanDeciders } from "./compute/decide-span.ts";
import { faultDeciders } from "./fault/decide-fault.ts";
import { decideFinishOperation } from "./finish-operation.ts";
import { projectDeciders } from "./project/decide-project.ts";
import { jwksDeciders } from "./project/jwks.ts";
import { recoveryDeciders } from "./project/recovery.ts";
import { transferDeciders } from "./project/transfer.ts";
import { vpcEndpointDeciders } from "./project/vpc-endpoint.ts";
import { decideQuota } from "./usage/quota.ts";

const RULES_OF_NEW_WORLDS = {
  hourlyUsage: true,
  loadAverage: true,
  storageUse: true,
  childBranchUse: true,
  regionalIds: true,
} as const;

const worldDeciders = {
  CreateWorld: (_world, { settings }, { now: at }) =>
    accept([{ type: "WorldCreated", at, world: { ...settings, ...RULES_OF_NEW_WORLDS } }]),
  ConfigureWorld: (_world, { settings }, { now: at }) =>
    accept([{ type: "WorldConfigured", at, changes: settings }]),
  ResetWorld: (_world, _command, { now: at }) => accept([{ type: "WorldReset", at }]),
} satisfies Deciders<WorldCommand>;

const DECIDERS = handlersOf<Command["type"]>()({
  ...worldDeciders,
  ...accountDeciders,
  ...apiKeyDeciders,
  ...organizationDeciders,
  ...permissionDeciders,
  ...spendingLimitDeciders,
  ...transferDeciders,
  ...projectDeciders,
  ...recoveryDeciders,
  ...jwksDeciders,
  ...vpcEndpointDeciders,
  ...branchDeciders,
  ...deleteBranchDeciders,
  ...restoreBranchDeciders,
  ...roleDeciders,
  ...databaseDeciders,
  ...snapshotDeciders,
  ...restoreSnapshotDeciders,
  ...serviceRecordDeciders,
  ...computeDeciders,
  ...computeLifecycleDeciders,
  ...activityDeciders,
  ...spanDeciders,
  ...learnedContentDeciders,
  ...faultDeciders,
});

/** The events that a command causes in this world at this instant, or why it is rejected. Changes nothing. */
export function decide(world: World, command: Command, context: Context): Result<Event[]> {
  const decider = DECIDERS[command.type] as Decider;
  return decider(world, command, context);
}

type Decider = (world: World, command: Command, context: Context) => Result<Event[]>;

/** The events of work whose time has come; none if its object is gone or its deadline has moved. */
export function decideDue(world: World, work: DueWork, context: Context): Event[] {
  switch (work.kind) {
    case "operation": {
      const operation = world.operations.get(work.id);
      return operation === undefined ? [] : decideFinishOperation(world, operation, context);
    }
    case "activity": {
      const scheduled = world.scheduledActivities.get(work.id);
      return scheduled === undefined ? [] : decideScheduledArrival(world, scheduled, context);
    }
    case "expiration":
      return decideExpireBranch(world, work.id, context);
    case "backup":
      return decideScheduledSnapshot(world, work.id, context);
    case "snapshotExpiration":
      return decideExpireSnapshot(world, work.id, context);
    case "branchRemoval":
      return decideRemoveBranch(world, work.id, context);
    case "projectRemoval":
      return decideRemoveProject(world, work.id, context);
    case "apiKeyRemoval":
      return decideRemoveApiKey(world, work.id, context);
    case "rescale":
    case "autosuspend": {
      const compute = world.computes.get(work.id);
      if (compute === undefined) return [];
      const decided =
        work.kind === "rescale"
          ? decideRescale(compute, context)
          : decideAutosuspend(world, compute, context);
      return decided.ok ? decided.value : [];
    }
    case "quota":
      return decideQuota(world, work.id, context);
    default:
      return work satisfies never;
  }
}
