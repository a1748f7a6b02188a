import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import { type Account, planOf } from "../../platform/account/account.ts";
import { effectiveLimits } from "../../platform/account/account-limits.ts";
import type { ApiKey } from "../../platform/account/api-key.ts";
import type { Branch } from "../../platform/branch/branch.ts";
import type { Region } from "../../platform/catalog/regions.ts";
import type { Compute } from "../../platform/compute/compute.ts";
import { monthStart, nextMonthStart } from "../../platform/core/calendar.ts";
import { computeHost, poolerHost, proxyHost } from "../../platform/core/hosts.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { maintenanceSince } from "../../platform/fault/decide-fault.ts";
import { type Operation, pendingStateOf } from "../../platform/operation/operation.ts";
import type { Project } from "../../platform/project/project.ts";
import { hasQuota } from "../../platform/project/quota.ts";
import { usageThisMonth } from "../../platform/usage/consumption.ts";
import { usageAt } from "../../platform/usage/meter.ts";
import { type AllowUndefined, CREATION_SOURCE, optionalTimestamp, wholeSeconds } from "./render-common.ts";

// Objects of the world as the public document describes them. `satisfies` makes the compiler ask for every required field.

const OPERATION_ERROR = "the operation failed and is not tried again"; // A
const LOGICAL_SIZE_LIMIT_MB = 204_800; // D
const MB = 1024 ** 2;

type EndpointState = public_.Endpoint["current_state"];

/** R: `pending_state` is there in answers that change a compute, and until it has settled; never in lists. */
function renderEndpoint(world: World, compute: Compute, now: SimTime, pendingState?: EndpointState) {
  return {
    host: computeHost(world, compute),
    id: compute.id,
    name: compute.name,
    project_id: compute.projectId,
    branch_id: compute.branchId,
    autoscaling_limit_min_cu: compute.range.minCu,
    autoscaling_limit_max_cu: compute.range.maxCu,
    region_id: compute.regionId,
    type: compute.type as public_.EndpointType,
    current_state: compute.phase.state as EndpointState,
    pending_state: pendingState,
    settings: compute.settings as public_.EndpointSettingsData,
    pooler_enabled: compute.poolerEnabled,
    pooler_mode: "transaction" as public_.EndpointPoolerMode,
    disabled: compute.disabled,
    passwordless_access: compute.passwordlessAccess,
    last_active: optionalTimestamp(lastActive(compute, now)),
    creation_source: CREATION_SOURCE,
    created_at: timestamp(compute.createdAt),
    updated_at: timestamp(compute.updatedAt),
    started_at: optionalTimestamp(compute.startedAt),
    suspended_at: optionalTimestamp(compute.suspendedAt),
    proxy_host: proxyHost(world, compute.regionId),
    suspend_timeout_seconds: compute.suspendTimeoutSeconds,
    provisioner: compute.provisioner,
    compute_release_version: compute.phase.state === "active" ? String(compute.phase.release) : undefined,
  } satisfies AllowUndefined<public_.Endpoint>;
}

/** While something runs, a compute was last active just now. */
function lastActive(compute: Compute, now: SimTime): SimTime | undefined {
  if (compute.lastActiveAt === undefined) return undefined;
  const inTransaction = compute.phase.state === "active" && compute.phase.openTransactions > 0;
  return inTransaction ? now : Math.min(now, compute.lastActiveAt);
}

/** Rendered computes by the object they came from: rows are replaced and never edited, so what was rendered once stays true. */
export class EndpointJsonCache {
  readonly #json = new WeakMap<Compute, string>();
  /** Whole lists, by their first compute. */
  readonly #lists = new WeakMap<Compute, { readonly computes: readonly Compute[]; readonly text: string }>();

  /** JSON text of the compute as lists show it. */
  json(world: World, compute: Compute, now: SimTime): string {
    const text = this.#json.get(compute);
    if (text !== undefined) return text;
    const rendered = JSON.stringify(renderEndpoint(world, compute, now));
    // A running query moves `last_active` with the clock: nothing to keep until it has ended.
    const isStable = lastActive(compute, now) === compute.lastActiveAt;
    if (isStable && !(compute.phase.state === "active" && compute.phase.openTransactions > 0))
      this.#json.set(compute, rendered);
    return rendered;
  }

  listJson(world: World, computes: readonly Compute[], now: SimTime): string {
    const [first] = computes;
    const cached = first && this.#lists.get(first);
    if (
      cached?.computes.length === computes.length &&
      cached.computes.every((compute, index) => compute === computes[index])
    )
      return cached.text;
    const text = `{"endpoints":[${computes.map((compute) => this.json(world, compute, now)).join(",")}]}`;
    if (first !== undefined && computes.every((compute) => this.#json.has(compute)))
      this.#lists.set(first, { computes, text });
    return text;
  }
}

/** A compute in an answer to a call that changes it: where nothing is pending, that equals the current state (A). */
export function renderChangedEndpoint(world: World, compute: Compute, now: SimTime) {
  return renderEndpoint(
    world,
    compute,
    now,
    pendingStateFor(world, compute) ?? (compute.phase.state as EndpointState),
  );
}

export function renderPendingEndpoint(world: World, compute: Compute, now: SimTime) {
  return renderEndpoint(world, compute, now, pendingStateFor(world, compute));
}

function pendingStateFor(world: World, compute: Compute): EndpointState | undefined {
  return pendingStateOf(world.operations.by("project", compute.projectId).values(), compute.id) as
    | EndpointState
    | undefined;
}

export function renderOperation(operation: Operation, now: SimTime) {
  const { state, failures } = operation;
  return {
    id: operation.id,
    project_id: operation.projectId,
    branch_id: operation.branchId,
    endpoint_id: operation.endpointId,
    action: operation.action as public_.OperationAction,
    status: state.status as public_.OperationStatus,
    error: state.status === "failed" ? OPERATION_ERROR : undefined,
    failures_count: failures?.count ?? 0,
    retry_at: optionalTimestamp(failures?.retriedAt),
    created_at: timestamp(operation.createdAt),
    updated_at: timestamp(operation.updatedAt),
    total_duration_ms: (operationEnd(state) ?? now) - operation.createdAt,
  } satisfies AllowUndefined<public_.Operation>;
}

function operationEnd(state: Operation["state"]): SimTime | undefined {
  switch (state.status) {
    case "finished":
      return state.finishedAt;
    case "failed":
      return state.failedAt;
    case "cancelled":
      return state.cancelledAt;
    default:
      return undefined;
  }
}

/** The operations that a call scheduled, as they stood when it returned. */
export function renderScheduledOperations(events: readonly RecordedEvent[], now: SimTime) {
  return events.flatMap((event) =>
    event.type === "OperationScheduled" ? [renderOperation(event.operation, now)] : [],
  );
}

export function renderProject(world: World, project: Project, now: SimTime) {
  const usage = usageAt(world, project.id, world.computes.by("project", project.id).values(), now);
  const account = world.accounts.get(project.accountId);
  const monthUsage = usageThisMonth(
    world,
    project.id,
    world.computes.by("project", project.id).values(),
    now,
  );
  return {
    ...projectFields(world, project, now),
    data_storage_bytes_hour: 0,
    data_transfer_bytes: 0,
    written_data_bytes: 0,
    // S: of the billing period; the deprecated one is Σ CU × active seconds ever since (PLATFORM).
    compute_time_seconds: wholeSeconds(monthUsage.cuMs),
    active_time_seconds: wholeSeconds(monthUsage.activeMs),
    cpu_used_sec: wholeSeconds(usage.cuMs),
    history_retention_seconds: project.historyRetentionSeconds,
    consumption_period_start: timestamp(monthStart(now)),
    consumption_period_end: timestamp(nextMonthStart(now)),
    owner: account === undefined ? undefined : renderOwner(world, account),
  } satisfies AllowUndefined<public_.Project>;
}

export function renderProjectListItem(world: World, project: Project, now: SimTime) {
  const usage = usageAt(world, project.id, world.computes.by("project", project.id).values(), now);
  return {
    ...projectFields(world, project, now),
    active_time: wholeSeconds(usage.activeMs),
    cpu_used_sec: wholeSeconds(usage.cuMs),
    history_retention_seconds: project.historyRetentionSeconds,
    deleted_at: optionalTimestamp(project.deletedAt),
    recoverable_until: optionalTimestamp(project.recoverableUntil),
    // R: answered, although the public document no longer has it.
    locked: false,
  } satisfies AllowUndefined<public_.ProjectListItem & { locked: boolean }>;
}

function projectFields(world: World, project: Project, now: SimTime) {
  const { defaultEndpointSettings: defaults } = project;
  let lastActiveAt: SimTime | undefined;
  for (const compute of world.computes.by("project", project.id).values()) {
    const at = lastActive(compute, now);
    if (at !== undefined && at > (lastActiveAt ?? 0)) lastActiveAt = at;
  }
  return {
    id: project.id,
    platform_id: project.regionId.split("-")[0] ?? "aws",
    region_id: project.regionId,
    name: project.name,
    provisioner: project.provisioner,
    default_endpoint_settings: {
      pg_settings: defaults.pg_settings,
      pgbouncer_settings: defaults.pgbouncer_settings,
      autoscaling_limit_min_cu: defaults.minCu,
      autoscaling_limit_max_cu: defaults.maxCu,
      suspend_timeout_seconds: defaults.suspendTimeoutSeconds ?? 0,
    } as public_.DefaultEndpointSettings,
    settings: project.settings as public_.ProjectSettingsData,
    pg_version: project.pgVersion as public_.PgVersion,
    proxy_host: proxyHost(world, project.regionId),
    branch_logical_size_limit: LOGICAL_SIZE_LIMIT_MB,
    branch_logical_size_limit_bytes: LOGICAL_SIZE_LIMIT_MB * MB,
    store_passwords: project.storePasswords,
    creation_source: CREATION_SOURCE,
    created_at: timestamp(project.createdAt),
    updated_at: timestamp(project.updatedAt),
    synthetic_storage_size: 0,
    // S: "when project update begins"; A: while it is in maintenance, when that began.
    maintenance_scheduled_for: optionalTimestamp(maintenanceSince(world, project.id, now)),
    quota_reset_at: hasQuota(project) ? timestamp(nextMonthStart(now)) : undefined,
    owner_id: project.accountId,
    compute_last_active_at: optionalTimestamp(lastActiveAt),
    org_id: world.accounts.get(project.accountId)?.organizationId,
  };
}

function renderOwner(world: World, account: Account) {
  return {
    email: account.email,
    name: account.name,
    branches_limit: effectiveLimits(world, planOf(account)).branches,
    subscription_type: planOf(account).subscriptionType as public_.BillingSubscriptionType,
  } satisfies public_.ProjectOwnerData;
}

export function connectionUri(
  world: World,
  compute: Compute,
  role: string,
  password: string,
  database: string,
  pooled: boolean,
): string {
  const host = pooled ? poolerHost(world, compute) : computeHost(world, compute);
  return `postgresql://${encodeURIComponent(role)}:${encodeURIComponent(password)}@${host}/${encodeURIComponent(database)}?sslmode=require`;
}

/** One for each database whose owner's password is known, through this compute. */
export function renderConnectionUris(
  world: World,
  branch: Branch,
  compute: Compute,
  passwordOf: (secretId: string) => string | undefined,
) {
  return branch.databases.flatMap((database) => {
    const secretId = branch.roles.find((role) => role.name === database.ownerName)?.secretId;
    const password = secretId === undefined ? undefined : passwordOf(secretId);
    if (password === undefined) return [];
    return {
      connection_uri: connectionUri(world, compute, database.ownerName, password, database.name, false),
      connection_parameters: {
        database: database.name,
        password,
        role: database.ownerName,
        host: computeHost(world, compute),
        pooler_host: poolerHost(world, compute),
      },
    } satisfies public_.ConnectionDetails;
  });
}

export function renderApiKey(world: World, apiKey: ApiKey) {
  const use = world.apiKeyUses.get(String(apiKey.id));
  return {
    id: apiKey.id,
    name: apiKey.name,
    created_at: timestamp(apiKey.createdAt),
    last_used_at: use === undefined ? null : timestamp(use.lastUsedAt),
    last_used_from_addr: use?.lastUsedFromAddr ?? "",
  };
}

export function renderRegion(region: Region, isDefault: boolean) {
  return {
    region_id: region.id,
    name: region.name,
    default: isDefault,
    geo_lat: region.latitude,
    geo_long: region.longitude,
  } satisfies public_.RegionResponse;
}

export function renderOrganization(account: Account) {
  return {
    id: account.organizationId,
    name: account.name,
    handle: account.organizationId.replace(/^org-/, ""),
    plan: planOf(account).subscriptionType,
    created_at: timestamp(account.createdAt),
    managed_by: "console",
    updated_at: timestamp(account.createdAt),
  } satisfies AllowUndefined<public_.Organization>;
}
