import type { OrderedRows } from "../../kernel/index-rows.ts";
import { accept, type Result, refuse } from "../catalog/refusal-codes.ts";
import { regionWithId } from "../catalog/regions.ts";
import type { Account } from "../model/account.ts";
import type { Branch } from "../model/branch.ts";
import type { Database } from "../model/branch-content.ts";
import type { Compute } from "../model/compute.ts";
import type { BranchRef, ComputeRef } from "../model/object-refs.ts";
import type { Project } from "../model/project.ts";
import type { World } from "./world.ts";

// Lookups on behalf of an account. Missing, deleted and other accounts' objects give the same error.

/** The project, if it belongs to this account. The error does not reveal another account's project. */
export function findProject(world: World, accountId: string, projectId: string): Result<Project> {
  const project = world.projects.get(projectId);
  if (project === undefined || project.accountId !== accountId || project.deletedAt !== undefined) {
    return projectNotFound(projectId);
  }
  return accept(project);
}

/** D for branches, A for projects and endpoints: the message does not name the object. */
export function projectNotFound(projectId: string) {
  return refuse("PROJECT_NOT_FOUND", "project not found", { hint: `there is no project "${projectId}"` });
}

export function branchNotFound(branchId: string) {
  return refuse("BRANCH_NOT_FOUND", "branch not found", { hint: `there is no branch "${branchId}"` });
}

/** The projects of an account, oldest first, whenever they were transferred to it. */
export function projectsOf(world: World, accountId: string): OrderedRows<Project> {
  return world.projects.ordered("account", accountId);
}

/** The account that owns an organization (S: each account owns one). Permissions are checked in access.ts. */
export function findOrganization(world: World, organizationId: string): Result<Account> {
  for (const account of world.accounts.by("organization", organizationId).values()) return accept(account);
  return refuse("ORGANIZATION_NOT_FOUND", `organization "${organizationId}" not found`);
}

/** The default branch, used by calls that name no branch. */
export function defaultBranchOf(world: World, projectId: string): Branch | undefined {
  for (const branch of world.branches.by("project", projectId).values()) {
    if (branch.default && branch.deletedAt === undefined) return branch;
  }
  return undefined;
}

export function findBranch(world: World, project: Project, branchId: string): Result<Branch> {
  const branch = world.branches.get(branchId);
  if (branch === undefined || branch.projectId !== project.id || branch.deletedAt !== undefined) {
    return branchNotFound(branchId);
  }
  return accept(branch);
}

export function findDatabase(branch: Pick<Branch, "databases">, name: string): Result<Database> {
  const database = branch.databases.find((candidate) => candidate.name === name);
  return database === undefined
    ? refuse("DATABASE_NOT_FOUND", `database "${name}" not found`)
    : accept(database);
}

/** The branches of a project, oldest first. */
export function branchesOf(world: World, projectId: string): Branch[] {
  return world.branches
    .by("project", projectId)
    .toArray()
    .filter((branch) => branch.deletedAt === undefined);
}

/** The children that are not deleted, oldest first. */
export function childrenOf(world: World, branchId: string): Branch[] {
  return world.branches
    .by("parent", branchId)
    .toArray()
    .filter((child) => child.deletedAt === undefined);
}

/** R: at most one primary read-write compute per branch. */
export function primaryComputeOf(world: World, branchId: string): Compute | undefined {
  for (const compute of world.computes.by("branch", branchId).values()) {
    if (compute.type === "read_write") return compute;
  }
  return undefined;
}

/** The compute, if this account may see it. */
export function findCompute(world: World, { accountId, projectId, computeId }: ComputeRef): Result<Compute> {
  const project = findProject(world, accountId, projectId);
  if (!project.ok) return project;
  const compute = world.computes.get(computeId);
  if (compute === undefined || compute.projectId !== projectId || !isComputeVisible(world, compute)) {
    return refuse("ENDPOINT_NOT_FOUND", "endpoint not found", {
      hint: `there is no endpoint "${computeId}"`,
    });
  }
  return accept(compute);
}

/** The computes of a project whose branches are not deleted, oldest first. */
export function computesOf(world: World, projectId: string): Compute[] {
  return world.computes
    .by("project", projectId)
    .toArray()
    .filter((compute) => isComputeVisible(world, compute));
}

/** All computes of a branch, oldest first, whenever they were moved to it. */
export function computesOnBranch(world: World, branchId: string): Compute[] {
  return world.computes
    .by("branch", branchId)
    .toArray()
    .sort((a, b) => a.number - b.number);
}

/** Whether neither the compute's branch nor its project is deleted. */
export function isComputeVisible(world: World, compute: Compute): boolean {
  const project = world.projects.get(compute.projectId);
  const branch = world.branches.get(compute.branchId);
  return project?.deletedAt === undefined && branch?.deletedAt === undefined;
}

export function findAccount(world: World, accountId: string): Result<Account> {
  const account = world.accounts.get(accountId);
  return account === undefined ? refuse("ACCOUNT_NOT_FOUND", "account not found") : accept(account);
}

export function findBranchFor(world: World, { accountId, projectId, branchId }: BranchRef): Result<Branch> {
  const project = findProject(world, accountId, projectId);
  return project.ok ? findBranch(world, project.value, branchId) : project;
}

/** For `drawId`. Undefined in a world whose ids end in digits. */
export function idCodeOf(world: World, regionId: string): string | undefined {
  return world.settings.regionalIds === true ? regionWithId(regionId)?.idCode : undefined;
}
