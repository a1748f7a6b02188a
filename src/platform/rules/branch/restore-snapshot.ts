import type { SimTime } from "../../../kernel/time.ts";
import { ACCEPTED, accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Branch } from "../../model/branch.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { BranchRef, SnapshotRef } from "../../model/object-refs.ts";
import type { OperationRequest } from "../../model/operation.ts";
import type { Deciders } from "../../world/handlers.ts";
import {
  branchesOf,
  computesOnBranch,
  findAccount,
  findBranch,
  findBranchFor,
  findProject,
} from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { updateRequests } from "../compute/decide-compute.ts";
import { branchesWithComputes, refuseWhileLocked } from "../operation/locked-by-operations.ts";
import { scheduleOperations } from "../operation/schedule-operations.ts";
import { checkNeverExpires } from "./branch-expiration.ts";
import { branchFrom, resolveBranchId } from "./build-branch.ts";
import { checkBranchLimit, checkBranchName } from "./decide-branch.ts";
import { findSnapshot } from "./decide-snapshot.ts";
import { copiedServices } from "./services/copied-services.ts";

export type RestoreSnapshotCommand = RestoreSnapshot | FinalizeRestore;

export const restoreSnapshotDeciders = {
  RestoreSnapshot: decideRestoreSnapshot,
  FinalizeRestore: decideFinalizeRestore,
} satisfies Deciders<RestoreSnapshotCommand>;

type RestoreSnapshot = SnapshotRef & {
  readonly type: "RestoreSnapshot";
  readonly name?: string | undefined;
  /** The branch that the restored one will replace; by default the snapshot's source. */
  readonly targetBranchId?: string | undefined;
  readonly finalize: boolean;
};
/**
 * S: the restored branch takes over the computes, name and default designation of its target; A: also its
 * backups.
 */
type FinalizeRestore = BranchRef & {
  readonly type: "FinalizeRestore";
  readonly replacedName?: string | undefined;
};

function decideRestoreSnapshot(world: World, command: RestoreSnapshot, context: Context): Result<Event[]> {
  const { now, random } = context;
  const found = findSnapshot(world, command);
  if (!found.ok) return found;
  const snapshot = found.value;
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const account = findAccount(world, project.value.accountId);
  if (!account.ok) return account;
  const targetId = command.targetBranchId ?? snapshot.sourceBranchId;
  const target = findBranch(world, project.value, targetId);
  // The source may be deleted by now. The snapshot can still be restored, but without replacing a branch.
  if (!target.ok && (command.finalize || command.targetBranchId !== undefined)) return target;
  // A restored branch has no parent.
  const limitCheck = checkBranchLimit(world, account.value, project.value.id, true);
  if (!limitCheck.ok) return limitCheck;
  const id = resolveBranchId(world, project.value, undefined, random);
  if (!id.ok) return id;
  const name = command.name ?? id.value;
  const nameCheck = checkBranchName(world, project.value.id, name, undefined);
  if (!nameCheck.ok) return nameCheck;
  const targetIds = target.ok ? [target.value.id] : [];
  const locked = refuseWhileLocked(
    world,
    project.value.id,
    command.finalize ? branchesWithComputes(world, targetIds) : { branchIds: targetIds },
  );
  if (locked !== undefined) return { ok: false, refusal: locked };
  const branch: Branch = {
    ...branchFrom(world, project.value, snapshot.content, { id: id.value, name }, now),
    restoredFrom: snapshot.id,
    ...(target.ok ? { restoredAs: target.value.id } : {}),
    restoreStatus: "restored",
  };
  const refused = command.finalize && target.ok ? refuseProtected(target.value) : undefined;
  if (refused !== undefined) return refused;
  const finalized =
    command.finalize && target.ok
      ? replaceBranch(world, target.value, branch, undefined, now)
      : NO_REPLACEMENT;
  const source = {
    branchId: snapshot.sourceBranchId,
    at: snapshot.timestamp,
    content: snapshot.content,
  };
  return accept([
    { type: "BranchCreated", at: now, branch, dataFrom: { id: snapshot.id, at: now } },
    // A: a snapshot does not store them, so they are those that its branch still has.
    ...copiedServices(world, branch.id, source, context),
    ...finalized.events,
    ...scheduleOperations(
      world,
      project.value.id,
      [{ action: "create_branch", branchId: branch.id }, ...finalized.requests],
      context,
    ),
  ]);
}

function decideFinalizeRestore(world: World, command: FinalizeRestore, context: Context): Result<Event[]> {
  const found = findBranchFor(world, command);
  if (!found.ok) return found;
  const branch = found.value;
  if (branch.restoreStatus !== "restored" || branch.restoredAs === undefined) {
    return refuse(
      "RESTORE_NOT_ALLOWED",
      `branch "${branch.name}" was not restored from a snapshot, or its restore is already finalized`,
    );
  }
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const target = findBranch(world, project.value, branch.restoredAs);
  if (!target.ok) return target;
  const refused = refuseProtected(target.value);
  if (refused !== undefined) return refused;
  const neverExpires = target.value.default ? checkNeverExpires(branch) : ACCEPTED;
  if (!neverExpires.ok) return neverExpires;
  if (command.replacedName !== undefined) {
    // The restored branch takes the name of the target, so only the target's new name must be free.
    const nameCheck = checkBranchName(world, branch.projectId, command.replacedName, undefined);
    if (!nameCheck.ok) return nameCheck;
  }
  if (computesOnBranch(world, branch.id).some(({ type }) => type === "read_write")) {
    const targetHasPrimary = computesOnBranch(world, target.value.id).some(
      ({ type }) => type === "read_write",
    );
    if (targetHasPrimary) return refuse("READ_WRITE_ENDPOINT_EXISTS", "read_write endpoint already exists");
  }
  const touched = branchesWithComputes(world, [branch.id, target.value.id]);
  const locked = refuseWhileLocked(world, branch.projectId, touched);
  if (locked !== undefined) return { ok: false, refusal: locked };
  const { events, requests } = replaceBranch(world, target.value, branch, command.replacedName, context.now);
  return accept([...events, ...scheduleOperations(world, branch.projectId, requests, context)]);
}

/** D: a protected branch cannot be reset or lose its computes. A: so it cannot be replaced either. */
function refuseProtected({ name, protected: isProtected }: Branch) {
  return isProtected
    ? refuse("BRANCH_IS_PROTECTED", `branch "${name}" is protected and cannot be replaced`)
    : undefined;
}

type Replacement = { readonly events: readonly Event[]; readonly requests: readonly OperationRequest[] };
const NO_REPLACEMENT: Replacement = { events: [], requests: [] };

function replaceBranch(
  world: World,
  target: Branch,
  restored: Branch,
  replacedName: string | undefined,
  at: SimTime,
): Replacement {
  const computes = computesOnBranch(world, target.id);
  const changes = { branchId: restored.id };
  return {
    events: [
      {
        type: "BranchUpdated",
        at,
        branchId: target.id,
        changes: { name: replacedName ?? replacedBranchName(world, target, restored) },
      },
      {
        type: "BranchUpdated",
        at,
        branchId: restored.id,
        changes: { name: target.name, restoreStatus: "finalized" },
      },
      ...(target.default
        ? [{ type: "BranchSetAsDefault", at, projectId: target.projectId, branchId: restored.id } as const]
        : []),
      ...computes.map(({ id }): Event => ({ type: "ComputeUpdated", at, endpointId: id, changes })),
      ...moveBackupSchedule(target, restored.id, at),
    ],
    requests: computes.flatMap((compute) =>
      updateRequests(compute, changes, compute.phase.state === "active").map((request) => ({
        ...request,
        ...changes,
        endpointId: compute.id,
      })),
    ),
  };
}

/** A: the backup schedule moves along with the computes. */
function moveBackupSchedule({ id, backupSchedule }: Branch, to: string, at: SimTime): Event[] {
  const items = backupSchedule?.items ?? [];
  if (items.length === 0) return [];
  return [
    { type: "BackupScheduleSet", at, branchId: id, items: [] },
    { type: "BackupScheduleSet", at, branchId: to, items },
  ];
}

/**
 * S: "renaming the original branch so it no longer uses the original name". A: the new name ends in `_old`.
 */
function replacedBranchName(world: World, { projectId, name }: Branch, restored: Branch): string {
  const taken = new Set([...branchesOf(world, projectId).map((branch) => branch.name), restored.name]);
  for (let count = 1; ; count += 1) {
    const old = count === 1 ? `${name}_old` : `${name}_old_${count}`;
    if (!taken.has(old)) return old;
  }
}
