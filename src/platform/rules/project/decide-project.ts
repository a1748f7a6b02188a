import { drawId } from "../../../kernel/ids.ts";
import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import type { Profile } from "../../catalog/defaults-and-limits.ts";
import { checkPgSettings } from "../../catalog/pg-settings.ts";
import type { Plan } from "../../catalog/plan.ts";
import { checkPreloadLibraries } from "../../catalog/preload-libraries.ts";
import { ACCEPTED, accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { REGIONS, regionWithId } from "../../catalog/regions.ts";
import { resolveSizeRange } from "../../catalog/sizes.ts";
import { type Account, planOf } from "../../model/account.ts";
import { COMPUTE_SETTINGS } from "../../model/compute.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import { type OperationRequest, pendingStateOf } from "../../model/operation.ts";
import type {
  CreateProject,
  DefaultEndpointSettings,
  DeleteProject,
  Project,
  ProjectChanges,
  ProjectCommand,
  UpdateProject,
} from "../../model/project.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findAccount, findProject, idCodeOf } from "../../world/lookup.ts";
import { nextNumber, type World } from "../../world/world.ts";
import { describeLimitSource, effectiveLimits } from "../account/account-limits.ts";
import { buildDefaultBranch } from "../branch/build-branch.ts";
import { RECOVERY_WINDOW } from "../branch/removal.ts";
import { checkSuspendTimeout } from "../compute/autosuspend.ts";
import { buildCompute, startRequests } from "../compute/build-compute.ts";
import { scheduleOperations, unfinishedOperations } from "../operation/schedule-operations.ts";
import { mergeSettings } from "../settings/settings-objects.ts";

export const projectDeciders = {
  CreateProject: decideCreateProject,
  UpdateProject: decideUpdateProject,
  DeleteProject: decideDeleteProject,
} satisfies Deciders<ProjectCommand>;

/**
 * R: the default branch gets a primary read-write compute. D: by the operations create_timeline and
 * start_compute.
 */
function decideCreateProject(world: World, command: CreateProject, context: Context): Result<Event[]> {
  const account = findAccount(world, command.accountId);
  if (!account.ok) return account;
  const plan = planOf(account.value);
  const limitCheck = checkProjectLimit(world, account.value);
  if (!limitCheck.ok) return limitCheck;
  const built = buildProject(world, account.value, plan, command, context);
  if (!built.ok) return built;
  const project = built.value;
  const branch = buildDefaultBranch(
    world,
    project,
    { ...command.branch, name: command.branch?.name ?? DEFAULT_BRANCH_NAME, isDefault: true },
    context,
  );
  if (!branch.ok) return branch;
  const { id, ...options } = command.compute ?? {};
  const input = { id, branchId: branch.value.id, computeType: "read_write", options } as const;
  const compute = buildCompute(world, project, plan, input, context);
  if (!compute.ok) return compute;
  const requests: OperationRequest[] = [
    { action: "create_timeline", branchId: branch.value.id },
    ...startRequests([compute.value]),
  ];
  return accept([
    { type: "ProjectCreated", at: context.now, project },
    { type: "BranchCreated", at: context.now, branch: branch.value },
    { type: "ComputeCreated", at: context.now, compute: compute.value },
    ...scheduleOperations(world, project.id, requests, context),
  ]);
}

/** Checks that an account may have another project. */
export function checkProjectLimit(world: World, account: Account): Result<undefined> {
  const plan = planOf(account);
  const { projects: limit } = effectiveLimits(world, plan);
  const count = world.projects.by("account", account.id).size;
  if (count < limit) return ACCEPTED;
  // D
  return refuse("PROJECTS_LIMIT_EXCEEDED", `user projects limit of ${limit} exceeded, got ${count}`, {
    hint: `${describeLimitSource(world, plan, "projects")} allows ${limit} projects`,
  });
}

function buildProject(
  world: World,
  account: Account,
  plan: Plan,
  command: CreateProject,
  { now, random, profile }: Context,
): Result<Project> {
  const regionId = command.regionId ?? DEFAULT_REGION;
  if (regionWithId(regionId) === undefined) {
    return refuse(
      "REGION_NOT_SUPPORTED",
      `region_id: "${regionId}" is not a region; available are ${REGIONS.map((region) => region.id).join(", ")}`,
    );
  }
  const defaults = checkDefaultEndpointSettings(plan, profile, command.defaultEndpointSettings ?? {});
  if (!defaults.ok) return defaults;
  const pgVersion = command.pgVersion ?? profile.defaultPgVersion;
  const { lowest, highest } = profile.pgVersions;
  if (pgVersion < lowest || pgVersion > highest) {
    return refuse(
      "PG_VERSION_NOT_SUPPORTED",
      `pg_version: ${pgVersion} is not available in profile ${profile.name}; available are ${lowest} to ${highest}`,
    );
  }
  const libraries = checkPreloadLibraries({ pgVersion }, command.settings);
  if (!libraries.ok) return libraries;
  const pgSettings = checkDefaultPgSettings({ pgVersion }, command.defaultEndpointSettings);
  if (!pgSettings.ok) return pgSettings;
  const number = nextNumber(world, "project");
  const isTaken = (id: string) => world.projects.get(id) !== undefined;
  if (command.id !== undefined && isTaken(command.id))
    return refuse("ID_EXISTS", `a project with id "${command.id}" exists already`);
  const id = command.id ?? drawId(random, "project", number, isTaken, idCodeOf(world, regionId));
  return accept({
    id,
    number,
    accountId: account.id,
    name: command.name ?? id,
    regionId,
    provisioner: command.provisioner ?? COMPUTE_SETTINGS.provisioner.default,
    pgVersion,
    storePasswords: command.storePasswords ?? true,
    historyRetentionSeconds: command.historyRetentionSeconds ?? DEFAULT_HISTORY_RETENTION_S,
    settings: command.settings ?? {},
    defaultEndpointSettings: defaults.value,
    createdAt: now,
    updatedAt: now,
  });
}

function decideUpdateProject(world: World, command: UpdateProject, context: Context): Result<Event[]> {
  const { now, profile } = context;
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const account = findAccount(world, command.accountId);
  if (!account.ok) return account;
  const defaults = checkDefaultEndpointSettings(planOf(account.value), profile, {
    ...project.value.defaultEndpointSettings,
    ...command.defaultEndpointSettings,
  });
  if (!defaults.ok) return defaults;
  const libraries = checkPreloadLibraries(project.value, command.settings);
  if (!libraries.ok) return libraries;
  const pgSettings = checkDefaultPgSettings(project.value, command.defaultEndpointSettings);
  if (!pgSettings.ok) return pgSettings;
  const changes: ProjectChanges = omitUndefined({
    name: command.name,
    historyRetentionSeconds: command.historyRetentionSeconds,
    // A quota is replaced as a whole, so an empty one removes it.
    settings: command.settings && mergeSettings(project.value.settings, command.settings, ["quota"]),
    defaultEndpointSettings: command.defaultEndpointSettings && defaults.value,
  });
  const requests = replicationRequests(world, project.value, changes);
  if (!requests.ok) return requests;
  return accept([
    { type: "ProjectUpdated", at: now, projectId: project.value.id, changes },
    ...scheduleOperations(world, project.value.id, requests.value, context),
  ]);
}

/**
 * S: enabling logical replication suspends "all active endpoints", and it "cannot be disabled" again. A: a
 * compute that is starting is suspended after its start, because it would run without it.
 */
function replicationRequests(
  world: World,
  project: Project,
  { settings }: ProjectChanges,
): Result<readonly OperationRequest[]> {
  // C: the provider's tests expect it of HIPAA, too.
  if (project.settings["hipaa"] === true && settings?.["hipaa"] === false)
    return refuse("HIPAA_NOT_ALLOWED", "settings.hipaa: once enabled, it cannot be disabled");
  const isEnabled = project.settings["enable_logical_replication"] === true;
  const enables = settings?.["enable_logical_replication"];
  if (isEnabled && enables === false) {
    return refuse(
      "LOGICAL_REPLICATION_NOT_ALLOWED",
      "settings.enable_logical_replication: once enabled, it cannot be disabled",
    );
  }
  if (isEnabled || enables !== true) return accept([]);
  const unfinished = unfinishedOperations(world, project.id);
  const active = [...world.computes.by("project", project.id).values()].filter(
    ({ id, phase }) => (pendingStateOf(unfinished, id) ?? phase.state) === "active",
  );
  return accept(active.map(({ id, branchId }) => ({ action: "suspend_compute", branchId, endpointId: id })));
}

/**
 * D, A: hides the project at once, suspends its computes, then deletes the timeline. C: never locked, because
 * public clients do not retry it; A: the operations in progress are cancelled.
 */
function decideDeleteProject(world: World, command: DeleteProject, context: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const { id } = project.value;
  for (const branch of world.branches.by("project", id).values()) {
    if (branch.protected && branch.deletedAt === undefined) {
      return refuse(
        "BRANCH_IS_PROTECTED",
        `project "${id}" has the protected branch "${branch.name}" and cannot be deleted`,
      );
    }
  }
  const { now: at } = context;
  const cancelled = unfinishedOperations(world, id);
  const requests: OperationRequest[] = [];
  const stopped: Event[] = [];
  for (const { id: endpointId, branchId, phase } of world.computes.by("project", id).values()) {
    const isStartCancelled = cancelled.some(
      (operation) => operation.endpointId === endpointId && operation.action === "start_compute",
    );
    // Clients that wait for the start are rejected.
    if (isStartCancelled) stopped.push({ type: "ComputeStartFailed", at, endpointId });
    else if (phase.state === "active") requests.push({ action: "suspend_compute", branchId, endpointId });
  }
  const cancelledIds = cancelled.map((operation) => operation.id);
  return accept([
    ...cancelledIds.map((operationId): Event => ({ type: "OperationCancelled", at, operationId })),
    ...stopped,
    {
      type: "ProjectDeleted",
      at,
      projectId: id,
      recoverableUntil: at + RECOVERY_WINDOW,
    },
    ...scheduleOperations(world, id, [...requests, { action: "delete_timeline" }], context, cancelledIds),
  ]);
}

/** Checked when they are set, not when the first compute uses them. */
function checkDefaultEndpointSettings(
  plan: Plan,
  profile: Profile,
  settings: DefaultEndpointSettings,
): Result<DefaultEndpointSettings> {
  if (settings.minCu !== undefined || settings.maxCu !== undefined) {
    const base = settings.minCu ?? settings.maxCu ?? 0;
    const range = resolveSizeRange(plan, profile, settings, { minCu: base, maxCu: base });
    if (!range.ok) return range;
  }
  if (settings.suspendTimeoutSeconds !== undefined) {
    const delay = checkSuspendTimeout(plan, profile, settings.suspendTimeoutSeconds);
    if (!delay.ok) return delay;
  }
  return accept(settings);
}

function checkDefaultPgSettings(
  project: { readonly pgVersion: number },
  defaults: DefaultEndpointSettings | undefined,
): Result<undefined> {
  return checkPgSettings(project, "default_endpoint_settings.pg_settings", defaults?.pg_settings);
}

const DEFAULT_BRANCH_NAME = "main"; // D
const DEFAULT_REGION = "aws-us-east-2"; // S
const DEFAULT_HISTORY_RETENTION_S = 86_400;
