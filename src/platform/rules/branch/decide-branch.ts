import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import type { SimTime } from "../../../kernel/time.ts";
import type { Plan } from "../../catalog/plan.ts";
import { ACCEPTED, accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { type Account, planOf } from "../../model/account.ts";
import type {
  Branch,
  BranchChanges,
  CreateBranch,
  SetDefaultBranch,
  UpdateBranch,
} from "../../model/branch.ts";
import type { BranchContent } from "../../model/branch-content.ts";
import type { Compute } from "../../model/compute.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { OperationRequest } from "../../model/operation.ts";
import type { Project } from "../../model/project.ts";
import type { Deciders } from "../../world/handlers.ts";
import {
  branchesOf,
  childrenOf,
  defaultBranchOf,
  findAccount,
  findBranch,
  findBranchFor,
  findProject,
} from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { describeLimitSource, effectiveLimits } from "../account/account-limits.ts";
import { buildCompute, checkComputeLimit, startRequests } from "../compute/build-compute.ts";
import { refuseWhileLocked } from "../operation/locked-by-operations.ts";
import { scheduleOperations } from "../operation/schedule-operations.ts";
import {
  checkExpiration,
  checkNeverExpires,
  expirationFrom,
  expirationSet,
  repeatsExpiration,
} from "./branch-expiration.ts";
import { branchFrom, resolveBranchId } from "./build-branch.ts";
import { contentAt } from "./content-history.ts";
import { resolvePointWithData, writtenPosition } from "./point-in-time.ts";
import { withNewPasswords } from "./role.ts";
import { copiedServices } from "./services/copied-services.ts";
import { serviceRecordCreated } from "./services/decide-service-record.ts";

export const branchDeciders = {
  CreateBranch: decideCreateBranch,
  UpdateBranch: decideUpdateBranch,
  SetDefaultBranch: decideSetDefaultBranch,
} satisfies Deciders<CreateBranch | UpdateBranch | SetDefaultBranch>;

function decideCreateBranch(world: World, command: CreateBranch, context: Context): Result<Event[]> {
  const { now, random } = context;
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const parent = findParent(world, project.value, command);
  if (!parent.ok) return parent;
  const { parentTimestamp: timestamp, parentLsn: lsn, parentWrittenAt: writtenAt } = command;
  const requested = { prefix: "parent_", timestamp, lsn, writtenAt };
  const point = resolvePointWithData(world, parent.value, project.value, requested, now);
  if (!point.ok) return point;
  const account = findAccount(world, command.accountId);
  if (!account.ok) return account;
  const id = resolveBranchId(world, project.value, command.id, random);
  if (!id.ok) return id;
  const name = command.name ?? id.value;
  const nameCheck = checkBranchName(world, project.value.id, name, undefined);
  if (!nameCheck.ok) return nameCheck;
  // S: `schema-only` creates a new root branch, with the schema of another.
  const isRoot = command.initSource === "schema-only";
  const limitCheck = checkBranchLimit(world, account.value, project.value.id, isRoot);
  if (!limitCheck.ok) return limitCheck;
  const expirationCheck = checkExpiration(parent.value, command.expiresAt, command, now);
  if (!expirationCheck.ok) return expirationCheck;
  const parentTimestamp = point.value;
  const content = contentAt(parent.value, parentTimestamp);
  const branch: Branch = {
    ...childOf(world, project.value, parent.value, content, { id: id.value, name }, now),
    ...(isRoot ? {} : fromParent(parent.value, parentTimestamp, lsn)),
    protected: command.protected ?? false,
    initSource: command.initSource ?? "parent-data",
    annotations: command.annotations ?? {},
    ...expirationFrom(command.expiresAt, now),
  };
  const computes = buildComputes(world, project.value, planOf(account.value), branch, command, context);
  if (!computes.ok) return computes;
  const locked =
    command.queue === true
      ? undefined
      : refuseWhileLocked(world, project.value.id, { parentId: parent.value.id });
  if (locked !== undefined) return { ok: false, refusal: locked };
  const requests: OperationRequest[] = [
    { action: "create_branch", branchId: branch.id },
    ...startRequests(computes.value),
  ];
  const source = { branchId: parent.value.id, at: parentTimestamp, content };
  // A: a schema contains nothing that services store.
  const copied = isRoot ? [] : copiedServices(world, branch.id, source, context);
  return accept([
    {
      type: "BranchCreated",
      at: now,
      branch,
      ...(isRoot || writtenAt === parentTimestamp
        ? { dataFrom: { id: parent.value.id, at: parentTimestamp, ...writtenPosition(requested) } }
        : {}),
    },
    ...copied,
    ...(command.services ?? []).map((record, index) =>
      serviceRecordCreated(world, branch.id, record, context, copied.length + index),
    ),
    ...computes.value.map((compute): Event => ({ type: "ComputeCreated", at: now, compute })),
    ...scheduleOperations(world, project.value.id, requests, context),
  ]);
}

/** A branch with the content of another. Roles of a protected branch get new passwords. */
function childOf(
  world: World,
  project: Project,
  parent: Branch,
  content: BranchContent,
  names: { readonly id: string; readonly name: string },
  now: SimTime,
): Branch {
  const roles = parent.protected ? withNewPasswords(world, content.roles) : content.roles;
  return branchFrom(world, project, { ...content, roles }, names, now);
}

function fromParent({ id, logicalSizeBytes }: Branch, at: SimTime, lsn: string | undefined) {
  return {
    parentId: id,
    parentTimestamp: at,
    ...(lsn === undefined ? {} : { parentLsn: lsn }),
    // A: the current size of the parent, even for an earlier instant, until the first client works.
    ...(logicalSizeBytes === undefined ? {} : { logicalSizeBytes }),
  };
}

/** D: the limits count the visible branches of a project, not the deleted ones. */
export function checkBranchLimit(
  world: World,
  account: Account,
  projectId: string,
  isRoot = false,
): Result<undefined> {
  const plan = planOf(account);
  const { branches: limit } = effectiveLimits(world, plan);
  const branches = branchesOf(world, projectId);
  if (branches.length >= limit)
    return refuse("BRANCHES_LIMIT_EXCEEDED", "branches limit exceeded", {
      hint: `${describeLimitSource(world, plan, "branches")} allows ${limit} branches in a project`,
    });
  const { rootBranchesLimit } = plan;
  if (!isRoot || branches.filter(({ parentId }) => parentId === undefined).length < rootBranchesLimit)
    return ACCEPTED;
  return refuse("ROOT_BRANCHES_LIMIT_EXCEEDED", "root branches limit exceeded", {
    hint: `the ${plan.name} plan allows ${rootBranchesLimit} branches without a parent in a project: the first one, and those with the schema only or restored from a snapshot`,
  });
}

function buildComputes(
  world: World,
  project: Project,
  plan: Plan,
  branch: Branch,
  command: CreateBranch,
  context: Context,
): Result<Compute[]> {
  const inputs = command.computes ?? [];
  if (inputs.filter((compute) => compute.computeType === "read_write").length > 1) {
    return refuse("READ_WRITE_ENDPOINT_EXISTS", "read_write endpoint already exists");
  }
  const limitCheck = checkComputeLimit(world, project, plan, inputs.length);
  if (!limitCheck.ok) return limitCheck;
  const computes: Compute[] = [];
  for (const [index, options] of inputs.entries()) {
    const compute = buildCompute(world, project, plan, { ...options, branchId: branch.id }, context, index);
    if (!compute.ok) return compute;
    computes.push(compute.value);
  }
  return accept(computes);
}

function findParent(world: World, project: Project, { parentId }: CreateBranch): Result<Branch> {
  const parent =
    parentId === undefined
      ? accept(defaultBranchOf(world, project.id))
      : findBranch(world, project, parentId);
  if (!parent.ok) return parent;
  if (parent.value === undefined)
    return refuse("BRANCH_NOT_FOUND", `project "${project.id}" has no default branch`);
  return accept(parent.value);
}

function decideUpdateBranch(world: World, command: UpdateBranch, { now }: Context): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  if (command.name !== undefined) {
    const nameCheck = checkBranchName(world, command.projectId, command.name, command.branchId);
    if (!nameCheck.ok) return nameCheck;
  }
  const expiresAt = repeatsExpiration(branch.value, command.expiresAt) ? undefined : command.expiresAt;
  const isProtected = command.protected ?? branch.value.protected;
  const hasChildren = childrenOf(world, command.branchId).length > 0;
  const expirationCheck = checkExpiration(
    undefined,
    expiresAt,
    { default: branch.value.default, protected: isProtected, hasChildren },
    now,
  );
  if (!expirationCheck.ok) return expirationCheck;
  if (command.protected === true && expiresAt !== null && branch.value.expiresAt !== undefined) {
    return refuse(
      "BRANCH_EXPIRATION_NOT_ALLOWED",
      `branch "${branch.value.name}" has an expiration; end it with "expires_at": null first`,
    );
  }
  const changes: BranchChanges = omitUndefined({ name: command.name, protected: command.protected });
  return accept([
    { type: "BranchUpdated", at: now, branchId: command.branchId, changes },
    ...(expiresAt === undefined ? [] : [expirationSet(command.branchId, expiresAt ?? undefined, now)]),
  ]);
}

/** S: the previous default branch loses the designation; no operation is scheduled. */
function decideSetDefaultBranch(world: World, command: SetDefaultBranch, { now }: Context): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  if (branch.value.default) return accept([]);
  const neverExpires = checkNeverExpires(branch.value);
  if (!neverExpires.ok) return neverExpires;
  return accept([
    { type: "BranchSetAsDefault", at: now, projectId: command.projectId, branchId: command.branchId },
  ]);
}

/** D: public clients look for exactly this message. */
export function checkBranchName(
  world: World,
  projectId: string,
  name: string,
  except: string | undefined,
): Result<undefined> {
  const isTaken = branchesOf(world, projectId).some((branch) => branch.name === name && branch.id !== except);
  return isTaken ? refuse("BRANCH_ALREADY_EXISTS", `branch already exists; branch_name:"${name}"`) : ACCEPTED;
}
