import type { SimTime } from "../../../kernel/time.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Branch } from "../../model/branch.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { BranchRef } from "../../model/object-refs.ts";
import type { Project } from "../../model/project.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findAccount, findProject, projectNotFound } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { checkBranchLimit, checkBranchName } from "../branch/decide-branch.ts";
import { removeBranch } from "../branch/removal.ts";
import { branchesWithComputes, refuseWhileLocked } from "../operation/locked-by-operations.ts";
import { unfinishedOperations } from "../operation/schedule-operations.ts";
import { checkProjectLimit } from "./decide-project.ts";

export type RecoveryCommand = RecoverBranch | RecoverProject;

export const recoveryDeciders = {
  RecoverBranch: decideRecoverBranch,
  RecoverProject: decideRecoverProject,
} satisfies Deciders<RecoveryCommand>;

/**
 * S: "within the 7-day deletion recovery period". Computes are recovered idle, with the same connection
 * strings.
 */
type RecoverBranch = BranchRef & {
  readonly type: "RecoverBranch";
  /** Not rejected because of operations in progress. */
  readonly queue?: true;
};
type RecoverProject = {
  readonly type: "RecoverProject";
  readonly accountId: string;
  readonly projectId: string;
};

function decideRecoverBranch(world: World, command: RecoverBranch, { now }: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const branch = world.branches.get(command.branchId);
  if (branch === undefined || branch.projectId !== project.value.id || !isRecoverable(branch, now)) {
    return refuse(
      "BRANCH_NOT_FOUND",
      `branch "${command.branchId}" is not a deleted branch that can be recovered`,
    );
  }
  const parent = branch.parentId === undefined ? undefined : world.branches.get(branch.parentId);
  if (parent?.deletedAt !== undefined) {
    return refuse(
      "BRANCH_NOT_RECOVERABLE",
      `branch "${branch.name}" is a child of "${parent.name}", which is deleted; recover the parent first`,
    );
  }
  if (parent?.expiresAt !== undefined) {
    return refuse(
      "BRANCH_NOT_RECOVERABLE",
      `branch "${parent.name}" has an expiration and cannot have child branches`,
    );
  }
  const nameCheck = checkBranchName(world, project.value.id, branch.name, undefined);
  if (!nameCheck.ok) return nameCheck;
  const account = findAccount(world, project.value.accountId);
  if (!account.ok) return account;
  const isRoot = branch.parentId === undefined;
  const limitCheck = checkBranchLimit(world, account.value, project.value.id, isRoot);
  if (!limitCheck.ok) return limitCheck;
  const locked =
    command.queue === true
      ? undefined
      : refuseWhileLocked(world, project.value.id, branchesWithComputes(world, [branch.id]));
  if (locked !== undefined) return { ok: false, refusal: locked };
  return accept([{ type: "BranchRecovered", at: now, branchId: branch.id }]);
}

/** C: no public client retries this call after 423, so the operations of the deletion do not prevent it. */
function decideRecoverProject(world: World, command: RecoverProject, { now }: Context): Result<Event[]> {
  const project = world.projects.get(command.projectId);
  // Another account's project is reported as missing.
  if (project === undefined || project.accountId !== command.accountId) {
    return projectNotFound(command.projectId);
  }
  if (!isRecoverable(project, now)) {
    return refuse(
      "PROJECT_NOT_FOUND",
      `project "${command.projectId}" is not a deleted project that can be recovered`,
    );
  }
  const account = findAccount(world, command.accountId);
  if (!account.ok) return account;
  const limitCheck = checkProjectLimit(world, account.value);
  if (!limitCheck.ok) return limitCheck;
  return accept([
    { type: "ProjectRecovered", at: now, projectId: project.id },
    ...finishCancelledBranches(world, project.id, now),
  ]);
}

/**
 * A: the deletion of the project cancelled the creation and the permanent deletion of these branches. The
 * recovery completes both.
 */
function finishCancelledBranches(world: World, projectId: string, at: SimTime): Event[] {
  const isPending = new Set(unfinishedOperations(world, projectId).map(({ branchId }) => branchId));
  const branches = world.branches
    .by("project", projectId)
    .toArray()
    .filter(({ id }) => !isPending.has(id));
  const isErased = ({ deletedAt, recoverableUntil }: Branch) =>
    deletedAt !== undefined && recoverableUntil === undefined;
  return branches.flatMap((branch): Event[] => {
    const parent = branch.parentId === undefined ? undefined : world.branches.get(branch.parentId);
    // Removed together with its parent.
    if (isErased(branch))
      return parent !== undefined && isErased(parent) ? [] : removeBranch(world, branch, at);
    return branch.state === "ready" ? [] : [{ type: "BranchBecameReady", at, branchId: branch.id }];
  });
}

/** Deleted and not yet removed. The end of the recovery period is exclusive. */
function isRecoverable(
  { recoverableUntil }: Pick<Branch | Project, "recoverableUntil">,
  now: SimTime,
): boolean {
  return recoverableUntil !== undefined && now < recoverableUntil;
}

/** The deleted branches of a project that can still be recovered, oldest first. */
export function recoverableBranchesOf(world: World, projectId: string, now: SimTime): Branch[] {
  return world.branches
    .by("project", projectId)
    .toArray()
    .filter((branch) => isRecoverable(branch, now));
}

export function* recoverableProjectsOf(world: World, accountId: string, now: SimTime): Generator<Project> {
  for (const project of world.projects.by("deleted", accountId).values()) {
    if (isRecoverable(project, now)) yield project;
  }
}
