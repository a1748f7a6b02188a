import { describeLimitSource, effectiveLimits, findAccount, planOf } from "../account/account.ts";
import type { Context } from "../core/context.ts";
import { drawId } from "../core/ids.ts";
import { SECOND, type SimTime } from "../core/time.ts";
import { nextNumber, type World } from "../core/world.ts";
import type { Event } from "../events.ts";
import { findBranch, findProject } from "../lookup.ts";
import { refuseConflicts, unfinishedOperations } from "../operation/operation.ts";
import type { Project } from "../project/project.ts";
import { accept, type Result, refuse } from "../refusals.ts";
import { type BackupScheduleItem, itemsDue } from "./backup-schedule.ts";
import type { Branch } from "./branch.ts";
import { type BranchContent, type BranchRef, contentAt, findBranchFor } from "./branch-content.ts";
import { resolvePointInTime } from "./point-in-time.ts";

/** S: a branch as it was at one instant, kept apart from it. */
export type BranchSnapshot = {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
  readonly sourceBranchId: string;
  readonly name: string;
  /** The instant that it shows. */
  readonly timestamp: SimTime;
  readonly lsn?: string;
  /** Whether somebody asked for it; a schedule made the others. */
  readonly manual: boolean;
  readonly expiresAt?: SimTime;
  readonly content: BranchContent;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

export type SnapshotRef = {
  readonly accountId: string;
  readonly projectId: string;
  readonly snapshotId: string;
};

export type CreateSnapshot = BranchRef & {
  readonly type: "CreateSnapshot";
  readonly name?: string | undefined;
  readonly timestamp?: SimTime | undefined;
  readonly lsn?: string | undefined;
  readonly expiresAt?: SimTime | undefined;
};
export type UpdateSnapshot = SnapshotRef & { readonly type: "UpdateSnapshot"; readonly name: string };
export type DeleteSnapshot = SnapshotRef & { readonly type: "DeleteSnapshot" };
export type SetBackupSchedule = BranchRef & {
  readonly type: "SetBackupSchedule";
  readonly items: readonly BackupScheduleItem[];
};

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

export function decideCreateSnapshot(
  world: World,
  command: CreateSnapshot,
  context: Context,
): Result<Event[]> {
  const { now } = context;
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const branch = findBranch(world, project.value, command.branchId);
  if (!branch.ok) return branch;
  // There is nothing yet that could be kept.
  if (isBeingCreated(world, branch.value)) return { ok: false, refusal: refuseConflicts() };
  const { timestamp, lsn, expiresAt } = command;
  const point = resolvePointInTime(branch.value, project.value, { prefix: "", timestamp, lsn }, now);
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
  return accept([{ type: "SnapshotCreated", at: now, snapshot }]);
}

function isBeingCreated(world: World, { id, projectId }: Branch): boolean {
  return unfinishedOperations(world, projectId).some(
    ({ action, branchId }) => branchId === id && (action === "create_timeline" || action === "create_branch"),
  );
}

function checkSnapshotLimit(world: World, project: Project): Result<true> {
  const account = findAccount(world, project.accountId);
  if (!account.ok) return account;
  const plan = planOf(account.value);
  const { snapshots: limit } = effectiveLimits(world, plan);
  if (snapshotsOf(world, project.id).filter(({ manual }) => manual).length < limit) return accept(true);
  return refuse(
    "SNAPSHOTS_LIMIT_EXCEEDED",
    `snapshots limit exceeded: ${describeLimitSource(world, plan, "snapshots")} allows ${limit} manual snapshots in a project`,
  );
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
  return {
    id,
    number,
    projectId: branch.projectId,
    sourceBranchId: branch.id,
    name,
    timestamp,
    ...(lsn === undefined ? {} : { lsn }),
    manual,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    content: contentAt(branch, timestamp),
    createdAt: now,
    updatedAt: now,
  };
}

export function decideUpdateSnapshot(
  world: World,
  command: UpdateSnapshot,
  { now }: Context,
): Result<Event[]> {
  const snapshot = findSnapshot(world, command);
  if (!snapshot.ok) return snapshot;
  return accept([{ type: "SnapshotRenamed", at: now, snapshotId: snapshot.value.id, name: command.name }]);
}

export function decideDeleteSnapshot(
  world: World,
  command: DeleteSnapshot,
  { now }: Context,
): Result<Event[]> {
  const snapshot = findSnapshot(world, command);
  if (!snapshot.ok) return snapshot;
  return accept([{ type: "SnapshotDeleted", at: now, snapshotId: snapshot.value.id }]);
}

export function decideExpireSnapshot(world: World, snapshotId: string, { now }: Context): Event[] {
  return world.branchSnapshots.get(snapshotId) === undefined
    ? []
    : [{ type: "SnapshotDeleted", at: now, snapshotId }];
}

export function decideSetBackupSchedule(
  world: World,
  command: SetBackupSchedule,
  { now }: Context,
): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  return accept([{ type: "BackupScheduleSet", at: now, branchId: branch.value.id, items: command.items }]);
}

/** Where several items of a schedule are due at one instant, one snapshot is taken and kept as long as the longest of them says (A). */
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

type SnapshotEvent = Extract<
  Event,
  { type: "SnapshotCreated" | "SnapshotRenamed" | "SnapshotDeleted" | "BackupScheduleSet" }
>;

export function evolveSnapshot(world: World, event: SnapshotEvent): void {
  const { at } = event;
  switch (event.type) {
    case "SnapshotCreated": {
      const { snapshot } = event;
      world.numbers.snapshot = snapshot.number;
      world.branchSnapshots.set(snapshot);
      const branch = snapshot.manual ? undefined : world.branches.get(snapshot.sourceBranchId);
      if (branch?.backupSchedule !== undefined) {
        world.branches.set({ ...branch, backupSchedule: { ...branch.backupSchedule, after: at } });
      }
      return;
    }
    case "SnapshotRenamed": {
      const snapshot = world.branchSnapshots.get(event.snapshotId);
      if (snapshot === undefined)
        throw new Error(`SnapshotRenamed: there is no snapshot ${event.snapshotId}`);
      world.branchSnapshots.set({ ...snapshot, name: event.name, updatedAt: at });
      return;
    }
    case "SnapshotDeleted":
      world.branchSnapshots.delete(event.snapshotId);
      return;
    case "BackupScheduleSet": {
      const branch = world.branches.get(event.branchId);
      if (branch === undefined) throw new Error(`BackupScheduleSet: there is no branch ${event.branchId}`);
      world.branches.set({ ...branch, backupSchedule: { items: event.items, after: at } });
      return;
    }
    default:
      event satisfies never;
  }
}
