import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { checkPgSettings } from "../../catalog/pg-settings.ts";
import type { Plan } from "../../catalog/plan.ts";
import { checkPreloadLibraries } from "../../catalog/preload-libraries.ts";
import { ACCEPTED, accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { resolveSizeRange } from "../../catalog/sizes.ts";
import { planOf } from "../../model/account.ts";
import type { Compute, ComputeChanges, ComputeType } from "../../model/compute.ts";
import { COMPUTE_SETTINGS, givenSettings, type SettingName } from "../../model/compute.ts";
import type {
  ComputeCommand,
  CreateCompute,
  DeleteCompute,
  UpdateCompute,
} from "../../model/compute-events.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { ComputeRef, ProjectRef } from "../../model/object-refs.ts";
import { isActiveAfter, type OperationRequest } from "../../model/operation.ts";
import type { Project } from "../../model/project.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findAccount, findBranch, findCompute, findProject, primaryComputeOf } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { refuseUnlessQueued, refuseWhileLocked } from "../operation/locked-by-operations.ts";
import { scheduleOperations, unfinishedOperations } from "../operation/schedule-operations.ts";
import { isSameJson, mergeSettings } from "../settings/settings-objects.ts";
import { checkSuspendTimeout } from "./autosuspend.ts";
import { buildCompute, checkComputeLimit, startRequests } from "./build-compute.ts";

export const computeDeciders = {
  CreateCompute: decideCreateCompute,
  UpdateCompute: decideUpdateCompute,
  DeleteCompute: decideDeleteCompute,
} satisfies Deciders<ComputeCommand>;

function decideCreateCompute(world: World, command: CreateCompute, context: Context): Result<Event[]> {
  const resolved = findProjectAndPlan(world, command);
  if (!resolved.ok) return resolved;
  const { project, plan } = resolved.value;
  const branch = findBranch(world, project, command.branchId);
  if (!branch.ok) return branch;
  if (command.regionId !== undefined && command.regionId !== project.regionId) {
    return refuse(
      "REGION_NOT_SUPPORTED",
      `region_id: a compute is in the region of its project, which is "${project.regionId}"`,
    );
  }
  const primaryCheck = checkNoOtherPrimary(world, command.branchId, command.computeType, undefined);
  if (!primaryCheck.ok) return primaryCheck;
  const limitCheck = checkComputeLimit(world, project, plan, 1);
  if (!limitCheck.ok) return limitCheck;
  const compute = buildCompute(world, project, plan, command, context);
  if (!compute.ok) return compute;
  const locked =
    command.queue === true
      ? undefined
      : refuseWhileLocked(world, project.id, { branchIds: [command.branchId] });
  if (locked !== undefined) return { ok: false, refusal: locked };
  return accept([
    { type: "ComputeCreated", at: context.now, compute: compute.value },
    ...scheduleOperations(world, project.id, startRequests([compute.value]), context),
  ]);
}

function decideUpdateCompute(world: World, command: UpdateCompute, context: Context): Result<Event[]> {
  const resolved = findComputeAndPlan(world, command);
  if (!resolved.ok) return resolved;
  const { project, plan, compute } = resolved.value;
  const changes = resolveComputeChanges(world, project, plan, compute, command, context);
  if (!changes.ok) return changes;
  const { branchId: targetId } = changes.value;
  const locked = refuseUnlessQueued(world, compute, targetId);
  if (locked !== undefined) return { ok: false, refusal: locked };
  const branchId = targetId ?? compute.branchId;
  const isActive = isActiveAfter(
    unfinishedOperations(world, project.id),
    compute.id,
    compute.phase.state === "active",
  );
  const requests = updateRequests(compute, changes.value, isActive).map((request) => ({
    ...request,
    branchId,
    endpointId: compute.id,
    // R: in every state of the compute, `apply_config` is running.
    startsAtOnce: request.action === "apply_config",
  }));
  return accept([
    { type: "ComputeUpdated", at: context.now, endpointId: compute.id, changes: changes.value },
    ...scheduleOperations(world, project.id, requests, context),
  ]);
}

/**
 * A change of delay or name needs no restart; disabling needs a suspend; any other change needs a restart. R:
 * only a change restarts. A: an update that repeats the current values gets the same operations, but its
 * suspend has no effect. `isActive`: whether the compute is active after the operations in progress.
 */
export function updateRequests(
  compute: Compute,
  changes: ComputeChanges,
  isActive: boolean,
): OperationRequest[] {
  const restarting = (Object.keys(changes) as (keyof ComputeChanges)[]).filter(
    (key) =>
      key !== "suspendTimeoutSeconds" &&
      !(key in COMPUTE_SETTINGS && !COMPUTE_SETTINGS[key as SettingName].restarts),
  );
  const disables = changes.disabled === true && !compute.disabled;
  if (restarting.length > 0) {
    if (!disables && restarting.every((key) => repeatsValue(compute, changes, key)))
      return [{ action: "apply_config" }, { action: "suspend_compute", cause: "repeated_update" }];
    const thenStart = isActive && !(changes.disabled ?? compute.disabled);
    return [{ action: "apply_config" }, { action: "suspend_compute", thenStart }];
  }
  if (!disables) return [{ action: "apply_config" }];
  return Object.keys(changes).length === 1
    ? [{ action: "suspend_compute" }]
    : [{ action: "apply_config" }, { action: "suspend_compute" }];
}

/** Settings without an entry equal absent ones. */
function repeatsValue(compute: Compute, changes: ComputeChanges, key: keyof ComputeChanges): boolean {
  if (key !== "settings") return isSameJson(changes[key], compute[key]);
  const { settings = {} } = changes;
  return POSTGRES_SETTINGS.every((name) => isSameJson(settings[name] ?? {}, compute.settings[name] ?? {}));
}

function resolveComputeChanges(
  world: World,
  project: Project,
  plan: Plan,
  compute: Compute,
  { branchId, options }: UpdateCompute,
  { profile }: Context,
): Result<ComputeChanges> {
  if (branchId !== undefined) {
    const branch = findBranch(world, project, branchId);
    if (!branch.ok) return branch;
    const primaryCheck = checkNoOtherPrimary(world, branchId, compute.type, compute.id);
    if (!primaryCheck.ok) return primaryCheck;
  }
  const changesSize = options.minCu !== undefined || options.maxCu !== undefined;
  const range = changesSize ? resolveSizeRange(plan, profile, options, compute.range) : undefined;
  if (range?.ok === false) return range;
  const delay =
    options.suspendTimeoutSeconds === undefined
      ? undefined
      : checkSuspendTimeout(plan, profile, options.suspendTimeoutSeconds);
  if (delay?.ok === false) return delay;
  const libraries = checkPreloadLibraries(project, options.settings);
  if (!libraries.ok) return libraries;
  const pgSettings = checkPgSettings(project, "settings.pg_settings", options.settings?.pg_settings);
  if (!pgSettings.ok) return pgSettings;
  const { settings } = options;
  return accept(
    omitUndefined({
      branchId,
      range: range?.value,
      suspendTimeoutSeconds: delay?.value,
      // The names in these two are the caller's, so replacing them is the way to remove one.
      settings: settings && mergeSettings(compute.settings, settings, ["pg_settings", "pgbouncer_settings"]),
      ...givenSettings(options),
    }),
  );
}

/**
 * R: permanent, with an empty operations array; its unfinished operations are cancelled. D: the computes of a
 * protected branch cannot be deleted.
 */
function decideDeleteCompute(world: World, command: DeleteCompute, { now }: Context): Result<Event[]> {
  const compute = findCompute(world, command);
  if (!compute.ok) return compute;
  const branch = world.branches.get(compute.value.branchId);
  if (branch?.protected === true) {
    return refuse(
      "BRANCH_IS_PROTECTED",
      `branch "${branch.name}" is protected and its computes cannot be deleted`,
    );
  }
  const unfinished = unfinishedOperations(world, command.projectId).filter(
    (operation) => operation.endpointId === command.computeId,
  );
  return accept([
    ...unfinished.map(
      (operation): Event => ({ type: "OperationCancelled", at: now, operationId: operation.id }),
    ),
    { type: "ComputeDeleted", at: now, endpointId: command.computeId },
  ]);
}

/**
 * R: a branch has at most one primary, checked on create and on a change of branch. Replicas are not limited.
 */
function checkNoOtherPrimary(
  world: World,
  branchId: string,
  type: ComputeType,
  except: string | undefined,
): Result<undefined> {
  const primary = type === "read_write" ? primaryComputeOf(world, branchId) : undefined;
  if (primary === undefined || primary.id === except) return ACCEPTED;
  return refuse("READ_WRITE_ENDPOINT_EXISTS", "read_write endpoint already exists");
}

function findProjectAndPlan(
  world: World,
  { accountId, projectId }: ProjectRef,
): Result<{ project: Project; plan: Plan }> {
  const project = findProject(world, accountId, projectId);
  if (!project.ok) return project;
  const account = findAccount(world, accountId);
  return account.ok ? accept({ project: project.value, plan: planOf(account.value) }) : account;
}

function findComputeAndPlan(
  world: World,
  command: ComputeRef,
): Result<{ project: Project; plan: Plan; compute: Compute }> {
  const resolved = findProjectAndPlan(world, command);
  if (!resolved.ok) return resolved;
  const compute = findCompute(world, command);
  return compute.ok ? accept({ ...resolved.value, compute: compute.value }) : compute;
}

const POSTGRES_SETTINGS = ["pg_settings", "pgbouncer_settings", "preload_libraries"] as const;
