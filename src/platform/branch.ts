import { findAccount, planOf } from "./account.ts";
import { type Compute, type ComputeOptions, type ComputeType, makeCompute, startRequests } from "./compute.ts";
import type { Context } from "./context.ts";
import type { Event } from "./events.ts";
import { drawId } from "./ids.ts";
import { branchesOf, computesOnBranch, defaultBranchOf, findBranch, findProject } from "./lookup.ts";
import { type OperationRequest, refuseWhileBusy, scheduleOperations } from "./operation.ts";
import type { Plan } from "./plan.ts";
import type { Project } from "./project.ts";
import { accept, type Result, refuse } from "./refusals.ts";
import type { SimTime } from "./time.ts";
import { nextNumber, type World } from "./world.ts";

/** A Postgres role of a branch. Its password is a secret of the world and is nowhere in history, only its name there. */
export type Role = {
  readonly name: string;
  readonly secretId: string;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

export type Database = {
  readonly id: number;
  readonly name: string;
  readonly ownerName: string;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

/** A line of a project's data, with its roles and databases; reached only through a compute of its own. */
export type Branch = {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
  readonly parentId?: string;
  readonly parentTimestamp?: SimTime;
  readonly parentLsn?: string;
  readonly name: string;
  readonly state: "init" | "ready";
  readonly stateChangedAt: SimTime;
  readonly default: boolean;
  readonly protected: boolean;
  readonly initSource: "parent-data" | "schema-only";
  readonly roles: readonly Role[];
  readonly databases: readonly Database[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
  /** Its removal is under way: nobody sees it any more. */
  readonly deletedAt?: SimTime;
};

type OnBranch = { readonly accountId: string; readonly projectId: string; readonly branchId: string };

export type CreateBranch = {
  readonly type: "CreateBranch";
  readonly accountId: string;
  readonly projectId: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly parentId?: string | undefined;
  readonly parentTimestamp?: SimTime | undefined;
  readonly parentLsn?: string | undefined;
  readonly protected?: boolean | undefined;
  readonly initSource?: Branch["initSource"] | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Nobody waits for it: it is scheduled behind what is under way, in the place of a refusal. */
  readonly queue?: true;
  readonly computes?:
    | readonly { readonly id?: string | undefined; readonly computeType: ComputeType; readonly options: ComputeOptions }[]
    | undefined;
};
export type UpdateBranch = OnBranch & {
  readonly type: "UpdateBranch";
  readonly name?: string | undefined;
  readonly protected?: boolean | undefined;
};
export type DeleteBranch = OnBranch & { readonly type: "DeleteBranch" };
export type SetDefaultBranch = OnBranch & { readonly type: "SetDefaultBranch" };

export type BranchChanges = Partial<Pick<Branch, "name" | "protected">>;

/** The default branch of a new project; roles and databases as asked for. */
export function makeBranch(
  world: World,
  project: Project,
  asked: {
    readonly id?: string | undefined;
    readonly name: string;
    readonly roleName?: string | undefined;
    readonly databaseName?: string | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly isDefault: boolean;
  },
  { now, chance }: Context,
): Result<Branch> {
  const id = decideBranchId(world, asked.id, chance);
  if (!id.ok) return id;
  const databaseName = asked.databaseName ?? DEFAULT_DATABASE_NAME;
  const ownerName = asked.roleName ?? `${databaseName}_owner`;
  return accept({
    id: id.value,
    number: nextNumber(world, "branch"),
    projectId: project.id,
    name: asked.name,
    state: "init",
    stateChangedAt: now,
    default: asked.isDefault,
    protected: false,
    initSource: "parent-data",
    roles: [{ name: ownerName, secretId: `role-${nextNumber(world, "role")}`, createdAt: now, updatedAt: now }],
    databases: [{ id: nextNumber(world, "database"), name: databaseName, ownerName, createdAt: now, updatedAt: now }],
    annotations: asked.annotations ?? {},
    createdAt: now,
    updatedAt: now,
  });
}

export function decideCreateBranch(world: World, command: CreateBranch, context: Context): Result<Event[]> {
  const { now, chance } = context;
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const parent = findParent(world, project.value, command, now);
  if (!parent.ok) return parent;
  const account = findAccount(world, command.accountId);
  if (!account.ok) return account;
  const plan = planOf(account.value);
  const id = decideBranchId(world, command.id, chance);
  if (!id.ok) return id;
  const name = command.name ?? id.value;
  const taken = checkName(world, project.value.id, name, undefined);
  if (!taken.ok) return taken;
  if (branchesOf(world, project.value.id).length >= plan.branchesLimit) {
    return refuse(
      "BRANCHES_LIMIT_EXCEEDED",
      `branches limit exceeded: the ${plan.name} plan allows ${plan.branchesLimit} branches in a project`,
    );
  }
  const branch: Branch = {
    id: id.value,
    number: nextNumber(world, "branch"),
    projectId: project.value.id,
    parentId: parent.value.id,
    parentTimestamp: command.parentTimestamp ?? now,
    ...(command.parentLsn === undefined ? {} : { parentLsn: command.parentLsn }),
    name,
    state: "init",
    stateChangedAt: now,
    default: false,
    protected: command.protected ?? false,
    initSource: command.initSource ?? "parent-data",
    roles: parent.value.roles.map((role) => ({ ...role, createdAt: now, updatedAt: now })),
    databases: parent.value.databases.map((database, index) => ({
      ...database,
      id: nextNumber(world, "database", index),
      createdAt: now,
      updatedAt: now,
    })),
    annotations: command.annotations ?? {},
    createdAt: now,
    updatedAt: now,
  };
  const computes = makeComputes(world, project.value, plan, branch, command, context);
  if (!computes.ok) return computes;
  const busy = command.queue === true ? undefined : refuseWhileBusy(world, project.value.id);
  if (busy !== undefined) return { ok: false, refusal: busy };
  const requests: OperationRequest[] = [{ action: "create_branch", branchId: branch.id }, ...startRequests(computes.value)];
  return accept([
    { type: "BranchCreated", at: now, branch },
    ...computes.value.map((compute): Event => ({ type: "ComputeCreated", at: now, compute })),
    ...scheduleOperations(world, project.value.id, requests, context),
  ]);
}

function makeComputes(
  world: World,
  project: Project,
  plan: Plan,
  branch: Branch,
  command: CreateBranch,
  context: Context,
): Result<Compute[]> {
  const asked = command.computes ?? [];
  if (asked.filter((compute) => compute.computeType === "read_write").length > 1) {
    return refuse("READ_WRITE_ENDPOINT_EXISTS", "read_write endpoint already exists");
  }
  const computes: Compute[] = [];
  for (const [index, options] of asked.entries()) {
    const compute = makeCompute(world, project, plan, { ...options, branchId: branch.id }, context, index);
    if (!compute.ok) return compute;
    computes.push(compute.value);
  }
  return accept(computes);
}

function findParent(world: World, project: Project, { parentId, parentTimestamp }: CreateBranch, now: SimTime): Result<Branch> {
  const parent = parentId === undefined ? accept(defaultBranchOf(world, project.id)) : findBranch(world, project, parentId);
  if (!parent.ok) return parent;
  if (parent.value === undefined) return refuse("BRANCH_NOT_FOUND", `project "${project.id}" has no default branch`);
  if (parentTimestamp !== undefined && (parentTimestamp < parent.value.createdAt || parentTimestamp > now)) {
    return refuse(
      "PARENT_TIMESTAMP_NOT_ALLOWED",
      `parent_timestamp must lie between the creation of the parent branch and now; branch "${parent.value.id}" has no history there`,
    );
  }
  return accept(parent.value);
}

export function decideUpdateBranch(world: World, command: UpdateBranch, { now }: Context): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  if (command.name !== undefined) {
    const taken = checkName(world, command.projectId, command.name, command.branchId);
    if (!taken.ok) return taken;
  }
  const changes: BranchChanges = {
    ...(command.name === undefined ? {} : { name: command.name }),
    ...(command.protected === undefined ? {} : { protected: command.protected }),
  };
  return accept([{ type: "BranchUpdated", at: now, branchId: command.branchId, changes }]);
}

/** S: neither the root nor the default branch, nor one that has children; D: nor a protected one. */
export function decideDeleteBranch(world: World, command: DeleteBranch, context: Context): Result<Event[]> {
  const found = findBranchFor(world, command);
  if (!found.ok) return found;
  const branch = found.value;
  if (branch.default) return refuse("BRANCH_IS_DEFAULT", `branch "${branch.name}" is the default branch and cannot be deleted`);
  if (branch.parentId === undefined) return refuse("BRANCH_IS_ROOT", `branch "${branch.name}" is a root branch and cannot be deleted`);
  if (branch.protected) return refuse("BRANCH_IS_PROTECTED", `branch "${branch.name}" is protected and cannot be deleted`);
  for (const child of world.branches.by("parent", branch.id).values()) {
    if (child.deletedAt === undefined) {
      return refuse("BRANCH_HAS_CHILDREN", `branch "${branch.name}" has the child branch "${child.name}" and cannot be deleted`);
    }
  }
  const busy = refuseWhileBusy(world, command.projectId);
  if (busy !== undefined) return { ok: false, refusal: busy };
  const requests: OperationRequest[] = [];
  for (const compute of computesOnBranch(world, branch.id)) {
    if (compute.phase.state === "active") requests.push({ action: "suspend_compute", branchId: branch.id, endpointId: compute.id });
  }
  return accept([
    { type: "BranchDeleted", at: context.now, branchId: branch.id },
    ...scheduleOperations(world, command.projectId, [...requests, { action: "delete_timeline", branchId: branch.id }], context),
  ]);
}

/** S: the former default loses the designation; nothing is scheduled. */
export function decideSetDefaultBranch(world: World, command: SetDefaultBranch, { now }: Context): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  if (branch.value.default) return accept([]);
  return accept([{ type: "BranchSetAsDefault", at: now, projectId: command.projectId, branchId: command.branchId }]);
}

export function evolveBranch(
  world: World,
  event: Extract<
    Event,
    { type: "BranchCreated" | "BranchBecameReady" | "BranchUpdated" | "BranchSetAsDefault" | "BranchDeleted" | "BranchRemoved" }
  >,
): void {
  const { at } = event;
  if (event.type === "BranchCreated") {
    const { branch } = event;
    const roles = branch.parentId === undefined ? branch.roles.length : 0;
    world.numbers.branch = branch.number;
    world.numbers.role += roles;
    world.numbers.database += branch.databases.length;
    world.branches.set(branch);
    return;
  }
  const branch = world.branches.get(event.branchId);
  if (branch === undefined) throw new Error(`${event.type}: there is no branch ${event.branchId}`);
  switch (event.type) {
    case "BranchBecameReady":
      world.branches.set({ ...branch, state: "ready", stateChangedAt: at, updatedAt: at });
      return;
    case "BranchUpdated":
      world.branches.set({ ...branch, ...event.changes, updatedAt: at });
      return;
    case "BranchSetAsDefault": {
      const former = defaultBranchOf(world, event.projectId);
      if (former !== undefined) world.branches.set({ ...former, default: false, updatedAt: at });
      world.branches.set({ ...branch, default: true, updatedAt: at });
      return;
    }
    case "BranchDeleted":
      world.branches.set({ ...branch, deletedAt: at });
      return;
    case "BranchRemoved":
      world.usage.delete(branch.id);
      world.branches.delete(branch.id);
      return;
    default:
      event satisfies never;
  }
}

function findBranchFor(world: World, { accountId, projectId, branchId }: OnBranch): Result<Branch> {
  const project = findProject(world, accountId, projectId);
  return project.ok ? findBranch(world, project.value, branchId) : project;
}

function decideBranchId(world: World, asked: string | undefined, chance: Context["chance"]): Result<string> {
  const isTaken = (id: string) => world.branches.get(id) !== undefined;
  if (asked !== undefined && isTaken(asked)) return refuse("ID_EXISTS", `a branch with id "${asked}" exists already`);
  return accept(asked ?? drawId(chance, "branch", nextNumber(world, "branch"), isTaken));
}

/** D: the exact sentence that public clients look for. */
function checkName(world: World, projectId: string, name: string, except: string | undefined): Result<true> {
  const taken = branchesOf(world, projectId).some((branch) => branch.name === name && branch.id !== except);
  return taken ? refuse("BRANCH_ALREADY_EXISTS", `branch already exists; branch_name:"${name}"`) : accept(true);
}

const DEFAULT_DATABASE_NAME = "neondb"; // D
