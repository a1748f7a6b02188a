import type { AccountCommand } from "../model/account.ts";
import type { ActivityCommand } from "../model/activity.ts";
import type { ApiKeyCommand } from "../model/api-key.ts";
import type { BranchCommand } from "../model/branch.ts";
import type { DatabaseCommand, RoleCommand } from "../model/branch-content.ts";
import type { SnapshotCommand } from "../model/branch-snapshot.ts";
import type { ComputeCommand, ComputeLifecycleCommand } from "../model/compute-events.ts";
import type { FaultCommand } from "../model/fault.ts";
import type { ProjectCommand } from "../model/project.ts";
import type { ServiceRecordCommand } from "../model/service-record.ts";
import type { SpanCommand } from "../model/span.ts";
import type { WorldCommand } from "../model/world-settings.ts";
import type { OrganizationCommand } from "./account/organization.ts";
import type { PermissionCommand } from "./account/permission.ts";
import type { SpendingLimitCommand } from "./account/spending-limit.ts";
import type { LearnBranchContent } from "./branch/learned-content.ts";
import type { RestoreBranchCommand } from "./branch/restore-branch.ts";
import type { RestoreSnapshotCommand } from "./branch/restore-snapshot.ts";
import type { JwksCommand } from "./project/jwks.ts";
import type { RecoveryCommand } from "./project/recovery.ts";
import type { TransferCommand } from "./project/transfer.ts";
import type { VpcEndpointCommand } from "./project/vpc-endpoint.ts";

/** Everything that a caller can request of a world. */
export type Command =
  | WorldCommand
  | AccountCommand
  | ApiKeyCommand
  | OrganizationCommand
  | PermissionCommand
  | SpendingLimitCommand
  | TransferCommand
  | ProjectCommand
  | RecoveryCommand
  | JwksCommand
  | VpcEndpointCommand
  | BranchCommand
  | RestoreBranchCommand
  | RoleCommand
  | DatabaseCommand
  | SnapshotCommand
  | RestoreSnapshotCommand
  | ServiceRecordCommand
  | ComputeCommand
  | ComputeLifecycleCommand
  | ActivityCommand
  | SpanCommand
  | LearnBranchContent
  | FaultCommand;

/** Work that the world does by itself when its time has come. `id` names the object that it concerns. */
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
  | { readonly kind: "projectRemoval"; readonly id: string }
  | { readonly kind: "apiKeyRemoval"; readonly id: string };
