import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Compute } from "../../platform/model/compute.ts";
import { renderSettings } from "../../platform/model/compute.ts";
import { pendingStateOf } from "../../platform/model/operation.ts";
import { computeHost, proxyHost } from "../../platform/rules/compute/host-name.ts";
import type { World } from "../../platform/world/world.ts";
import { CachedJson, type ListedRow } from "./cached-json.ts";
import { type AllowUndefined, CREATION_SOURCE, nextSecond, optionalTimestamp } from "./render-common.ts";

type EndpointState = public_.Endpoint["current_state"];

/**
 * R: `pending_state` is present in answers that change a compute and while a change is pending; never in
 * lists.
 */
function renderEndpoint(world: World, compute: Compute, now: SimTime, pendingState?: EndpointState) {
  return renderWith(world, compute, lastActive(compute, now), pendingState);
}

function renderWith(
  world: World,
  compute: Compute,
  lastActiveAt: SimTime | undefined,
  pendingState?: EndpointState,
) {
  return {
    host: computeHost(world, compute),
    id: compute.id,
    project_id: compute.projectId,
    branch_id: compute.branchId,
    autoscaling_limit_min_cu: compute.range.minCu,
    autoscaling_limit_max_cu: compute.range.maxCu,
    region_id: compute.regionId,
    type: compute.type as public_.EndpointType,
    current_state: compute.phase.state as EndpointState,
    pending_state: pendingState,
    settings: compute.settings as public_.EndpointSettingsData,
    ...renderSettings(compute),
    pooler_mode: "transaction" as public_.EndpointPoolerMode,
    last_active: optionalTimestamp(lastActiveAt),
    creation_source: CREATION_SOURCE,
    created_at: timestamp(compute.createdAt),
    updated_at: timestamp(compute.updatedAt),
    started_at: optionalTimestamp(compute.startedAt),
    suspended_at: optionalTimestamp(compute.suspendedAt),
    proxy_host: proxyHost(world, compute.regionId),
    suspend_timeout_seconds: compute.suspendTimeoutSeconds,
    compute_release_version: compute.phase.state === "active" ? String(compute.phase.release) : undefined,
  } satisfies AllowUndefined<public_.Endpoint>;
}

/** `now` while a transaction is open. */
export function lastActive(compute: Compute, now: SimTime): SimTime | undefined {
  if (compute.lastActiveAt === undefined) return undefined;
  const inTransaction = compute.phase.state === "active" && compute.phase.openTransactions > 0;
  return inTransaction ? now : Math.min(now, compute.lastActiveAt);
}

/** When time alone changes the second of `lastActive` (exclusive). */
export function lastActiveUntil(compute: Compute, now: SimTime): SimTime {
  const at = lastActive(compute, now);
  return at === undefined || (at === compute.lastActiveAt && at < now)
    ? Number.POSITIVE_INFINITY
    : nextSecond(now);
}

const cached = new CachedJson(
  (world: World, compute: Compute, now: SimTime) => ({
    settings: world.settings,
    lastActiveAt: lastActive(compute, now),
    until: lastActiveUntil(compute, now),
  }),
  (world, compute, { lastActiveAt }) => renderWith(world, compute, lastActiveAt),
);

/** The compute as lists show it. */
export function renderListedEndpoint(world: World, compute: Compute, now: SimTime) {
  return renderEndpoint(world, compute, now);
}

/** JSON of `renderListedEndpoint`. */
export function listedEndpoint(world: World, compute: Compute, now: SimTime): ListedRow {
  return cached.listed(world, compute, now);
}

/**
 * For answers to calls that change a compute. `pending_state` is the current state if nothing is pending (A).
 */
export function renderChangedEndpoint(world: World, compute: Compute, now: SimTime) {
  return renderEndpoint(
    world,
    compute,
    now,
    pendingStateFor(world, compute) ?? (compute.phase.state as EndpointState),
  );
}

const NEVER_ACTIVE = Date.parse("2000-01-01T00:00:00Z");

/**
 * For answers that read computes one by one, and in worlds with recorded answers for lists, too. D: there,
 * `last_active` of a compute that was never active is in the year 2000 (`test/recorded-answers/`).
 */
export function renderReadEndpoint(world: World, compute: Compute, now: SimTime) {
  const endpoint = renderPendingEndpoint(world, compute, now);
  if (world.settings.answers !== "recorded") return endpoint;
  return { ...endpoint, last_active: endpoint.last_active ?? timestamp(NEVER_ACTIVE) };
}

const read = new CachedJson(
  (world: World, compute: Compute, now: SimTime) => ({
    settings: world.settings,
    lastActiveAt: lastActive(compute, now),
    pendingState: pendingStateFor(world, compute),
    until: lastActiveUntil(compute, now),
  }),
  (world, compute, { lastActiveAt, pendingState }) => renderWith(world, compute, lastActiveAt, pendingState),
);

/** JSON of `renderPendingEndpoint`. */
export function readEndpoint(world: World, compute: Compute, now: SimTime): ListedRow {
  return read.listed(world, compute, now);
}

/** `pending_state` is absent if nothing is pending. */
export function renderPendingEndpoint(world: World, compute: Compute, now: SimTime) {
  return renderEndpoint(world, compute, now, pendingStateFor(world, compute));
}

function pendingStateFor(world: World, compute: Compute): EndpointState | undefined {
  return pendingStateOf(world.operations.by("project", compute.projectId).values(), compute.id) as
    | EndpointState
    | undefined;
}
