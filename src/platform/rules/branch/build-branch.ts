import { drawId } from "../../../kernel/ids.ts";
import type { SimTime } from "../../../kernel/time.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Branch } from "../../model/branch.ts";
import type { BranchContent, Database } from "../../model/branch-content.ts";
import type { Context } from "../../model/context.ts";
import type { Project } from "../../model/project.ts";
import { idCodeOf } from "../../world/lookup.ts";
import { nextNumber, type World } from "../../world/world.ts";
import { checkDatabaseName } from "./database.ts";
import { checkRoleName, newSecretId } from "./role.ts";

/** The default branch of a new project, with its role and database. */
export function buildDefaultBranch(
  world: World,
  project: Project,
  input: {
    readonly id?: string | undefined;
    readonly name: string;
    readonly roleName?: string | undefined;
    readonly databaseName?: string | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly isDefault: boolean;
  },
  { now, random }: Context,
): Result<Branch> {
  const id = resolveBranchId(world, project, input.id, random);
  if (!id.ok) return id;
  const databaseName = input.databaseName ?? DEFAULT_DATABASE_NAME;
  const ownerName = input.roleName ?? `${databaseName}_owner`;
  const databaseNameCheck = checkDatabaseName(databaseName);
  if (!databaseNameCheck.ok) return databaseNameCheck;
  const ownerNameCheck = checkRoleName(ownerName);
  if (!ownerNameCheck.ok) return ownerNameCheck;
  return accept({
    id: id.value,
    number: nextNumber(world, "branch"),
    projectId: project.id,
    name: input.name,
    state: "init",
    stateChangedAt: now,
    default: input.isDefault,
    protected: false,
    initSource: "parent-data",
    roles: [{ name: ownerName, secretId: newSecretId(world), createdAt: now, updatedAt: now }],
    databases: [
      { id: nextNumber(world, "database"), name: databaseName, ownerName, createdAt: now, updatedAt: now },
    ],
    annotations: input.annotations ?? {},
    createdAt: now,
    updatedAt: now,
  });
}

/** A branch that starts with the content of another. The caller sets its parent. */
export function branchFrom(
  world: World,
  project: Project,
  { roles, databases }: BranchContent,
  { id, name, offset = 0 }: { readonly id: string; readonly name: string; readonly offset?: number },
  now: SimTime,
): Branch {
  return {
    id,
    number: nextNumber(world, "branch", offset),
    projectId: project.id,
    name,
    state: "init",
    stateChangedAt: now,
    default: false,
    protected: false,
    initSource: "parent-data",
    roles: roles.map((role) => ({ ...role, createdAt: now, updatedAt: now })),
    databases: databases.map((database, index) => ({
      ...database,
      copiedFrom: originalId(database),
      id: nextNumber(world, "database", index),
      createdAt: now,
      updatedAt: now,
    })),
    annotations: {},
    createdAt: now,
    updatedAt: now,
  };
}

/** Id that a database shares with all its copies, also after a change of their names. */
export function originalId({ id, copiedFrom }: Database): number {
  return copiedFrom ?? id;
}

export function resolveBranchId(
  world: World,
  { regionId }: Project,
  requestedId: string | undefined,
  random: Context["random"],
): Result<string> {
  const isTaken = (id: string) => world.branches.get(id) !== undefined;
  if (requestedId !== undefined && isTaken(requestedId))
    return refuse("ID_EXISTS", `a branch with id "${requestedId}" exists already`);
  return accept(
    requestedId ?? drawId(random, "branch", nextNumber(world, "branch"), isTaken, idCodeOf(world, regionId)),
  );
}

const DEFAULT_DATABASE_NAME = "neondb";
