import type { ChangePlan, CreateAccount } from "./account/account.ts";
import type { CreateApiKey, RevokeApiKey } from "./account/api-key.ts";
import type {
  AcceptInvitation,
  ChangeMemberRole,
  InviteMembers,
  RemoveMember,
} from "./account/organization.ts";
import type { GrantPermission, RevokePermission } from "./account/permission.ts";
import type { ClearSpendingLimit, SetSpendingLimit } from "./account/spending-limit.ts";
import type { AcceptTransfer, RequestTransfer, TransferProjects } from "./account/transfer.ts";
import type { CreateBranch, DeleteBranch, SetDefaultBranch, UpdateBranch } from "./branch/branch.ts";
import type {
  CreateSnapshot,
  DeleteSnapshot,
  SetBackupSchedule,
  UpdateSnapshot,
} from "./branch/branch-snapshot.ts";
import type { CreateDatabase, DeleteDatabase, UpdateDatabase } from "./branch/database.ts";
import type { RestoreBranch } from "./branch/restore-branch.ts";
import type { FinalizeRestore, RestoreSnapshot } from "./branch/restore-snapshot.ts";
import type { CreateRole, DeleteRole, ResetRolePassword } from "./branch/role.ts";
import type { RecordActivity, ScheduleActivity } from "./compute/activity.ts";
import type { CreateCompute, DeleteCompute, UpdateCompute } from "./compute/compute.ts";
import type { RestartCompute, StartCompute, SuspendCompute } from "./compute/compute-lifecycle.ts";
import type { SettingsChanges, WorldSettings } from "./core/world.ts";
import type { RemoveFault, SetFaults } from "./fault/fault.ts";
import type { MatchFaults } from "./fault/match-fault.ts";
import type { AddJwks, DeleteJwks } from "./project/jwks.ts";
import type { CreateProject, DeleteProject, UpdateProject } from "./project/project.ts";
import type { RecoverBranch, RecoverProject } from "./project/recovery.ts";
import type {
  AssignVpcEndpoint,
  DeleteVpcEndpoint,
  RestrictProject,
  UnrestrictProject,
} from "./project/vpc-endpoint.ts";

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
  | MatchFaults;

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
