import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import { monthStart, nextMonthStart } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import { type Account, planOf } from "../../platform/model/account.ts";
import type { Project } from "../../platform/model/project.ts";
import { storedBytes } from "../../platform/model/storage-use.ts";
import { effectiveLimits } from "../../platform/rules/account/account-limits.ts";
import { defaultSizeRange } from "../../platform/rules/compute/build-compute.ts";
import { proxyHost } from "../../platform/rules/compute/host-name.ts";
import { maintenanceSince } from "../../platform/rules/fault/decide-fault.ts";
import { effectiveSettings } from "../../platform/rules/project/project-settings.ts";
import { usageThisMonth } from "../../platform/rules/usage/consumption.ts";
import { usageAt } from "../../platform/rules/usage/meter.ts";
import { hasQuota } from "../../platform/rules/usage/quota.ts";
import { storedNow } from "../../platform/rules/usage/stored-data.ts";
import { profileOfWorld, type World } from "../../platform/world/world.ts";
import { CachedJson, type ListedRow } from "./cached-json.ts";
import { subscriptionTypeOf } from "./render-account.ts";
import {
  type AllowUndefined,
  CREATION_SOURCE,
  optionalTimestamp,
  usageUntil,
  wholeSeconds,
} from "./render-common.ts";
import { storedByteHours } from "./render-consumption.ts";
import { lastActive, lastActiveUntil } from "./render-endpoint.ts";

const LOGICAL_SIZE_LIMIT_MB = 204_800; // D
const MB = 1024 ** 2;

export function renderProject(world: World, project: Project, now: SimTime) {
  return renderWithMonth(world, project, monthBeside(world, project, now));
}

function renderWithMonth(world: World, project: Project, beside: MonthBeside) {
  return {
    ...projectFields(world, project, beside),
    data_storage_bytes_hour: beside.monthByteHours,
    data_transfer_bytes: beside.monthTransferredBytes,
    written_data_bytes: beside.monthWrittenBytes,
    // S: of the billing period, except the deprecated `cpu_used_sec`: CU × active seconds since the creation.
    compute_time_seconds: beside.monthCuSeconds,
    active_time_seconds: beside.monthActiveSeconds,
    cpu_used_sec: beside.cuSeconds,
    history_retention_seconds: project.historyRetentionSeconds,
    consumption_period_start: timestamp(beside.monthStart),
    consumption_period_end: timestamp(beside.nextMonthStart),
    quota_reset_at: hasQuota(project) ? timestamp(beside.nextMonthStart) : undefined,
  } satisfies AllowUndefined<public_.Project>;
}

/** D: only the answer to a request for one project has its owner, and `quota_reset_at` without a quota. */
export function renderProjectWithOwner(world: World, project: Project, now: SimTime) {
  return renderWithOwner(world, project, ownerBeside(world, project, now));
}

function renderWithOwner(world: World, project: Project, beside: OwnerBeside) {
  const { owner } = beside;
  return {
    ...renderWithMonth(world, project, beside),
    quota_reset_at: timestamp(beside.nextMonthStart),
    owner: owner === undefined ? undefined : renderOwner(world, owner),
  } satisfies AllowUndefined<public_.Project>;
}

const withOwner = new CachedJson(ownerBeside, renderWithOwner);

/** JSON of `renderProjectWithOwner`. */
export function projectWithOwner(world: World, project: Project, now: SimTime): ListedRow {
  return withOwner.listed(world, project, now);
}

export function renderProjectListItem(world: World, project: Project, now: SimTime) {
  return renderListItem(world, project, fieldsBeside(world, project, now));
}

const cached = new CachedJson(fieldsBeside, renderListItem);

/** JSON of `renderProjectListItem`. */
export function listedProject(world: World, project: Project, now: SimTime): ListedRow {
  return cached.listed(world, project, now);
}

function renderListItem(world: World, project: Project, beside: FieldsBeside) {
  return {
    ...projectFields(world, project, beside),
    active_time: beside.activeSeconds,
    cpu_used_sec: beside.cuSeconds,
    history_retention_seconds: project.historyRetentionSeconds,
    // D: in lists, also without a quota.
    quota_reset_at: timestamp(beside.nextMonthStart),
    deleted_at: optionalTimestamp(project.deletedAt),
    recoverable_until: optionalTimestamp(project.recoverableUntil),
    // R: answered, although the public document no longer has it.
    locked: false,
  } satisfies AllowUndefined<public_.ProjectListItem & { locked: boolean }>;
}

type FieldsBeside = ReturnType<typeof fieldsBeside>;

/** All that a list shows of a project and that is not in its row: it changes with other rows and with time. */
function fieldsBeside(world: World, project: Project, now: SimTime) {
  const computes = world.computes.by("project", project.id);
  const usage = usageAt(world, project.id, computes.values(), now);
  const stored = storedNow(world, world.branches.by("project", project.id).values(), now);
  // The timing of faults is not looked at.
  let until = world.faults.size > 0 ? now + 1 : Math.min(nextMonthStart(now), stored.until);
  until = Math.min(until, usageUntil(usage, computes.values(), now));
  let lastActiveAt: SimTime | undefined;
  for (const compute of computes.values()) {
    const at = lastActive(compute, now);
    if (at !== undefined && at > (lastActiveAt ?? 0)) lastActiveAt = at;
    until = Math.min(until, lastActiveUntil(compute, now));
  }
  return {
    settings: world.settings,
    organizationId: world.accounts.get(project.accountId)?.organizationId,
    activeSeconds: wholeSeconds(usage.activeMs),
    cuSeconds: wholeSeconds(usage.cuMs),
    storedBytes: storedBytes(stored.levels),
    maintenanceSince: maintenanceSince(world, project.id, now),
    lastActiveAt,
    nextMonthStart: nextMonthStart(now),
    until,
  };
}

type MonthBeside = ReturnType<typeof monthBeside>;

/** The same, and the usage of this month. */
function monthBeside(world: World, project: Project, now: SimTime) {
  const beside = fieldsBeside(world, project, now);
  const computes = world.computes.by("project", project.id);
  const branches = world.branches.by("project", project.id);
  const usage = usageThisMonth(world, project.id, computes.values(), now, branches.values());
  // When the next whole byte-hour is stored is not looked at.
  const until = beside.storedBytes > 0 ? now + 1 : usageUntil(usage, computes.values(), now);
  return {
    ...beside,
    monthByteHours: storedByteHours(usage),
    monthTransferredBytes: usage.data?.transferredBytes ?? 0,
    monthWrittenBytes: usage.data?.writtenBytes ?? 0,
    monthCuSeconds: wholeSeconds(usage.cuMs),
    monthActiveSeconds: wholeSeconds(usage.activeMs),
    monthStart: monthStart(now),
    until: Math.min(beside.until, until),
  };
}

type OwnerBeside = ReturnType<typeof ownerBeside>;

function ownerBeside(world: World, project: Project, now: SimTime) {
  return { ...monthBeside(world, project, now), owner: world.accounts.get(project.accountId) };
}

function projectFields(world: World, project: Project, beside: FieldsBeside) {
  const { defaultEndpointSettings: defaults } = project;
  const { minCu, maxCu } = defaultSizeRange(defaults);
  const { organizationId } = beside;
  return {
    id: project.id,
    platform_id: project.regionId.split("-")[0] ?? "aws",
    region_id: project.regionId,
    name: project.name,
    provisioner: project.provisioner,
    default_endpoint_settings: {
      pg_settings: defaults.pg_settings,
      pgbouncer_settings: defaults.pgbouncer_settings,
      autoscaling_limit_min_cu: minCu,
      autoscaling_limit_max_cu: maxCu,
      suspend_timeout_seconds: defaults.suspendTimeoutSeconds ?? 0,
    } as public_.DefaultEndpointSettings,
    settings: effectiveSettings(project, profileOfWorld(world)) as public_.ProjectSettingsData,
    pg_version: project.pgVersion as public_.PgVersion,
    proxy_host: proxyHost(world, project.regionId),
    branch_logical_size_limit: LOGICAL_SIZE_LIMIT_MB,
    branch_logical_size_limit_bytes: LOGICAL_SIZE_LIMIT_MB * MB,
    store_passwords: project.storePasswords,
    creation_source: CREATION_SOURCE,
    created_at: timestamp(project.createdAt),
    updated_at: timestamp(project.updatedAt),
    synthetic_storage_size: beside.storedBytes,
    // S: "when project update begins". A: during maintenance, when it began.
    maintenance_scheduled_for: optionalTimestamp(beside.maintenanceSince),
    compute_last_active_at: optionalTimestamp(beside.lastActiveAt),
    // D: the owner of a project is the organization that it belongs to.
    owner_id: organizationId ?? project.accountId,
    org_id: organizationId,
  };
}

function renderOwner(world: World, account: Account) {
  return {
    email: account.email,
    name: account.name,
    branches_limit: effectiveLimits(world, planOf(account)).branches,
    subscription_type: subscriptionTypeOf(world, account),
  } satisfies public_.ProjectOwnerData;
}
