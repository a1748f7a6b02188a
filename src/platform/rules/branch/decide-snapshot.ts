import { drawId } from "../../../kernel/ids.ts";
import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { SECOND, type SimTime } from "../../../kernel/time.ts";
import { ACCEPTED, accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { planOf } from "../../model/account.ts";
import { itemsDue, nextDueAfter } from "../../model/backup-schedule.ts";
import type { Branch } from "../../model/branch.ts";
import type {
  BranchSnapshot,
  CreateSnapshot,
  DeleteSnapshot,
  SetBackupSchedule,
  SnapshotCommand,
  UpdateSnapshot,
} from "../../model/branch-snapshot.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { SnapshotRef } from "../../model/object-refs.ts";
import type { Project } from "../../model/project.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findAccount, findBranch, findBranchFor, findProject } from "../../world/lookup.ts";
import { nextNumber, type World } from "../../world/world.ts";
import { describeLimitSource, effectiveLimits } from "../account/account-limits.ts";
import { unfinishedOperations } from "../operation/schedule-operations.ts";
import { snapshotSizeOf } from "../usage/meter-snapshots.ts";
import { contentAt } from "./content-history.ts";
import { resolvePointWithData, writtenPosition } from "./point-in-time.ts";

export const snapshotDeciders = {
  CreateSnapshot: decideCreateSnapshot,
  UpdateSnapshot: decideUpdateSnapshot,
  DeleteSnapshot: decideDeleteSnapshot,
  SetBackupSchedule: decideSetBackupSchedule,
} satisfies Deciders<SnapshotCommand>;

function decideCreateSnapshot(world: World, command: CreateSnapshot, context: Context): Result<Event[]> {
  const { now } = context;
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const branch = findBranch(world, project.value, command.branchId);
  if (!branch.ok) return branch;
  // A branch that is being created has no content yet. C: the message; A: that this call answers with it.
  if (isBeingCreated(world, branch.value)) return refuse("BRANCH_NOT_READY", "branch not ready yet");
  const { timestamp, lsn, writtenAt, expiresAt } = command;
  const requested = { prefix: "", timestamp, lsn, writtenAt };
  const point = resolvePointWithData(world, branch.value, project.value, requested, now);
  if (!point.ok) return point;
  if (expiresAt !== undefined && expiresAt <= now)
    return refuse("SNAPSHOT_EXPIRATION_NOT_ALLOWED", "expires_at must lie in the future");
  const limitCheck = checkSnapshotLimit(world, project.value);
  if (!limitCheck.ok) return limitCheck;
  const snapshot = buildSnapshot(
    world,
    branch.value,
    { ...command, timestamp: point.value, manual: true },
    context,
  );
  const dataFrom = { id: branch.value.id, at: point.value, ...writtenPosition(requested) };
  return accept([
    { type: "SnapshotCreated", at: now, snapshot, ...(writtenAt === point.value ? { dataFrom } : {}) },
  ]);
}

export function findSnapshot(
  world: World,
  { accountId, projectId, snapshotId }: SnapshotRef,
): Result<BranchSnapshot> {
  const project = findProject(world, accountId, projectId);
  if (!project.ok) return project;
  const snapshot = world.branchSnapshots.get(snapshotId);
  if (snapshot === undefined || snapshot.projectId !== projectId) {
    return refuse("SNAPSHOT_NOT_FOUND", `snapshot "${snapshotId}" not found`);
  }
  return accept(snapshot);
}

/** The snapshots of a project, oldest first. */
export function snapshotsOf(world: World, projectId: string): BranchSnapshot[] {
  return world.branchSnapshots.by("project", projectId).toArray();
}

function isBeingCreated(world: World, { id, projectId }: Branch): boolean {
  return unfinishedOperations(world, projectId).some(
    ({ action, branchId }) => branchId === id && (action === "create_timeline" || action === "create_branch"),
  );
}

function checkSnapshotLimit(world: World, project: Project): Result<undefined> {
  const account = findAccount(world, project.accountId);
  if (!account.ok) return account;
  const plan = planOf(account.value);
  const { snapshots: limit } = effectiveLimits(world, plan);
  if (snapshotsOf(world, project.id).filter(({ manual }) => manual).length < limit) return ACCEPTED;
  return refuse("SNAPSHOTS_LIMIT_EXCEEDED", "snapshots limit exceeded", {
    hint: `${describeLimitSource(world, plan, "snapshots")} allows ${limit} manual snapshots in a project`,
  });
}

function buildSnapshot(
  world: World,
  branch: Branch,
  input: Pick<BranchSnapshot, "timestamp" | "manual"> & Pick<CreateSnapshot, "name" | "lsn" | "expiresAt">,
  { now, random }: Context,
): BranchSnapshot {
  const number = nextNumber(world, "snapshot");
  const id = drawId(
    random,
    "snapshot",
    number,
    (candidate) => world.branchSnapshots.get(candidate) !== undefined,
  );
  const { name = id, lsn, expiresAt, timestamp, manual } = input;
  return omitUndefined({
    id,
    number,
    projectId: branch.projectId,
    sourceBranchId: branch.id,
    name,
    timestamp,
    lsn,
    manual,
    expiresAt,
    size: snapshotSizeOf(world, branch, manual),
    content: contentAt(branch, timestamp),
    createdAt: now,
    updatedAt: now,
  });
}

function decideUpdateSnapshot(world: World, command: UpdateSnapshot, { now }: Context): Result<Event[]> {
  const snapshot = findSnapshot(world, command);
  if (!snapshot.ok) return snapshot;
  return accept([{ type: "SnapshotRenamed", at: now, snapshotId: snapshot.value.id, name: command.name }]);
}

function decideDeleteSnapshot(world: World, command: DeleteSnapshot, { now }: Context): Result<Event[]> {
  const snapshot = findSnapshot(world, command);
  if (!snapshot.ok) return snapshot;
  return accept([{ type: "SnapshotDeleted", at: now, snapshotId: snapshot.value.id }]);
}

export function decideExpireSnapshot(world: World, snapshotId: string, { now }: Context): Event[] {
  return world.branchSnapshots.get(snapshotId) === undefined
    ? []
    : [{ type: "SnapshotDeleted", at: now, snapshotId }];
}

function decideSetBackupSchedule(
  world: World,
  command: SetBackupSchedule,
  { now }: Context,
): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  return accept([{ type: "BackupScheduleSet", at: now, branchId: branch.value.id, items: command.items }]);
}

/**
 * A: if several items are due at one instant, one snapshot is taken, with the longest of their retentions.
 */
export function decideScheduledSnapshot(world: World, branchId: string, context: Context): Event[] {
  const branch = world.branches.get(branchId);
  if (branch?.backupSchedule === undefined) return [];
  const { now } = context;
  const retentions = itemsDue(branch.backupSchedule, now).map(
    ({ retention_seconds = Number.POSITIVE_INFINITY }) => retention_seconds,
  );
  const longest = Math.max(...retentions);
  const expiresAt = Number.isFinite(longest) ? now + longest * SECOND : undefined;
  return [
    {
      type: "SnapshotCreated",
      at: now,
      snapshot: buildSnapshot(world, branch, { timestamp: now, manual: false, expiresAt }, context),
    },
  ];
}

export function backupDueAt(world: World, branchId: string): SimTime | undefined {
  const branch = world.branches.get(branchId);
  const schedule = branch?.backupSchedule;
  if (branch === undefined || schedule === undefined || !isLive(world, branch)) return undefined;
  const due = schedule.items.map((item) => nextDueAfter(item, schedule.after));
  return due.length === 0 ? undefined : Math.min(...due);
}

function isLive(world: World, branch: Branch): boolean {
  return branch.deletedAt === undefined && world.projects.get(branch.projectId)?.deletedAt === undefined;
}
