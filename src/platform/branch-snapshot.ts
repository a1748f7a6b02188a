import { findAccount, limitsOf, planOf, whoLimits } from "./account.ts";
import { type BackupScheduleItem, itemsDue } from "./backup-schedule.ts";
import { type Branch, branchFrom, checkBranchName, checkRoom, decideBranchId } from "./branch.ts";
import { type BranchContent, contentAt, findBranchFor, type OnBranch } from "./branch-content.ts";
import { checkLasting } from "./branch-expiration.ts";
import { findPoint } from "./branch-point.ts";
import { updateRequests } from "./compute.ts";
import type { Context } from "./context.ts";
import type { Event } from "./events.ts";
import { drawId } from "./ids.ts";
import { branchesOf, computesOnBranch, findBranch, findProject } from "./lookup.ts";
import { type OperationRequest, refuseConflicts, refuseWhileBusy, scheduleOperations, unfinishedOperations } from "./operation.ts";
import type { Project } from "./project.ts";
import { accept, type Result, refuse } from "./refusals.ts";
import { SECOND, type SimTime } from "./time.ts";
import { nextNumber, type World } from "./world.ts";

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

type OnSnapshot = { readonly accountId: string; readonly projectId: string; readonly snapshotId: string };

export type CreateSnapshot = OnBranch & {
  readonly type: "CreateSnapshot";
  readonly name?: string | undefined;
  readonly timestamp?: SimTime | undefined;
  readonly lsn?: string | undefined;
  readonly expiresAt?: SimTime | undefined;
};
export type UpdateSnapshot = OnSnapshot & { readonly type: "UpdateSnapshot"; readonly name: string };
export type DeleteSnapshot = OnSnapshot & { readonly type: "DeleteSnapshot" };
export type RestoreSnapshot = OnSnapshot & {
  readonly type: "RestoreSnapshot";
  readonly name?: string | undefined;
  /** The branch that the restored one is to replace; the snapshot's own where none is named. */
  readonly targetBranchId?: string | undefined;
  readonly finalize: boolean;
};
/** S: a restored branch takes the place of the one that it is to replace: its computes, its name, its being the default. */
export type FinalizeRestore = OnBranch & { readonly type: "FinalizeRestore"; readonly replacedName?: string | undefined };
export type SetBackupSchedule = OnBranch & { readonly type: "SetBackupSchedule"; readonly items: readonly BackupScheduleItem[] };

export function findSnapshot(world: World, { accountId, projectId, snapshotId }: OnSnapshot): Result<BranchSnapshot> {
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

export function decideCreateSnapshot(world: World, command: CreateSnapshot, context: Context): Result<Event[]> {
  const { now } = context;
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const branch = findBranch(world, project.value, command.branchId);
  if (!branch.ok) return branch;
  // There is nothing yet that could be kept.
  if (isBeingMade(world, branch.value)) return { ok: false, refusal: refuseConflicts() };
  const { timestamp, lsn, expiresAt } = command;
  const point = findPoint(branch.value, project.value, { prefix: "", timestamp, lsn }, now);
  if (!point.ok) return point;
  if (expiresAt !== undefined && expiresAt <= now) return refuse("SNAPSHOT_EXPIRATION_NOT_ALLOWED", "expires_at must lie in the future");
  const room = checkSnapshotRoom(world, project.value);
  if (!room.ok) return room;
  const snapshot = makeSnapshot(world, branch.value, { ...command, timestamp: point.value, manual: true }, context);
  return accept([{ type: "SnapshotCreated", at: now, snapshot }]);
}

function isBeingMade(world: World, { id, projectId }: Branch): boolean {
  return unfinishedOperations(world, projectId).some(
    ({ action, branchId }) => branchId === id && (action === "create_timeline" || action === "create_branch"),
  );
}

function checkSnapshotRoom(world: World, project: Project): Result<true> {
  const account = findAccount(world, project.accountId);
  if (!account.ok) return account;
  const plan = planOf(account.value);
  const { snapshots: limit } = limitsOf(world, plan);
  if (snapshotsOf(world, project.id).filter(({ manual }) => manual).length < limit) return accept(true);
  return refuse(
    "SNAPSHOTS_LIMIT_EXCEEDED",
    `snapshots limit exceeded: ${whoLimits(world, plan, "snapshots")} allows ${limit} manual snapshots in a project`,
  );
}

function makeSnapshot(
  world: World,
  branch: Branch,
  asked: Pick<BranchSnapshot, "timestamp" | "manual"> & Pick<CreateSnapshot, "name" | "lsn" | "expiresAt">,
  { now, chance }: Context,
): BranchSnapshot {
  const number = nextNumber(world, "snapshot");
  const id = drawId(chance, "snapshot", number, (taken) => world.branchSnapshots.get(taken) !== undefined);
  const { name = id, lsn, expiresAt, timestamp, manual } = asked;
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

export function decideUpdateSnapshot(world: World, command: UpdateSnapshot, { now }: Context): Result<Event[]> {
  const snapshot = findSnapshot(world, command);
  if (!snapshot.ok) return snapshot;
  return accept([{ type: "SnapshotRenamed", at: now, snapshotId: snapshot.value.id, name: command.name }]);
}

export function decideDeleteSnapshot(world: World, command: DeleteSnapshot, { now }: Context): Result<Event[]> {
  const snapshot = findSnapshot(world, command);
  if (!snapshot.ok) return snapshot;
  return accept([{ type: "SnapshotDeleted", at: now, snapshotId: snapshot.value.id }]);
}

export function decideExpireSnapshot(world: World, snapshotId: string, { now }: Context): Event[] {
  return world.branchSnapshots.get(snapshotId) === undefined ? [] : [{ type: "SnapshotDeleted", at: now, snapshotId }];
}

export function decideSetBackupSchedule(world: World, command: SetBackupSchedule, { now }: Context): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  return accept([{ type: "BackupScheduleSet", at: now, branchId: branch.value.id, items: command.items }]);
}

/** Where several items of a schedule are due at one instant, one snapshot is taken and kept as long as the longest of them says (A). */
export function decideScheduledSnapshot(world: World, branchId: string, context: Context): Event[] {
  const branch = world.branches.get(branchId);
  if (branch?.backupSchedule === undefined) return [];
  const { now } = context;
  const retentions = itemsDue(branch.backupSchedule, now).map(({ retention_seconds = Number.POSITIVE_INFINITY }) => retention_seconds);
  const longest = Math.max(...retentions);
  const expiresAt = Number.isFinite(longest) ? now + longest * SECOND : undefined;
  return [
    { type: "SnapshotCreated", at: now, snapshot: makeSnapshot(world, branch, { timestamp: now, manual: false, expiresAt }, context) },
  ];
}

export function decideRestoreSnapshot(world: World, command: RestoreSnapshot, context: Context): Result<Event[]> {
  const { now, chance } = context;
  const found = findSnapshot(world, command);
  if (!found.ok) return found;
  const snapshot = found.value;
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const account = findAccount(world, project.value.accountId);
  if (!account.ok) return account;
  const targetId = command.targetBranchId ?? snapshot.sourceBranchId;
  const target = findBranch(world, project.value, targetId);
  // The source may be gone by now: a branch is restored all the same, but it can take nobody's place.
  if (!target.ok && (command.finalize || command.targetBranchId !== undefined)) return target;
  const room = checkRoom(world, account.value, project.value.id);
  if (!room.ok) return room;
  const id = decideBranchId(world, undefined, chance);
  if (!id.ok) return id;
  const name = command.name ?? id.value;
  const named = checkBranchName(world, project.value.id, name, undefined);
  if (!named.ok) return named;
  const busy = refuseWhileBusy(world, project.value.id);
  if (busy !== undefined) return { ok: false, refusal: busy };
  const branch: Branch = {
    ...branchFrom(world, project.value, snapshot.content, { id: id.value, name }, now),
    restoredFrom: snapshot.id,
    ...(target.ok ? { restoredAs: target.value.id } : {}),
    restoreStatus: "restored",
  };
  const kept = command.finalize && target.ok ? refuseProtected(target.value) : undefined;
  if (kept !== undefined) return kept;
  const finalized = command.finalize && target.ok ? replace(world, target.value, branch, undefined, now) : NOTHING;
  return accept([
    { type: "BranchCreated", at: now, branch },
    ...finalized.events,
    ...scheduleOperations(world, project.value.id, [{ action: "create_branch", branchId: branch.id }, ...finalized.requests], context),
  ]);
}

export function decideFinalizeRestore(world: World, command: FinalizeRestore, context: Context): Result<Event[]> {
  const found = findBranchFor(world, command);
  if (!found.ok) return found;
  const branch = found.value;
  if (branch.restoreStatus !== "restored" || branch.restoredAs === undefined) {
    return refuse("RESTORE_NOT_ALLOWED", `branch "${branch.name}" was not restored from a snapshot, or its restore is finalized already`);
  }
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const target = findBranch(world, project.value, branch.restoredAs);
  if (!target.ok) return target;
  const kept = refuseProtected(target.value);
  if (kept !== undefined) return kept;
  const lasting = target.value.default ? checkLasting(branch) : accept(true);
  if (!lasting.ok) return lasting;
  if (command.replacedName !== undefined) {
    // Its own name goes to the branch that takes its place.
    const named = checkBranchName(world, branch.projectId, command.replacedName, undefined);
    if (!named.ok) return named;
  }
  if (computesOnBranch(world, branch.id).some(({ type }) => type === "read_write")) {
    const moving = computesOnBranch(world, target.value.id).some(({ type }) => type === "read_write");
    if (moving) return refuse("READ_WRITE_ENDPOINT_EXISTS", "read_write endpoint already exists");
  }
  const busy = refuseWhileBusy(world, branch.projectId);
  if (busy !== undefined) return { ok: false, refusal: busy };
  const { events, requests } = replace(world, target.value, branch, command.replacedName, context.now);
  return accept([...events, ...scheduleOperations(world, branch.projectId, requests, context)]);
}

/** D: a protected branch is not reset, nor are its computes taken from it; so it is not replaced either (A). */
function refuseProtected({ name, protected: isProtected }: Branch) {
  return isProtected ? refuse("BRANCH_IS_PROTECTED", `branch "${name}" is protected and cannot be replaced`) : undefined;
}

type Replacement = { readonly events: readonly Event[]; readonly requests: readonly OperationRequest[] };
const NOTHING: Replacement = { events: [], requests: [] };

function replace(world: World, target: Branch, restored: Branch, replacedName: string | undefined, at: SimTime): Replacement {
  const computes = computesOnBranch(world, target.id);
  const changes = { branchId: restored.id };
  return {
    events: [
      { type: "BranchUpdated", at, branchId: target.id, changes: { name: replacedName ?? oldName(world, target, restored) } },
      { type: "BranchUpdated", at, branchId: restored.id, changes: { name: target.name, restoreStatus: "finalized" } },
      ...(target.default ? [{ type: "BranchSetAsDefault", at, projectId: target.projectId, branchId: restored.id } as const] : []),
      ...computes.map(({ id }): Event => ({ type: "ComputeUpdated", at, endpointId: id, changes })),
    ],
    requests: computes.flatMap((compute) =>
      updateRequests(compute, changes).map((request) => ({ ...request, ...changes, endpointId: compute.id })),
    ),
  };
}

/** S: "renaming the original branch so it no longer uses the original name"; to what, nobody says (A). */
function oldName(world: World, { projectId, name }: Branch, restored: Branch): string {
  const taken = new Set([...branchesOf(world, projectId).map((branch) => branch.name), restored.name]);
  for (let count = 1; ; count += 1) {
    const old = count === 1 ? `${name}_old` : `${name}_old_${count}`;
    if (!taken.has(old)) return old;
  }
}

type SnapshotEvent = Extract<Event, { type: "SnapshotCreated" | "SnapshotRenamed" | "SnapshotDeleted" | "BackupScheduleSet" }>;

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
      if (snapshot === undefined) throw new Error(`SnapshotRenamed: there is no snapshot ${event.snapshotId}`);
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
