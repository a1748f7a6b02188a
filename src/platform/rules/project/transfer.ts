import { END_OF_TIME, SECOND } from "../../../kernel/time.ts";
import type { Profile } from "../../catalog/defaults-and-limits.ts";
import type { Plan } from "../../catalog/plan.ts";
import { accept, type Result, refuse, type Shortfall } from "../../catalog/refusal-codes.ts";
import { type Account, planOf } from "../../model/account.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { Project } from "../../model/project.ts";
import type { Deciders } from "../../world/handlers.ts";
import { branchesOf, computesOf, findAccount, findProject } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { effectiveLimits } from "../account/account-limits.ts";
import { checkSuspendTimeout } from "../compute/autosuspend.ts";
import { refuseWhileLocked } from "../operation/locked-by-operations.ts";
import { findRecord, isOfKind, recordCreated, recordDeleted } from "../settings/evolve-settings-record.ts";

export type TransferCommand = RequestTransfer | AcceptTransfer | TransferProjects;

export const transferDeciders = {
  RequestTransfer: decideRequestTransfer,
  AcceptTransfer: decideAcceptTransfer,
  TransferProjects: decideTransferProjects,
} satisfies Deciders<TransferCommand>;

type RequestTransfer = {
  readonly type: "RequestTransfer";
  readonly accountId: string;
  readonly projectId: string;
  readonly ttlSeconds: number;
};
/** Any account that knows the id of the request may accept it, for the account `toAccountId`. */
type AcceptTransfer = {
  readonly type: "AcceptTransfer";
  readonly projectId: string;
  readonly requestId: string;
  readonly toAccountId: string;
};
type TransferProjects = {
  readonly type: "TransferProjects";
  readonly accountId: string;
  readonly toAccountId: string;
  readonly projectIds: readonly string[];
};

function decideRequestTransfer(world: World, command: RequestTransfer, context: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const expiresAt = Math.min(END_OF_TIME, context.now + command.ttlSeconds * SECOND);
  return accept([recordCreated(world, context, project.value.id, "transferRequest", { expiresAt })]);
}

/** Only the owner, or a caller with a valid request, learns that the project exists. */
function decideAcceptTransfer(world: World, command: AcceptTransfer, context: Context): Result<Event[]> {
  const { projectId, requestId, toAccountId } = command;
  const to = findAccount(world, toAccountId);
  if (!to.ok) return to;
  const request = findRecord(world, projectId, "transferRequest", requestId);
  const project = findProject(
    world,
    request === undefined ? toAccountId : (world.projects.get(projectId)?.accountId ?? ""),
    projectId,
  );
  if (!project.ok) return project;
  if (request === undefined)
    return refuse("TRANSFER_REQUEST_NOT_FOUND", `transfer request "${requestId}" not found`);
  if (context.now >= request.fields.expiresAt) {
    return refuse(
      "TRANSFER_REQUEST_NOT_FOUND",
      `transfer request "${requestId}" has expired; create a new one`,
    );
  }
  const shortfalls = shortfallsOf(world, to.value, [project.value], context);
  if (shortfalls.length > 0) {
    return refuse("PLAN_NOT_SATISFIED", shortfalls.map(({ message }) => message).join("; "), { shortfalls });
  }
  return moveProjects(world, [project.value], to.value, context);
}

/** All of them move, or none. */
function decideTransferProjects(world: World, command: TransferProjects, context: Context): Result<Event[]> {
  const to = findAccount(world, command.toAccountId);
  if (!to.ok) return to;
  const projects: Project[] = [];
  for (const projectId of new Set(command.projectIds)) {
    const project = findProject(world, command.accountId, projectId);
    if (!project.ok) return project;
    projects.push(project.value);
  }
  const shortfalls = shortfallsOf(world, to.value, projects, context);
  if (shortfalls.length > 0) {
    return refuse("LIMITS_UNSATISFIED", shortfalls.map(({ message }) => message).join("; "), { shortfalls });
  }
  const alreadyThere = projects.filter(({ accountId }) => accountId === to.value.id).map(({ id }) => id);
  if (alreadyThere.length > 0) {
    const { refusal } = refuseTransferToSelf(alreadyThere, to.value);
    return { ok: false, refusal: { ...refusal, projectIds: alreadyThere } };
  }
  return moveProjects(world, projects, to.value, context);
}

/**
 * A: ends what tied the project to its previous organization: transfer requests, VPC endpoint restrictions,
 * and keys to this project alone. Shares of the project stay.
 */
function moveProjects(
  world: World,
  projects: readonly Project[],
  to: Account,
  { now }: Context,
): Result<Event[]> {
  const events: Event[] = [];
  for (const { id, accountId } of projects) {
    if (accountId === to.id) return refuseTransferToSelf([id], to);
    const locked = refuseWhileLocked(world, id, "project");
    if (locked !== undefined) return { ok: false, refusal: locked };
    events.push({ type: "ProjectTransferred", at: now, projectId: id, accountId: to.id });
    for (const record of world.records.by("scope", id).values()) {
      if (isOfKind(record, "transferRequest") || isOfKind(record, "projectVpcEndpoint"))
        events.push(recordDeleted(record, now));
    }
    for (const apiKey of world.apiKeys.by("project", id).values()) {
      if (apiKey.revokedAt === undefined) events.push({ type: "ApiKeyRevoked", at: now, keyId: apiKey.id });
    }
  }
  return accept(events);
}

function refuseTransferToSelf(projectIds: readonly string[], to: Account) {
  const ids = projectIds.map((id) => `"${id}"`).join(", ");
  return refuse(
    "TRANSFER_NOT_ALLOWED",
    `organization "${to.organizationId}" already owns the project ${ids}`,
  );
}

/** Why this account cannot own these projects as well (A: its plan must allow everything in them). */
function shortfallsOf(
  world: World,
  to: Account,
  projects: readonly Project[],
  { profile }: Context,
): Shortfall[] {
  const plan = planOf(to);
  const limits = effectiveLimits(world, plan);
  const shortfalls: Shortfall[] = [];
  const count =
    world.projects.by("account", to.id).size + projects.filter(({ accountId }) => accountId !== to.id).length;
  if (count > limits.projects) {
    shortfalls.push({
      name: "projects_count",
      code: "PROJECTS_LIMIT_EXCEEDED",
      message: `the ${plan.name} plan allows ${limits.projects} projects, there would be ${count}`,
      expected: String(limits.projects),
      actual: String(count),
    });
  }
  for (const project of projects) {
    const excess = describePlanExcess(world, project, { plan, limits, profile });
    if (excess === undefined) continue;
    const from = world.accounts.get(project.accountId);
    shortfalls.push({
      name: "subscription_type",
      code: "PLAN_LIMIT_EXCEEDED",
      message: `project "${project.id}" has ${excess}, which the ${plan.name} plan does not allow`,
      expected: profile.subscriptionTypes[(from ?? to).plan],
      actual: profile.subscriptionTypes[plan.name],
    });
  }
  return shortfalls;
}

/** The first thing in a project that a plan does not allow, for a message. */
function describePlanExcess(
  world: World,
  project: Project,
  {
    plan,
    limits,
    profile,
  }: { readonly plan: Plan; readonly limits: ReturnType<typeof effectiveLimits>; readonly profile: Profile },
): string | undefined {
  const branches = branchesOf(world, project.id).length;
  if (branches > limits.branches) return `${branches} branches`;
  const snapshots = world.branchSnapshots.by("project", project.id).toArray();
  const manual = snapshots.filter((snapshot) => snapshot.manual).length;
  if (manual > limits.snapshots) return `${manual} snapshots`;
  const visible = computesOf(world, project.id).length;
  if (visible > limits.endpoints) return `${visible} computes`;
  // Includes the computes of deleted branches, which can be recovered.
  const computes = world.computes.by("project", project.id).toArray();
  const { minCu, maxCu, suspendTimeoutSeconds } = project.defaultEndpointSettings;
  const ranges = [
    ...computes.map(({ range }) => range),
    { minCu: minCu ?? plan.onlySizeCu, maxCu: maxCu ?? plan.onlySizeCu },
  ];
  if (
    plan.onlySizeCu !== undefined &&
    ranges.some((range) => range.minCu !== plan.onlySizeCu || range.maxCu !== plan.onlySizeCu)
  ) {
    return `compute sizes other than ${plan.onlySizeCu} CU`;
  }
  if (!plan.readReplicas && computes.some(({ type }) => type === "read_only")) return "read replicas";
  const delays = [...computes.map((compute) => compute.suspendTimeoutSeconds), suspendTimeoutSeconds ?? 0];
  if (delays.some((delay) => !checkSuspendTimeout(plan, profile, delay).ok))
    return "an autosuspend delay other than the default";
  return undefined;
}
