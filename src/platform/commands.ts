import type { ChangePlan, CreateAccount } from "./account.ts";
import type { RecordActivity, ScheduleActivity } from "./activity.ts";
import type { CreateApiKey, RevokeApiKey } from "./api-key.ts";
import type { CreateBranch, DeleteBranch, SetDefaultBranch, UpdateBranch } from "./branch.ts";
import type { RestoreBranch } from "./branch-restore.ts";
import type { CreateSnapshot, DeleteSnapshot, SetBackupSchedule, UpdateSnapshot } from "./branch-snapshot.ts";
import type { CreateCompute, DeleteCompute, UpdateCompute } from "./compute.ts";
import type { RestartCompute, StartCompute, SuspendCompute } from "./compute-start.ts";
import type { CreateDatabase, DeleteDatabase, UpdateDatabase } from "./database.ts";
import type { RemoveFault, SetFaults } from "./fault.ts";
import type { MeetFaults } from "./fault-hit.ts";
import type { AddJwks, DeleteJwks } from "./jwks.ts";
import type { AcceptInvitation, ChangeMemberRole, InviteMembers, RemoveMember } from "./organization.ts";
import type { GrantPermission, RevokePermission } from "./permission.ts";
import type { CreateProject, DeleteProject, UpdateProject } from "./project.ts";
import type { RecoverBranch, RecoverProject } from "./recovery.ts";
import type { CreateRole, DeleteRole, ResetRolePassword } from "./role.ts";
import type { FinalizeRestore, RestoreSnapshot } from "./snapshot-restore.ts";
import type { ClearSpendingLimit, SetSpendingLimit } from "./spending-limit.ts";
import type { AcceptTransfer, RequestTransfer, TransferProjects } from "./transfer.ts";
import type { AssignVpcEndpoint, DeleteVpcEndpoint, RestrictProject, UnrestrictProject } from "./vpc-endpoint.ts";
import type { SettingsChanges, WorldSettings } from "./world.ts";

type CreateWorld = { readonly type: "CreateWorld"; readonly settings: WorldSettings };
type ConfigureWorld = { readonly type: "ConfigureWorld"; readonly settings: SettingsChanges };
type ResetWorld = { readonly type: "ResetWorld" };

/** What may be asked of a world, in the imperative. */
export type Command =
  | CreateWorld
  | ConfigureWorld
  | ResetWorld
  | CreateAccount
  | ChangePlan
  | CreateApiKey
  | RevokeApiKey
  | CreateProject
  | UpdateProject
  | DeleteProject
  | CreateBranch
  | UpdateBranch
  | DeleteBranch
  | SetDefaultBranch
  | RestoreBranch
  | RecoverBranch
  | RecoverProject
  | CreateRole
  | DeleteRole
  | ResetRolePassword
  | CreateDatabase
  | UpdateDatabase
  | DeleteDatabase
  | CreateSnapshot
  | UpdateSnapshot
  | DeleteSnapshot
  | RestoreSnapshot
  | FinalizeRestore
  | SetBackupSchedule
  | AddJwks
  | DeleteJwks
  | GrantPermission
  | RevokePermission
  | RestrictProject
  | UnrestrictProject
  | AssignVpcEndpoint
  | DeleteVpcEndpoint
  | RequestTransfer
  | AcceptTransfer
  | TransferProjects
  | InviteMembers
  | AcceptInvitation
  | ChangeMemberRole
  | RemoveMember
  | SetSpendingLimit
  | ClearSpendingLimit
  | CreateCompute
  | UpdateCompute
  | DeleteCompute
  | StartCompute
  | SuspendCompute
  | RestartCompute
  | RecordActivity
  | ScheduleActivity
  | SetFaults
  | RemoveFault
  | MeetFaults;

/** What falls due by itself. */
export type DueWork =
  | { readonly kind: "operation"; readonly id: string }
  | { readonly kind: "activity"; readonly id: string }
  | { readonly kind: "rescale"; readonly id: string }
  | { readonly kind: "autosuspend"; readonly id: string }
  | { readonly kind: "quota"; readonly id: string }
  | { readonly kind: "expiration"; readonly id: string }
  | { readonly kind: "backup"; readonly id: string }
  | { readonly kind: "snapshotExpiration"; readonly id: string }
  | { readonly kind: "branchRemoval"; readonly id: string }
  | { readonly kind: "projectRemoval"; readonly id: string };
