import type { SimTime } from "../../kernel/time.ts";
import { releaseAt, releasedAt } from "../../platform/catalog/release.ts";
import { computeResources, maxConnections } from "../../platform/catalog/sizes.ts";
import { cacheAdvice, EMPTY_CACHE, hitRatio } from "../../platform/model/cache.ts";
import type { Compute } from "../../platform/model/compute.ts";
import { pendingStateOf } from "../../platform/model/operation.ts";
import { idleSince, suspendDelaySeconds, suspendDueAt } from "../../platform/rules/compute/autosuspend.ts";
import { countConnections, effectiveRange } from "../../platform/rules/compute/open-connections.ts";
import { profileOfWorld, type World } from "../../platform/world/world.ts";
import { formatInstant } from "../http/render-object.ts";

/** The status that the platform's console shows (`docs/evidence.md`). */
export function consoleStatus(compute: Compute): "Active" | "Idle" {
  return compute.phase.state === "active" ? "Active" : "Idle";
}

/** Statistics of a compute at `now`: sizes, connections, cache (R), autosuspend, release. */
export function computeStats(world: World, compute: Compute, now: SimTime) {
  const profile = profileOfWorld(world);
  const { phase } = compute;
  const active = phase.state === "active" ? phase : undefined;
  const size = computeResources(profile, active?.sizeCu ?? compute.range.minCu);
  return {
    endpoint_id: compute.id,
    project_id: compute.projectId,
    project_name: world.projects.get(compute.projectId)?.name,
    branch_id: compute.branchId,
    branch_name: world.branches.get(compute.branchId)?.name,
    status: consoleStatus(compute),
    current_state: phase.state,
    pending_state:
      pendingStateOf(world.operations.by("project", compute.projectId).values(), compute.id) ?? null,
    // An idle compute has no size; the fields below are for the size that it will start with.
    current_size_cu: active?.sizeCu ?? 0,
    vcpu: size.vcpu,
    ram_gb: size.ramGb,
    file_cache_size_gb: size.fileCacheGb,
    shared_buffers_mb: profile.sharedBuffersMb,
    max_connections: maxConnections(profile, effectiveRange(compute)),
    max_pooled_connections: profile.pooledConnections,
    connections: countConnections(world, compute.id, now),
    open_transactions: active?.openTransactions ?? 0,
    queries: active?.queries ?? 0,
    cache: cacheStats(compute),
    autosuspend: autosuspendStats(world, compute, now),
    release: releaseStats(compute, now),
  };
}

/** R: counted since the last start and lost when the compute stops. The ratio is null at 0/0. */
function cacheStats({ phase }: Compute) {
  const cache = phase.state === "active" ? phase.cache : EMPTY_CACHE;
  return {
    file_cache_hits: cache.hits,
    file_cache_misses: cache.misses,
    file_cache_used: cache.used,
    file_cache_writes: cache.writes,
    file_cache_hit_ratio: hitRatio(cache) ?? null,
    advice: cacheAdvice(cache) ?? null,
  };
}

function autosuspendStats(world: World, compute: Compute, now: SimTime) {
  const profile = profileOfWorld(world);
  const { phase } = compute;
  const dueAt = suspendDueAt(compute, profile);
  const since = phase.state === "active" ? idleSince(compute, phase) : undefined;
  return {
    delay_s: suspendDelaySeconds(profile, compute.suspendTimeoutSeconds) ?? null,
    idle_since: since === undefined || since > now ? null : formatInstant(since),
    suspend_at: dueAt === undefined ? null : formatInstant(dueAt),
    suspend_in_ms: dueAt === undefined ? null : dueAt - now,
  };
}

/** R: an always-on compute keeps its release until it is restarted manually. */
function releaseStats({ phase }: Compute, now: SimTime) {
  const newest = releaseAt(now);
  const running = phase.state === "active" ? phase.release : null;
  return {
    running: running === null ? null : String(running),
    newest: String(newest),
    newest_since: formatInstant(releasedAt(newest)),
    restart_needed: running !== null && running < newest,
  };
}
