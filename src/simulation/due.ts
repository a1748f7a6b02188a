import type { SimTime } from "../kernel/time.ts";
import type { EventTypeOf, RecordedEvent, WorldSettingType } from "../platform/model/events.ts";
import { apiKeyRemovalDueAt } from "../platform/rules/account/decide-api-key.ts";
import { expirationDueAt } from "../platform/rules/branch/branch-expiration.ts";
import { backupDueAt } from "../platform/rules/branch/decide-snapshot.ts";
import { branchRemovalDueAt } from "../platform/rules/branch/removal.ts";
import type { DueWork } from "../platform/rules/commands.ts";
import { rescaleDueAt } from "../platform/rules/compute/autoscaling/autoscaling.ts";
import { suspendDueAt } from "../platform/rules/compute/autosuspend.ts";
import { quotaDueAt } from "../platform/rules/usage/quota.ts";
import { profileOfWorld, REVOKED, type World } from "../platform/world/world.ts";
import type { TimerQueue } from "./timer-queue.ts";

/** When `work` is due in this world; `undefined` when it is not, or no longer, due. */
export function dueAt(world: World, work: DueWork): SimTime | undefined {
  switch (work.kind) {
    case "operation": {
      const state = world.operations.get(work.id)?.state;
      return state?.status === "running" ? state.dueAt : undefined;
    }
    case "activity":
      return world.scheduledActivities.get(work.id)?.at;
    case "quota":
      return quotaDueAt(world, work.id);
    case "backup":
      return backupDueAt(world, work.id);
    case "snapshotExpiration":
      return world.branchSnapshots.get(work.id)?.expiresAt;
    case "expiration":
      return expirationDueAt(world, work.id);
    case "branchRemoval":
      return branchRemovalDueAt(world, work.id);
    case "projectRemoval":
      return world.projects.get(work.id)?.recoverableUntil;
    case "apiKeyRemoval":
      return apiKeyRemovalDueAt(world, work.id);
    case "rescale":
    case "autosuspend": {
      const compute = world.computes.get(work.id);
      if (compute === undefined) return undefined;
      return work.kind === "rescale"
        ? rescaleDueAt(compute, profileOfWorld(world))
        : suspendDueAt(compute, profileOfWorld(world));
    }
    default:
      return work satisfies never;
  }
}

/** Schedules the work that an event makes due; call it after the event was applied. */
export function scheduleAfter(timers: TimerQueue, world: World, event: RecordedEvent): void {
  switch (event.type) {
    case "OperationScheduled":
      scheduleWork(timers, world, { kind: "operation", id: event.operation.id });
      return;
    case "OperationStarted":
    case "OperationRetried":
      scheduleWork(timers, world, { kind: "operation", id: event.operationId });
      return;
    case "ActivityScheduled":
      scheduleWork(timers, world, { kind: "activity", id: String(event.scheduled.number) });
      return;
    case "SpanBegan":
    case "SpanEnded":
      scheduleComputeWork(timers, world, event.endpointId);
      return;
    case "ActivityRecorded":
      scheduleComputeWork(timers, world, event.activity.endpointId);
      return;
    case "ComputeActivated":
    case "ComputeUpdated":
    case "ComputeResized":
    case "ComputeSuspendFailed":
      scheduleComputeWork(timers, world, event.endpointId);
      scheduleQuotaCheck(timers, world, world.computes.get(event.endpointId)?.projectId);
      return;
    case "ProjectUpdated":
      scheduleQuotaCheck(timers, world, event.projectId);
      return;
    case "BranchCreated":
      scheduleBranchWork(timers, world, event.branch.id);
      return;
    case "BranchExpirationSet":
    case "BackupScheduleSet":
    case "BranchDeleted":
    case "BranchRecovered":
      scheduleBranchWork(timers, world, event.branchId);
      return;
    case "SnapshotCreated":
      scheduleWork(timers, world, { kind: "snapshotExpiration", id: event.snapshot.id });
      return;
    case "ProjectDeleted":
      scheduleWork(timers, world, { kind: "projectRemoval", id: event.projectId });
      return;
    case "ProjectRecovered":
      for (const branch of world.branches.by("project", event.projectId).values())
        scheduleBranchWork(timers, world, branch.id);
      return;
    case "ApiKeyRevoked":
      scheduleWork(timers, world, { kind: "apiKeyRemoval", id: String(event.keyId) });
      return;
    case "ProjectRemoved":
      scheduleKeyRemovals(timers, world);
      return;
    case "WorldReset":
      timers.clear();
      scheduleKeyRemovals(timers, world);
      return;
    default:
      event.type satisfies MakesNothingDue;
  }
}

/** Events that make no new work due. */
type MakesNothingDue =
  | EventTypeOf<"account" | "record" | "role" | "database" | "fault">
  | WorldSettingType
  | "ApiKeyCreated"
  | "ApiKeyRemoved"
  | "ProjectCreated"
  | "ProjectTransferred"
  | "BranchBecameReady"
  | "BranchUpdated"
  | "BranchSetAsDefault"
  | "BranchMoved"
  | "BranchRestored"
  | "BranchRemoved"
  | "SnapshotRenamed"
  | "SnapshotDeleted"
  | "ComputeCreated"
  | "ComputeDeleted"
  | "ComputeSuspending"
  | "ComputeSuspended"
  | "ComputeStartFailed"
  | "OperationFinished"
  | "OperationFailed"
  | "OperationCancelled"
  | "ActivityDropped";

/** Schedules all due work of a world, for example after it was loaded from a file. */
export function rebuildTimers(timers: TimerQueue, world: World): void {
  timers.clear();
  // Nothing is due for the rows that are not in memory.
  for (const _ of scheduleAll(timers, world, (table) => table.loaded()));
}

/** Target of scheduled work: the queue that runs it, or a list of work that should have run. */
type Timers = Pick<TimerQueue, "schedule" | "isScheduledBy">;

/** Pauses after each few hundred rows. */
function* scheduleAll(timers: Timers, world: World, rowsOf: RowsOf): Generator<undefined> {
  const schedule = (work: DueWork) => scheduleWork(timers, world, work);
  yield* inSteps(rowsOf(world.operations), ({ id }) => schedule({ kind: "operation", id }));
  yield* inSteps(rowsOf(world.scheduledActivities), ({ number }) =>
    schedule({ kind: "activity", id: String(number) }),
  );
  yield* inSteps(rowsOf(world.branches), ({ id }) => scheduleBranchWork(timers, world, id));
  yield* inSteps(rowsOf(world.branchSnapshots), ({ id }) => schedule({ kind: "snapshotExpiration", id }));
  yield* inSteps(rowsOf(world.projects), ({ id }) => schedule({ kind: "projectRemoval", id }));
  yield* inSteps(rowsOf(world.projects), ({ id }) => scheduleQuotaCheck(timers, world, id));
  yield* inSteps(rowsOf(world.computes), ({ id }) => scheduleComputeWork(timers, world, id));
  scheduleKeyRemovals(timers, world);
}

type RowsOf = <T>(table: { values(): Iterable<T>; loaded(): Iterable<T> }) => Iterable<T>;

const ROWS_PER_STEP = 500;

function* inSteps<T>(rows: Iterable<T>, schedule: (row: T) => void): Generator<undefined> {
  let count = 0;
  for (const row of rows) {
    schedule(row);
    count += 1;
    if (count % ROWS_PER_STEP === 0) yield;
  }
}

/**
 * Work that was due before `now` and has not run, with pauses. Any is a bug in scheduling, except for revoked keys:
 * older releases did not remove them.
 */
export function* overdueWork(world: World, now: SimTime): Generator<DueWork | undefined> {
  const late: DueWork[] = [];
  const timers: Timers = {
    schedule(work, _order, at) {
      if (at < now && work.kind !== "apiKeyRemoval") late.push(work);
    },
    isScheduledBy: () => false,
  };
  yield* scheduleAll(timers, world, (table) => table.values());
  yield* late;
}

/**
 * Schedules one piece of work, if it is due at all. Work that a change made due in the past (a shortened
 * delay) is due now, because events are ordered by time.
 */
export function scheduleWork(timers: Timers, world: World, work: DueWork): void {
  const at = dueAt(world, work);
  if (at !== undefined) timers.schedule(work, orderOf(world, work), Math.max(at, world.at));
}

/** Runs after every activity. In most calls an earlier timer is already set, and there is nothing to do. */
function scheduleComputeWork(timers: Timers, world: World, id: string): void {
  const compute = world.computes.get(id);
  if (compute === undefined || compute.phase.state !== "active") return;
  const profile = profileOfWorld(world);
  const { readings, scaling } = compute.phase;
  const rescaleAt =
    readings.length === 0 && scaling === undefined ? undefined : rescaleDueAt(compute, profile);
  if (rescaleAt !== undefined)
    timers.schedule({ kind: "rescale", id }, compute.number, Math.max(rescaleAt, world.at));
  const suspendAt = suspendDueAt(compute, profile);
  if (suspendAt === undefined) return;
  const at = Math.max(suspendAt, world.at);
  if (!timers.isScheduledBy("autosuspend", id, at))
    timers.schedule({ kind: "autosuspend", id }, compute.number, at);
}

/**
 * For changes that make usage grow faster or a quota smaller. If the quota is reached later instead, the
 * timer reschedules itself.
 */
function scheduleQuotaCheck(timers: Timers, world: World, projectId: string | undefined): void {
  if (projectId !== undefined) scheduleWork(timers, world, { kind: "quota", id: projectId });
}

function scheduleBranchWork(timers: Timers, world: World, id: string): void {
  scheduleWork(timers, world, { kind: "expiration", id });
  scheduleWork(timers, world, { kind: "backup", id });
  scheduleWork(timers, world, { kind: "branchRemoval", id });
}

/**
 * Schedules the removal of all revoked keys, even if they were revoked without an event, with a project or by a reset.
 */
function scheduleKeyRemovals(timers: Timers, world: World): void {
  for (const { id } of world.apiKeys.by("revoked", REVOKED).values())
    scheduleWork(timers, world, { kind: "apiKeyRemoval", id: String(id) });
}

/** Ties at one instant are broken by the number of the object that the work concerns. */
function orderOf(world: World, work: DueWork): number {
  return work.kind === "activity" || work.kind === "apiKeyRemoval"
    ? Number(work.id)
    : (tableOf(world, work.kind).get(work.id)?.number ?? 0);
}

function tableOf(
  world: World,
  kind: Exclude<DueWork["kind"], "activity" | "apiKeyRemoval">,
): { get(id: string): { readonly number: number } | undefined } {
  switch (kind) {
    case "operation":
      return world.operations;
    case "rescale":
    case "autosuspend":
      return world.computes;
    case "expiration":
    case "backup":
    case "branchRemoval":
      return world.branches;
    case "snapshotExpiration":
      return world.branchSnapshots;
    case "quota":
    case "projectRemoval":
      return world.projects;
    default:
      return kind satisfies never;
  }
}
