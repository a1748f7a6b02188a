import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { SECOND, type SimTime } from "../../../kernel/time.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Branch } from "../../model/branch.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { BranchRef } from "../../model/object-refs.ts";
import type { OperationRequest } from "../../model/operation.ts";
import type { Project } from "../../model/project.ts";
import type { Deciders } from "../../world/handlers.ts";
import { childrenOf, computesOnBranch, findAccount, findBranch, findProject } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { refuseWhileLocked } from "../operation/locked-by-operations.ts";
import { scheduleOperations } from "../operation/schedule-operations.ts";
import { expirationSet } from "./branch-expiration.ts";
import { branchFrom, resolveBranchId } from "./build-branch.ts";
import { contentAt } from "./content-history.ts";
import { checkBranchLimit, checkBranchName } from "./decide-branch.ts";
import { resolvePointWithData, writtenPosition } from "./point-in-time.ts";
import { copiedServices, restoredServices } from "./services/copied-services.ts";

export const restoreBranchDeciders = {
  RestoreBranch: decideRestoreBranch,
  ResetBranchToParent: decideResetBranchToParent,
} satisfies Deciders<RestoreBranchCommand>;

export type RestoreBranchCommand = RestoreBranch | ResetBranchToParent;

/**
 * S: gives a branch the content of its source at an instant. The `reset` of clients restores the parent's
 * head.
 */
type RestoreBranch = BranchRef & {
  readonly type: "RestoreBranch";
  readonly sourceBranchId: string;
  readonly sourceTimestamp?: SimTime | undefined;
  readonly sourceLsn?: string | undefined;
  /** When Postgres had written its log up to the LSN; absent: it has not. */
  readonly sourceWrittenAt?: SimTime | undefined;
  readonly preserveUnderName?: string | undefined;
};

/** C: gives a branch the content of its parent's head, with the events of a restore. */
type ResetBranchToParent = BranchRef & { readonly type: "ResetBranchToParent" };

function decideResetBranchToParent(
  world: World,
  command: ResetBranchToParent,
  context: Context,
): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const branch = findBranch(world, project.value, command.branchId);
  if (!branch.ok) return branch;
  const { id, name, parentId } = branch.value;
  if (parentId === undefined)
    return refuse("BRANCH_IS_ROOT", `branch "${name}" is a root branch and has no parent to be reset to`);
  // D: "branches that have children cannot be reset". The call has no field to preserve the branch.
  if (childrenOf(world, id).length > 0) {
    return refuse(
      "BRANCH_HAS_CHILDREN",
      `branch "${name}" has child branches and cannot be reset to its parent; delete them, or restore the branch with preserve_under_name`,
    );
  }
  return decideRestoreBranch(world, { ...command, type: "RestoreBranch", sourceBranchId: parentId }, context);
}

function decideRestoreBranch(world: World, command: RestoreBranch, context: Context): Result<Event[]> {
  const { now, random } = context;
  const resolved = resolveRestore(world, command, now);
  if (!resolved.ok) return resolved;
  const { project, branch, source, timestamp } = resolved.value;
  const account = findAccount(world, project.accountId);
  if (!account.ok) return account;
  const { preserveUnderName: name } = command;
  let preserved: Branch | undefined;
  if (name !== undefined) {
    const nameCheck = checkBranchName(world, project.id, name, undefined);
    if (!nameCheck.ok) return nameCheck;
    const limitCheck = checkBranchLimit(world, account.value, project.id);
    if (!limitCheck.ok) return limitCheck;
    const id = resolveBranchId(world, project, undefined, random);
    if (!id.ok) return id;
    preserved = buildPreservedBranch(world, project, branch, { id: id.value, name }, now);
  }
  const touched = {
    branchIds: [branch.id, source.id],
    endpointIds: computesOnBranch(world, branch.id).map(({ id }) => id),
  };
  const locked = refuseWhileLocked(world, project.id, touched);
  if (locked !== undefined) return { ok: false, refusal: locked };
  const restored: Extract<Event, { type: "BranchRestored" }> = {
    type: "BranchRestored",
    at: now,
    branchId: branch.id,
    content: contentAt(source, timestamp),
    // D: a branch restored from its own history becomes a child of the branch that preserves its previous
    // content.
    parentId: source.id === branch.id && preserved !== undefined ? preserved.id : source.id,
    parentTimestamp: timestamp,
    ...(command.sourceLsn === undefined ? {} : { parentLsn: command.sourceLsn }),
    ...(source.id === branch.id || command.sourceWrittenAt === timestamp
      ? { dataFrom: { id: source.id, at: timestamp, ...positionOf(command) } }
      : {}),
  };
  const current = { branchId: branch.id, at: now, content: branch };
  const preservedServices =
    preserved === undefined ? [] : copiedServices(world, preserved.id, current, context);
  const restoredFrom = { branchId: source.id, at: timestamp, content: restored.content };
  return accept([
    ...(preserved === undefined ? [] : preservedEvents(world, branch, preserved, now)),
    ...preservedServices,
    restored,
    ...restoredServices(world, branch.id, restoredFrom, context, preservedServices.length),
    // S: "the same TTL duration is reapplied when resetting the branch from its parent".
    ...(branch.ttlSeconds === undefined
      ? []
      : [expirationSet(branch.id, now + branch.ttlSeconds * SECOND, now)]),
    ...scheduleOperations(world, project.id, restoreRequests(world, branch, preserved), context),
  ]);
}

function positionOf({ sourceLsn: lsn, sourceWrittenAt: writtenAt }: RestoreBranch): {
  readonly lsn?: string;
} {
  return writtenPosition({ lsn, writtenAt });
}

type RestorePlan = {
  readonly project: Project;
  readonly branch: Branch;
  readonly source: Branch;
  readonly timestamp: SimTime;
};

function resolveRestore(world: World, command: RestoreBranch, now: SimTime): Result<RestorePlan> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const branch = findBranch(world, project.value, command.branchId);
  if (!branch.ok) return branch;
  const source = findBranch(world, project.value, command.sourceBranchId);
  if (!source.ok) return source;
  const { sourceTimestamp, sourceLsn, preserveUnderName } = command;
  // D: "protected branches cannot be reset".
  if (branch.value.protected)
    return refuse("BRANCH_IS_PROTECTED", `branch "${branch.value.name}" is protected and cannot be restored`);
  const isSelfRestore = source.value.id === branch.value.id;
  if (isSelfRestore && sourceTimestamp === undefined && sourceLsn === undefined) {
    return refuse(
      "RESTORE_NOT_ALLOWED",
      "source_timestamp or source_lsn is needed where a branch is restored from its own history",
    );
  }
  const hasChildren = childrenOf(world, branch.value.id).length > 0;
  if (preserveUnderName === undefined && (isSelfRestore || hasChildren)) {
    const reason = isSelfRestore
      ? "a branch is restored from its own history"
      : `branch "${branch.value.name}" has child branches`;
    return refuse("RESTORE_NOT_ALLOWED", `preserve_under_name is needed where ${reason}`);
  }
  // D: a branch that expires cannot have children, but the restored branch becomes a child of its source.
  const parent = isSelfRestore ? undefined : source.value;
  if (parent?.expiresAt !== undefined) {
    return refuse(
      "BRANCH_EXPIRATION_NOT_ALLOWED",
      `branch "${parent.name}" has an expiration and cannot have child branches`,
    );
  }
  const point = resolvePointWithData(
    world,
    source.value,
    project.value,
    {
      prefix: "source_",
      timestamp: sourceTimestamp,
      lsn: sourceLsn,
      writtenAt: command.sourceWrittenAt,
    },
    now,
  );
  if (!point.ok) return point;
  return accept({
    project: project.value,
    branch: branch.value,
    source: source.value,
    timestamp: point.value,
  });
}

/**
 * A new branch with the previous content and parent. It has no compute: computes stay on the restored branch.
 */
function buildPreservedBranch(
  world: World,
  project: Project,
  branch: Branch,
  identity: { id: string; name: string },
  now: SimTime,
): Branch {
  const { parentId, parentTimestamp, parentLsn, initSource, restoredFrom } = branch;
  return {
    ...branchFrom(world, project, branch, identity, now),
    initSource,
    ...omitUndefined({ parentId, parentTimestamp, parentLsn, restoredFrom }),
  };
}

/** S: "all existing child branches will be moved to the newly created branch"; deleted ones, too. */
function preservedEvents(world: World, branch: Branch, preserved: Branch, at: SimTime): Event[] {
  const children = world.branches.by("parent", branch.id).toArray();
  return [
    { type: "BranchCreated", at, branch: preserved, dataFrom: { id: branch.id, at } },
    ...children.map(
      (child): Event => ({ type: "BranchMoved", at, branchId: child.id, parentId: preserved.id }),
    ),
  ];
}

/** A: active computes are suspended, the branch is created again, and the computes are started again. */
function restoreRequests(world: World, branch: Branch, preserved: Branch | undefined): OperationRequest[] {
  const branchRef = { branchId: branch.id };
  const active = computesOnBranch(world, branch.id).filter((compute) => compute.phase.state === "active");
  return [
    ...(preserved === undefined ? [] : [{ action: "create_branch", branchId: preserved.id } as const]),
    ...active.map(({ id }) => ({ action: "suspend_compute", ...branchRef, endpointId: id }) as const),
    { action: "create_branch", ...branchRef },
    ...active
      .filter(({ disabled }) => !disabled)
      .map(({ id }) => ({ action: "start_compute", ...branchRef, endpointId: id }) as const),
  ];
}
