import { decideChangePlan, decideCreateAccount } from "./account/account.ts";
import { decideCreateApiKey, decideRevokeApiKey } from "./account/api-key.ts";
import {
  decideAcceptInvitation,
  decideChangeMemberRole,
  decideInviteMembers,
  decideRemoveMember,
} from "./account/organization.ts";
import { decideGrantPermission, decideRevokePermission } from "./account/permission.ts";
import { decideClearSpendingLimit, decideSetSpendingLimit } from "./account/spending-limit.ts";
import { decideAcceptTransfer, decideRequestTransfer, decideTransferProjects } from "./account/transfer.ts";
import { decideCreateBranch, decideSetDefaultBranch, decideUpdateBranch } from "./branch/branch.ts";
import {
  decideCreateSnapshot,
  decideDeleteSnapshot,
  decideExpireSnapshot,
  decideScheduledSnapshot,
  decideSetBackupSchedule,
  decideUpdateSnapshot,
} from "./branch/branch-snapshot.ts";
import { decideCreateDatabase, decideDeleteDatabase, decideUpdateDatabase } from "./branch/database.ts";
import { decideDeleteBranch, decideExpireBranch } from "./branch/delete-branch.ts";
import { decideRestoreBranch } from "./branch/restore-branch.ts";
import { decideFinalizeRestore, decideRestoreSnapshot } from "./branch/restore-snapshot.ts";
import { decideCreateRole, decideDeleteRole, decideResetRolePassword } from "./branch/role.ts";
import type { Command, DueWork } from "./commands.ts";
import { decideActivity, decideScheduleActivity, decideScheduledArrival } from "./compute/activity.ts";
import { decideRescale } from "./compute/autoscaling.ts";
import { decideAutosuspend } from "./compute/autosuspend.ts";
import { decideCreateCompute, decideDeleteCompute, decideUpdateCompute } from "./compute/compute.ts";
import {
  decideRestartCompute,
  decideStartCompute,
  decideSuspendCompute,
} from "./compute/compute-lifecycle.ts";
import type { Context } from "./core/context.ts";
import type { World } from "./core/world.ts";
import type { Event } from "./events.ts";
import { decideRemoveFault, decideSetFaults } from "./fault/fault.ts";
import { matchFaults } from "./fault/match-fault.ts";
import { decideFinishOperation } from "./operation/finish-operation.ts";
import { decideAddJwks, decideDeleteJwks } from "./project/jwks.ts";
import { decideCreateProject, decideDeleteProject, decideUpdateProject } from "./project/project.ts";
import { decideQuota } from "./project/quota.ts";
import { decideRecoverBranch, decideRecoverProject } from "./project/recovery.ts";
import { decideRemoveBranch, decideRemoveProject } from "./project/removal.ts";
import {
  decideAssignVpcEndpoint,
  decideDeleteVpcEndpoint,
  decideRestrictProject,
  decideUnrestrictProject,
} from "./project/vpc-endpoint.ts";
import { accept, type Result } from "./refusals.ts";

/** What a command makes happen in this world at this instant, or why it does not. Changes nothing. */
export function decide(world: World, command: Command, context: Context): Result<Event[]> {
  const at = context.now;
  switch (command.type) {
    case "CreateWorld":
      return accept([{ type: "WorldCreated", at, world: { ...command.settings, hourlyUsage: true } }]);
    case "ConfigureWorld":
      return accept([{ type: "WorldConfigured", at, changes: command.settings }]);
    case "ResetWorld":
      return accept([{ type: "WorldReset", at }]);
    case "CreateAccount":
      return decideCreateAccount(world, command, context);
    case "ChangePlan":
      return decideChangePlan(world, command, context);
    case "CreateApiKey":
      return decideCreateApiKey(world, command, context);
    case "RevokeApiKey":
      return decideRevokeApiKey(world, command, context);
    case "CreateProject":
      return decideCreateProject(world, command, context);
    case "UpdateProject":
      return decideUpdateProject(world, command, context);
    case "DeleteProject":
      return decideDeleteProject(world, command, context);
    case "CreateBranch":
      return decideCreateBranch(world, command, context);
    case "UpdateBranch":
      return decideUpdateBranch(world, command, context);
    case "DeleteBranch":
      return decideDeleteBranch(world, command, context);
    case "SetDefaultBranch":
      return decideSetDefaultBranch(world, command, context);
    case "RestoreBranch":
      return decideRestoreBranch(world, command, context);
    case "RecoverBranch":
      return decideRecoverBranch(world, command, context);
    case "RecoverProject":
      return decideRecoverProject(world, command, context);
    case "CreateRole":
      return decideCreateRole(world, command, context);
    case "DeleteRole":
      return decideDeleteRole(world, command, context);
    case "ResetRolePassword":
      return decideResetRolePassword(world, command, context);
    case "CreateDatabase":
      return decideCreateDatabase(world, command, context);
    case "UpdateDatabase":
      return decideUpdateDatabase(world, command, context);
    case "DeleteDatabase":
      return decideDeleteDatabase(world, command, context);
    case "CreateSnapshot":
      return decideCreateSnapshot(world, command, context);
    case "UpdateSnapshot":
      return decideUpdateSnapshot(world, command, context);
    case "DeleteSnapshot":
      return decideDeleteSnapshot(world, command, context);
    case "RestoreSnapshot":
      return decideRestoreSnapshot(world, command, context);
    case "FinalizeRestore":
      return decideFinalizeRestore(world, command, context);
    case "SetBackupSchedule":
      return decideSetBackupSchedule(world, command, context);
    case "AddJwks":
      return decideAddJwks(world, command, context);
    case "DeleteJwks":
      return decideDeleteJwks(world, command, context);
    case "GrantPermission":
      return decideGrantPermission(world, command, context);
    case "RevokePermission":
      return decideRevokePermission(world, command, context);
    case "RestrictProject":
      return decideRestrictProject(world, command, context);
    case "UnrestrictProject":
      return decideUnrestrictProject(world, command, context);
    case "AssignVpcEndpoint":
      return decideAssignVpcEndpoint(world, command, context);
    case "DeleteVpcEndpoint":
      return decideDeleteVpcEndpoint(world, command, context);
    case "RequestTransfer":
      return decideRequestTransfer(world, command, context);
    case "AcceptTransfer":
      return decideAcceptTransfer(world, command, context);
    case "TransferProjects":
      return decideTransferProjects(world, command, context);
    case "InviteMembers":
      return decideInviteMembers(world, command, context);
    case "AcceptInvitation":
      return decideAcceptInvitation(world, command, context);
    case "ChangeMemberRole":
      return decideChangeMemberRole(world, command, context);
    case "RemoveMember":
      return decideRemoveMember(world, command, context);
    case "SetSpendingLimit":
      return decideSetSpendingLimit(world, command, context);
    case "ClearSpendingLimit":
      return decideClearSpendingLimit(world, command, context);
    case "CreateCompute":
      return decideCreateCompute(world, command, context);
    case "UpdateCompute":
      return decideUpdateCompute(world, command, context);
    case "DeleteCompute":
      return decideDeleteCompute(world, command, context);
    case "StartCompute":
      return decideStartCompute(world, command, context);
    case "SuspendCompute":
      return decideSuspendCompute(world, command, context);
    case "RestartCompute":
      return decideRestartCompute(world, command, context);
    case "RecordActivity":
      return decideActivity(world, command, context);
    case "ScheduleActivity":
      return decideScheduleActivity(world, command, context);
    case "SetFaults":
      return accept(decideSetFaults(world, command, context));
    case "RemoveFault":
      return decideRemoveFault(world, command, context);
    case "MatchFaults":
      return accept([...matchFaults(world, command.target, context).events]);
    default:
      return command satisfies never;
  }
}

/** What happens when due work is due; nothing where it is gone or its deadline has moved. */
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
