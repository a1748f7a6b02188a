import type { PlantedBug } from "./planted-bug.ts";

const REFERENCE = "test/property/reference-compute.test.ts";
const DECIDE_COMPUTE = "src/platform/rules/compute/decide-compute.ts";
const AUTOSUSPEND = "src/platform/rules/compute/autosuspend.ts";
const CONNECTIONS = "src/platform/rules/compute/open-connections.ts";
const EVOLVE_COMPUTE = "src/platform/rules/compute/evolve-compute.ts";

type RuleBug = Pick<PlantedBug, "id" | "file" | "search" | "replacement" | "breaks">;

const BUGS: readonly RuleBug[] = [
  {
    id: "second-primary-beside-a-disabled-one",
    file: "src/platform/world/lookup.ts",
    search: 'if (compute.type === "read_write") return compute;',
    replacement: 'if (compute.type === "read_write" && !compute.disabled) return compute;',
    breaks: "A branch has two primary computes if one of them is disabled",
  },
  {
    id: "second-primary-by-a-move",
    file: DECIDE_COMPUTE,
    search: "checkNoOtherPrimary(world, branchId, compute.type, compute.id)",
    replacement: "checkNoOtherPrimary(world, compute.branchId, compute.type, compute.id)",
    breaks: "A primary compute can be moved to a branch that has one",
  },
  {
    id: "replica-like-a-primary",
    file: DECIDE_COMPUTE,
    search: 'const primary = type === "read_write" ? primaryComputeOf(world, branchId) : undefined;',
    replacement: "const primary = primaryComputeOf(world, branchId);",
    breaks: "A branch with a primary compute can have no read replica",
  },
  {
    id: "replica-on-the-free-plan",
    file: "src/platform/rules/compute/build-compute.ts",
    search: 'if (input.computeType === "read_only" && !plan.readReplicas)',
    replacement: 'if (input.computeType === "read_only" && plan.readReplicas === undefined)',
    breaks: "The free plan has read replicas",
  },
  {
    id: "delay-on-the-free-plan",
    file: AUTOSUSPEND,
    search: "if (!plan.autosuspendSetting && !isDefault)",
    replacement: "if (!plan.autosuspendSetting && !isDefault && !isSpecial)",
    breaks: "On the free plan, computes can be kept from suspending",
  },
  {
    id: "default-delay",
    file: AUTOSUSPEND,
    search: "? profile.suspendTimeout.defaultS",
    replacement: "? profile.suspendTimeout.defaultS + 60",
    breaks: "The default delay is not 5 minutes",
  },
  {
    id: "longest-delay-rejected",
    file: AUTOSUSPEND,
    search: "suspendTimeoutSeconds > maximumS",
    replacement: "suspendTimeoutSeconds >= maximumS",
    breaks: "A delay of exactly 7 days is rejected",
  },
  {
    id: "suspended-in-a-transaction",
    file: AUTOSUSPEND,
    search: "if (phase.openTransactions > 0 || phase.spanSince !== undefined) return undefined;",
    replacement: "if (phase.spanSince !== undefined) return undefined;",
    breaks: "A compute suspends while a transaction is open",
  },
  {
    id: "idle-before-the-start",
    file: AUTOSUSPEND,
    search: "return Math.max(phase.startedAt, compute.lastActiveAt ?? phase.startedAt);",
    replacement: "return compute.lastActiveAt ?? phase.startedAt;",
    breaks: "Idle time counts from before the last start, so a compute that was started suspends at once",
  },
  {
    id: "late-by-a-millisecond",
    file: AUTOSUSPEND,
    search: "since + delayS * SECOND;",
    replacement: "since + delayS * SECOND + 1;",
    breaks: "Computes suspend after their delay instead of with its end",
  },
  {
    id: "restart-for-a-delay",
    file: DECIDE_COMPUTE,
    search: 'key !== "suspendTimeoutSeconds" &&',
    replacement: "",
    breaks: "A new delay restarts the compute and drops connections",
  },
  {
    id: "no-restart-for-a-size",
    file: DECIDE_COMPUTE,
    search: 'key !== "suspendTimeoutSeconds" &&',
    replacement: 'key !== "suspendTimeoutSeconds" && key !== "range" &&',
    breaks: "A new size takes no effect until the next start",
  },
  {
    id: "connections-survive-a-restart",
    file: CONNECTIONS,
    search: "if (!waiting) world.connections.delete(computeId, id);",
    replacement: 'if (!waiting && id.startsWith("#")) world.connections.delete(computeId, id);',
    breaks: "Connections are open after a restart",
  },
  {
    id: "pooled-clients-count",
    file: CONNECTIONS,
    search: "if ((pooled ? open.pooled : open.direct) < limit) return ACCEPTED;",
    replacement: "if (open.pooled + open.direct < limit) return ACCEPTED;",
    breaks: "Clients of the pooler take the places of direct connections",
  },
  {
    id: "connections-of-the-largest-size",
    file: "src/platform/catalog/sizes.ts",
    search: "return profile.maxConnections(range.minCu, range.maxCu);",
    replacement: "return profile.maxConnections(range.maxCu, range.maxCu);",
    breaks: "`max_connections` follows the largest size instead of the smallest",
  },
  {
    id: "query-that-wakes-is-short",
    file: EVOLVE_COMPUTE,
    search: "waiting === undefined ? compute.lastActiveAt : at + waiting.longestMs;",
    replacement: "waiting === undefined ? compute.lastActiveAt : at;",
    breaks: "A compute suspends while the query that woke it runs",
  },
  {
    id: "query-that-ends-early",
    file: "src/platform/rules/compute/evolve-activity.ts",
    search: "lastActiveAt: busyUntil(world, compute.id, at),",
    replacement: "lastActiveAt: compute.lastActiveAt,",
    breaks: "A query whose connection was closed keeps the compute active",
  },
  {
    id: "connection-wakes-a-disabled-compute",
    file: "src/platform/rules/compute/decide-activity.ts",
    search: "if (compute.disabled) return refuseDisabled(compute);",
    replacement: 'if (compute.disabled && activity.kind !== "connect") return refuseDisabled(compute);',
    breaks: "Connecting starts a disabled compute",
  },
  {
    id: "cache-larger-than-memory",
    file: "src/platform/model/cache.ts",
    search: "used: Math.min(capacity, cache.used + blocks.writes),",
    replacement: "used: Math.max(0, Math.min(capacity * 2, cache.used + blocks.writes)),",
    breaks: "The local file cache takes more than 80 % of the memory",
  },
  {
    id: "revoked-key-stays-valid",
    file: "src/platform-api/http/authenticate.ts",
    search: "return apiKey?.revokedAt === undefined ? apiKey : undefined;",
    replacement: "return apiKey;",
    breaks: "A revoked key is valid until it is removed",
  },
];

/** Mistakes in the rules of computes and keys, which properties must find. */
export const RULE_BUGS: readonly PlantedBug[] = BUGS.map((bug) => ({
  ...bug,
  area: "rules",
  test: REFERENCE,
}));
