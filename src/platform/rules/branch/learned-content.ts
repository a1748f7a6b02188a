import { accept } from "../../catalog/refusal-codes.ts";
import type { Event } from "../../model/events.ts";
import type { Deciders } from "../../world/handlers.ts";
import { branchNotFound, findDatabase } from "../../world/lookup.ts";
import { nextNumber } from "../../world/world.ts";
import { findRole, newSecretId } from "./role.ts";

/**
 * Roles and databases that SQL statements created, changed or dropped on a branch. The world follows: no
 * operation is scheduled, and nothing is refused that Postgres has accepted.
 */
export type LearnBranchContent = {
  readonly type: "LearnBranchContent";
  readonly branchId: string;
  readonly createdRoles: readonly LearnedRole[];
  /** Also roles that may log in from now on, or may not any more. */
  readonly changedPasswords: readonly LearnedRole[];
  readonly droppedRoles: readonly string[];
  readonly createdDatabases: readonly { readonly name: string; readonly owner: string }[];
  readonly changedOwners: readonly { readonly name: string; readonly owner: string }[];
  readonly droppedDatabases: readonly string[];
};

type LearnedRole = { readonly name: string; readonly noLogin: boolean };

export const learnedContentDeciders = {
  LearnBranchContent(world, command, { now: at }) {
    const { branchId } = command;
    const branch = world.branches.get(branchId);
    const project = branch && world.projects.get(branch.projectId);
    if (branch === undefined || branch.deletedAt !== undefined || project?.deletedAt !== undefined)
      return branchNotFound(branchId);
    const events: Event[] = [];
    let passwords = 0;
    for (const { name, noLogin } of command.createdRoles) {
      if (findRole(branch, name).ok) continue;
      const secretId = newSecretId(world, passwords++);
      const role = { name, secretId, ...(noLogin ? { noLogin } : {}), createdAt: at, updatedAt: at } as const;
      events.push({ type: "RoleCreated", at, branchId, role });
    }
    for (const { name, noLogin } of command.changedPasswords) {
      const role = findRole(branch, name);
      if (!role.ok) continue;
      const secretId = newSecretId(world, passwords++);
      const login = noLogin === (role.value.noLogin === true) ? {} : { noLogin };
      events.push({ type: "RolePasswordReset", at, branchId, roleName: name, secretId, ...login });
    }
    let databases = 0;
    for (const { name, owner } of command.createdDatabases) {
      if (findDatabase(branch, name).ok) continue;
      const id = nextNumber(world, "database", databases++);
      const database = { id, name, ownerName: owner, createdAt: at, updatedAt: at };
      events.push({ type: "DatabaseCreated", at, branchId, database });
    }
    for (const { name, owner } of command.changedOwners) {
      const database = findDatabase(branch, name);
      if (database.ok)
        events.push({
          type: "DatabaseUpdated",
          at,
          branchId,
          databaseId: database.value.id,
          changes: { ownerName: owner },
        });
    }
    for (const name of command.droppedDatabases) {
      const database = findDatabase(branch, name);
      if (database.ok) events.push({ type: "DatabaseDeleted", at, branchId, databaseId: database.value.id });
    }
    for (const roleName of command.droppedRoles)
      if (findRole(branch, roleName).ok) events.push({ type: "RoleDeleted", at, branchId, roleName });
    return accept(events);
  },
} satisfies Deciders<LearnBranchContent>;
