import { drawId } from "../../../kernel/ids.ts";
import { checkPgSettings } from "../../catalog/pg-settings.ts";
import { type Plan, refuseByPlan } from "../../catalog/plan.ts";
import { checkPreloadLibraries } from "../../catalog/preload-libraries.ts";
import { ACCEPTED, accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { resolveSizeRange, type SizeRange } from "../../catalog/sizes.ts";
import { DEFAULT_SUSPEND_TIMEOUT } from "../../catalog/suspend-timeout.ts";
import type { Compute, ComputeOptions, ComputeType } from "../../model/compute.ts";
import { newSettings } from "../../model/compute.ts";
import type { Context } from "../../model/context.ts";
import type { OperationRequest } from "../../model/operation.ts";
import type { DefaultEndpointSettings, Project } from "../../model/project.ts";
import { computesOf, idCodeOf } from "../../world/lookup.ts";
import { nextNumber, type World } from "../../world/world.ts";
import { describeLimitSource, effectiveLimits } from "../account/account-limits.ts";
import { reachedQuota } from "../usage/quota.ts";
import { checkSuspendTimeout } from "./autosuspend.ts";

/** Checks that `added` more computes fit within the project's limit. */
export function checkComputeLimit(
  world: World,
  project: Project,
  plan: Plan,
  added: number,
): Result<undefined> {
  const { endpoints: limit } = effectiveLimits(world, plan);
  if (computesOf(world, project.id).length + added <= limit) return ACCEPTED;
  return refuse("ENDPOINTS_LIMIT_EXCEEDED", "endpoints limit exceeded", {
    hint: `${describeLimitSource(world, plan, "endpoints")} allows ${limit} computes in a project`,
  });
}

/**
 * A new compute, checked against plan and profile. `ahead`: computes that the same decision creates before
 * it.
 */
export function buildCompute(
  world: World,
  project: Project,
  plan: Plan,
  input: {
    readonly id?: string | undefined;
    readonly branchId: string;
    readonly computeType: ComputeType;
    readonly options: ComputeOptions;
  },
  { now, random, profile }: Context,
  ahead = 0,
): Result<Compute> {
  const { options } = input;
  const defaults = project.defaultEndpointSettings;
  if (input.computeType === "read_only" && !plan.readReplicas) return refuseByPlan(plan, "a read replica");
  const range = resolveSizeRange(plan, profile, options, defaultSizeRange(defaults));
  if (!range.ok) return range;
  const delay = checkSuspendTimeout(
    plan,
    profile,
    options.suspendTimeoutSeconds ?? defaults.suspendTimeoutSeconds ?? DEFAULT_SUSPEND_TIMEOUT,
  );
  if (!delay.ok) return delay;
  const libraries = checkPreloadLibraries(project, options.settings);
  if (!libraries.ok) return libraries;
  const pgSettings = checkPgSettings(project, "settings.pg_settings", options.settings?.pg_settings);
  if (!pgSettings.ok) return pgSettings;
  const isTaken = (id: string) => world.computes.get(id) !== undefined;
  if (input.id !== undefined && isTaken(input.id))
    return refuse("ID_EXISTS", `an endpoint with id "${input.id}" exists already`);
  const own = newSettings(options, { provisioner: project.provisioner });
  const number = nextNumber(world, "endpoint", ahead);
  return accept({
    id: input.id ?? drawId(random, "endpoint", number, isTaken, idCodeOf(world, project.regionId)),
    number,
    projectId: project.id,
    branchId: input.branchId,
    regionId: project.regionId,
    type: input.computeType,
    range: range.value,
    suspendTimeoutSeconds: delay.value,
    settings: { pg_settings: defaults.pg_settings ?? {}, ...options.settings },
    ...own,
    // A: a new compute is not started if it is disabled or if its project has reached a quota.
    phase: { state: own.disabled || reachedQuota(world, project, now) !== undefined ? "idle" : "init" },
    createdAt: now,
    updatedAt: now,
  });
}

/** The operations that start new computes. */
export function startRequests(computes: readonly Compute[]): OperationRequest[] {
  return computes
    .filter((compute) => compute.phase.state === "init")
    .map((compute) => ({ action: "start_compute", branchId: compute.branchId, endpointId: compute.id }));
}

/** The range of a project's new computes that request none. */
export function defaultSizeRange({ minCu, maxCu }: DefaultEndpointSettings): SizeRange {
  return { minCu: minCu ?? SMALLEST_CU, maxCu: maxCu ?? minCu ?? SMALLEST_CU };
}

/** R: the first row of the size table. A: the size of a compute without a requested size. */
const SMALLEST_CU = 0.25;
