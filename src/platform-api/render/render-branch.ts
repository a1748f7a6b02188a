import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import { nextMonthStart } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Branch } from "../../platform/model/branch.ts";
import type { Database, Role } from "../../platform/model/branch-content.ts";
import { type BranchSnapshot, chargedBytes } from "../../platform/model/branch-snapshot.ts";
import { lsnAt } from "../../platform/rules/branch/point-in-time.ts";
import { findServiceRecord } from "../../platform/rules/branch/services/decide-service-record.ts";
import { usageThisMonth } from "../../platform/rules/usage/consumption.ts";
import { usageAt } from "../../platform/rules/usage/meter.ts";
import { computesOnBranch } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import { CachedJson, type ListedRow } from "./cached-json.ts";
import {
  type AllowUndefined,
  CREATION_SOURCE,
  optionalTimestamp,
  usageUntil,
  wholeSeconds,
} from "./render-common.ts";

export function renderBranch(world: World, branch: Branch, now: SimTime) {
  return renderWith(branch, fieldsBeside(world, branch, now));
}

const cached = new CachedJson(fieldsBeside, (_world, branch: Branch, beside) => renderWith(branch, beside));

/** JSON of `renderBranch`. */
export function listedBranch(world: World, branch: Branch, now: SimTime): ListedRow {
  return cached.listed(world, branch, now);
}

/** All that a branch shows and that is not in its row: it changes with other rows and with time. */
function fieldsBeside(world: World, branch: Branch, now: SimTime) {
  const computes = computesOnBranch(world, branch.id);
  const usage = usageAt(world, branch.id, computes, now);
  const { cuMs: monthCuMs } = usageThisMonth(world, branch.id, computes, now);
  return {
    // S: the state of a branch that was created as archived. A: it stays so, because nothing is archived.
    settled: findServiceRecord(world, branch.id, "archived", "") === undefined ? "ready" : "archived",
    parentLsn: branch.parentLsn ?? lsnAtTime(world, branch.projectId, branch.parentTimestamp),
    monthCuSeconds: wholeSeconds(monthCuMs),
    cuSeconds: wholeSeconds(usage.cuMs),
    activeSeconds: wholeSeconds(usage.activeMs),
    writtenBytes: usage.data?.writtenBytes ?? 0,
    transferredBytes: usage.data?.transferredBytes ?? 0,
    creatorName: creatorName(world, branch),
    until: Math.min(
      nextMonthStart(now),
      usageUntil(usage, computes, now),
      usageUntil({ ...usage, cuMs: monthCuMs }, computes, now),
    ),
  };
}

function renderWith(branch: Branch, beside: ReturnType<typeof fieldsBeside>) {
  const { settled } = beside;
  return {
    id: branch.id,
    project_id: branch.projectId,
    parent_id: branch.parentId,
    parent_lsn: beside.parentLsn,
    parent_timestamp: optionalTimestamp(branch.parentTimestamp),
    name: branch.name,
    current_state: branch.state === "ready" ? settled : branch.state,
    pending_state: branch.state === "ready" ? undefined : settled,
    state_changed_at: timestamp(branch.stateChangedAt),
    logical_size: branch.logicalSizeBytes ?? 0,
    creation_source: CREATION_SOURCE,
    primary: branch.default,
    default: branch.default,
    protected: branch.protected,
    // S: "reset at the beginning of each billing period".
    cpu_used_sec: beside.monthCuSeconds,
    compute_time_seconds: beside.cuSeconds,
    active_time_seconds: beside.activeSeconds,
    written_data_bytes: beside.writtenBytes,
    data_transfer_bytes: beside.transferredBytes,
    created_at: timestamp(branch.createdAt),
    updated_at: timestamp(branch.updatedAt),
    created_by: { name: beside.creatorName, image: "" } satisfies public_.Branch["created_by"],
    init_source: branch.initSource,
    expires_at: optionalTimestamp(branch.expiresAt),
    ttl_interval_seconds: branch.ttlSeconds,
    last_reset_at: optionalTimestamp(branch.lastResetAt),
    restore_status: branch.restoreStatus,
    restored_from: branch.restoredFrom,
    restored_as: branch.restoredAs,
    recovery: renderRecovery(branch),
  } satisfies AllowUndefined<public_.Branch>;
}

/**
 * A: the account that the project belongs to. The platform resolves a user, an organization, an integration or
 * an API key (S). Accounts here have no image.
 */
function creatorName(world: World, branch: Branch): string {
  const project = world.projects.get(branch.projectId);
  const account = project && world.accounts.get(project.accountId);
  return account?.name ?? "";
}

/** S: present only while a deleted branch can be recovered. */
function renderRecovery({ deletedAt, recoverableUntil, expiresAt }: Branch) {
  if (deletedAt === undefined || recoverableUntil === undefined) return undefined;
  const expired = expiresAt !== undefined && expiresAt <= deletedAt;
  return {
    deleted_at: timestamp(deletedAt),
    recoverable_until: timestamp(recoverableUntil),
    deletion_method: (expired ? "ttl" : "user") as public_.BranchRecoveryInfo["deletion_method"],
  } satisfies public_.BranchRecoveryInfo;
}

export function renderSnapshot(world: World, snapshot: BranchSnapshot) {
  return {
    id: snapshot.id,
    name: snapshot.name,
    lsn: snapshot.lsn ?? lsnAtTime(world, snapshot.projectId, snapshot.timestamp),
    timestamp: timestamp(snapshot.timestamp),
    source_branch_id: snapshot.sourceBranchId,
    created_at: timestamp(snapshot.createdAt),
    expires_at: optionalTimestamp(snapshot.expiresAt),
    manual: snapshot.manual,
    ...snapshotSize(snapshot),
  } satisfies AllowUndefined<public_.Snapshot>;
}

/** S: a size of 0 means that the snapshot is not charged, and one that is charged for changes has no full size. */
function snapshotSize({ size }: BranchSnapshot) {
  const bytes = chargedBytes(size);
  return size?.changedBytes === undefined || bytes === undefined
    ? { full_size: bytes ?? 0 }
    : { diff_size: bytes };
}

/** The log sequence number of a branch point or snapshot that was requested without one. */
function lsnAtTime(world: World, projectId: string, at: SimTime | undefined): string | undefined {
  const project = world.projects.get(projectId);
  return project === undefined || at === undefined ? undefined : lsnAt(project, at);
}

export function renderAnnotation(branch: Branch) {
  return {
    object: { type: "console/branch", id: branch.id },
    value: { ...branch.annotations },
    created_at: timestamp(branch.createdAt),
    updated_at: timestamp(branch.updatedAt),
  } satisfies public_.AnnotationData;
}

export function renderRole(branch: Branch, role: Role, password?: string) {
  return {
    branch_id: branch.id,
    name: role.name,
    password,
    protected: false,
    authentication_method: role.noLogin === true ? "no_login" : "password",
    created_at: timestamp(role.createdAt),
    updated_at: timestamp(role.updatedAt),
  } satisfies AllowUndefined<public_.Role>;
}

export function renderDatabase(branch: Branch, database: Database) {
  return {
    id: database.id,
    branch_id: branch.id,
    name: database.name,
    owner_name: database.ownerName,
    created_at: timestamp(database.createdAt),
    updated_at: timestamp(database.updatedAt),
  } satisfies public_.Database;
}
