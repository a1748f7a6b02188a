import { SECOND, type SimTime } from "../../../kernel/time.ts";
import type { Branch } from "../../model/branch.ts";
import type { BranchContent, Database, DatabaseEvent, Role, RoleEvent } from "../../model/branch-content.ts";
import type { Evolvers } from "../../world/handlers.ts";
import type { World } from "../../world/world.ts";
import { advanceRoleNumber } from "./role.ts";
import { deleteDatabaseServices, renameDatabaseServices } from "./services/copied-services.ts";

/** The content of a branch at an instant within the project's history retention. */
export function contentAt(branch: Branch, at: SimTime): BranchContent {
  const { roles, databases } = branch.past?.find(({ until }) => until > at) ?? branch;
  return { roles, databases };
}

/**
 * The branch with new content. The previous content stays available for points in time within the retention.
 */
export function withContent(world: World, branch: Branch, content: BranchContent, at: SimTime): Branch {
  const { past = [], roles, databases } = branch;
  const retention = world.projects.get(branch.projectId)?.historyRetentionSeconds ?? 0;
  const retained = [...past, { roles, databases, until: at }].filter(
    ({ until }) => until > at - retention * SECOND,
  );
  return { ...branch, ...content, past: retained, updatedAt: at };
}

export const roleEvolvers = {
  RoleCreated(world, event) {
    const branch = branchOf(world, event);
    setRoles(world, branch, [...branch.roles, event.role], event.at);
  },
  RoleDeleted(world, event) {
    const branch = branchOf(world, event);
    setRoles(
      world,
      branch,
      branch.roles.filter((role) => role.name !== event.roleName),
      event.at,
    );
  },
  RolePasswordReset(world, event) {
    const { at, roleName } = event;
    const branch = branchOf(world, event);
    setRoles(
      world,
      branch,
      branch.roles.map((role) => (role.name === roleName ? withPassword(role, event) : role)),
      at,
    );
  },
} satisfies Evolvers<RoleEvent>;

export const databaseEvolvers = {
  DatabaseCreated(world, event) {
    const branch = branchOf(world, event);
    world.numbers.database = event.database.id;
    setDatabases(world, branch, [...branch.databases, event.database], event.at);
  },
  DatabaseUpdated(world, event) {
    const { at, databaseId, changes } = event;
    const branch = branchOf(world, event);
    const name = branch.databases.find(({ id }) => id === databaseId)?.name;
    if (name !== undefined && changes.name !== undefined)
      renameDatabaseServices(world, branch.id, name, changes.name);
    setDatabases(
      world,
      branch,
      branch.databases.map((database) =>
        database.id === databaseId ? { ...database, ...changes, updatedAt: at } : database,
      ),
      at,
    );
  },
  DatabaseDeleted(world, event) {
    const branch = branchOf(world, event);
    const name = branch.databases.find(({ id }) => id === event.databaseId)?.name;
    if (name !== undefined) deleteDatabaseServices(world, branch.id, name);
    setDatabases(
      world,
      branch,
      branch.databases.filter((database) => database.id !== event.databaseId),
      event.at,
    );
  },
} satisfies Evolvers<DatabaseEvent>;

function withPassword(
  role: Role,
  { at, secretId, noLogin }: Extract<RoleEvent, { readonly type: "RolePasswordReset" }>,
): Role {
  const changed = { ...role, secretId, updatedAt: at };
  if (noLogin === undefined) return changed;
  const { noLogin: _, ...withLogin } = changed;
  return noLogin ? { ...withLogin, noLogin } : withLogin;
}

function setRoles(world: World, branch: Branch, roles: readonly Role[], at: SimTime): void {
  advanceRoleNumber(world, roles);
  world.branches.set(withContent(world, branch, { roles, databases: branch.databases }, at));
}

function setDatabases(world: World, branch: Branch, databases: readonly Database[], at: SimTime): void {
  world.branches.set(withContent(world, branch, { roles: branch.roles, databases }, at));
}

/** Whether an event changes the roles or databases of a branch. */
export function changesContent<E extends { readonly type: string }>(
  event: E,
): event is E & (RoleEvent | DatabaseEvent) {
  return event.type in roleEvolvers || event.type in databaseEvolvers;
}

function branchOf(world: World, { type, branchId }: RoleEvent | DatabaseEvent): Branch {
  const branch = world.branches.get(branchId);
  if (branch === undefined) throw new Error(`${type}: there is no branch ${branchId}`);
  return branch;
}
