import { nextMonthStart, utcDateOf } from "../../../kernel/calendar.ts";
import { SECOND, type SimTime } from "../../../kernel/time.ts";
import { type Refusal, refuse } from "../../catalog/refusal-codes.ts";
import type { Compute } from "../../model/compute.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { Project } from "../../model/project.ts";
import type { World } from "../../world/world.ts";
import { recordOperation } from "../operation/schedule-operations.ts";
import { usageThisMonth } from "./consumption.ts";

// S: "If a quota is exceeded, all active computes are automatically suspended and cannot be started via API
// calls or incoming connections"; 0 means no limit. A: exceeded from the first millisecond at which the usage of
// the billing period equals the quota. Quotas of bytes are stored and returned, but not enforced.

/** The quotas on the usage of computes, and the total that each one limits. */
const COMPUTE_QUOTAS = [
  { name: "active_time_seconds", of: "activeMs" },
  { name: "compute_time_seconds", of: "cuMs" },
] as const;

type ComputeQuota = {
  readonly name: (typeof COMPUTE_QUOTAS)[number]["name"];
  readonly of: "activeMs" | "cuMs";
  readonly maximumMs: number;
};

/** Whether a quota of any kind is set. If so, the project shows when the quota is reset. */
export function hasQuota({ settings }: Project): boolean {
  const { quota } = settings as { quota?: Readonly<Record<string, number>> };
  return quota !== undefined && Object.values(quota).some((value) => value > 0);
}

/** The name of the quota that the project has reached in the current billing period. */
export function reachedQuota(world: World, project: Project, now: SimTime): ComputeQuota["name"] | undefined {
  const quotas = computeQuotasOf(project);
  if (quotas.length === 0) return undefined;
  const used = usageThisMonth(world, project.id, world.computes.by("project", project.id).values(), now);
  return quotas.find(({ of, maximumMs }) => used[of] >= maximumMs)?.name;
}

/** Why no compute of a project may start before the next billing period; `undefined` if they may. */
export function refuseOverQuota(world: World, projectId: string, now: SimTime): Refusal | undefined {
  const project = world.projects.get(projectId);
  const reached = project === undefined ? undefined : reachedQuota(world, project, now);
  if (reached === undefined) return undefined;
  const { year, month } = utcDateOf(nextMonthStart(now));
  const until = `${year}-${String(month).padStart(2, "0")}-01T00:00:00Z`;
  return refuse(
    "QUOTA_EXCEEDED",
    `project "${projectId}" has reached its quota of ${reached}: its computes cannot start before ${until}, unless the quota is raised`,
  ).refusal;
}

/**
 * When the active computes will reach a quota if nothing else happens. Inclusive: they stop at exactly this
 * instant.
 */
export function quotaDueAt(world: World, projectId: string): SimTime | undefined {
  const project = world.projects.get(projectId);
  const quotas = project === undefined ? [] : computeQuotasOf(project);
  if (quotas.length === 0) return undefined;
  const computes = world.computes.by("project", projectId).toArray();
  if (!computes.some(isSuspendable)) return undefined;
  let earliest: SimTime | undefined;
  for (const quota of quotas) {
    const at = quotaReachedAt(world, projectId, computes, quota);
    if (at !== undefined && at < (earliest ?? Number.POSITIVE_INFINITY)) earliest = at;
  }
  return earliest;
}

function quotaReachedAt(
  world: World,
  projectId: string,
  computes: readonly Compute[],
  { of, maximumMs }: ComputeQuota,
): SimTime | undefined {
  let rate = 0;
  for (const { phase } of computes) {
    if (phase.state === "active") rate += of === "cuMs" ? phase.sizeCu : 1;
  }
  let from = world.at;
  let used = usageThisMonth(world, projectId, computes, from)[of];
  // A quota not reached in a month of 31 days is never reached, and one of any two consecutive months has 31.
  for (let months = 0; months < 3; months += 1) {
    const at = from + Math.max(0, Math.ceil((maximumMs - used) / rate));
    const end = nextMonthStart(from);
    if (at < end) return at;
    from = end;
    used = 0;
  }
  return undefined;
}

/**
 * A: when a quota is reached, active computes are suspended at once. A suspend already in progress continues.
 */
export function decideQuota(world: World, projectId: string, context: Context): Event[] {
  if (refuseOverQuota(world, projectId, context.now) === undefined) return [];
  const computes = world.computes.by("project", projectId).toArray().filter(isSuspendable);
  return computes.flatMap(({ id: endpointId, branchId }, index) => [
    recordOperation(
      world,
      projectId,
      { action: "suspend_compute", branchId, endpointId, cause: "quota" },
      context,
      index,
    ),
    { type: "ComputeSuspended", at: context.now, endpointId, cause: "quota" },
  ]);
}

export function isSuspendable({ phase }: Compute): boolean {
  return phase.state === "active" && !phase.suspending;
}

function computeQuotasOf({ settings }: Project): readonly ComputeQuota[] {
  const { quota } = settings as { quota?: { readonly [name in ComputeQuota["name"]]?: number } };
  if (quota === undefined) return NO_QUOTAS;
  return COMPUTE_QUOTAS.flatMap(({ name, of }) => {
    const seconds = quota[name] ?? 0;
    return seconds > 0 ? [{ name, of, maximumMs: seconds * SECOND }] : [];
  });
}

const NO_QUOTAS: readonly ComputeQuota[] = [];
