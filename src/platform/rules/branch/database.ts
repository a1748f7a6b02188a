import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { ACCEPTED, accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { isReservedDatabase } from "../../catalog/reserved-names.ts";
import type { Branch } from "../../model/branch.ts";
import type {
  CreateDatabase,
  Database,
  DatabaseChanges,
  DatabaseCommand,
  DeleteDatabase,
  UpdateDatabase,
} from "../../model/branch-content.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findDatabase } from "../../world/lookup.ts";
import { nextNumber, type World } from "../../world/world.ts";
import { decideContentChange, findRole } from "./role.ts";

export const databaseDeciders = {
  CreateDatabase: decideCreateDatabase,
  UpdateDatabase: decideUpdateDatabase,
  DeleteDatabase: decideDeleteDatabase,
} satisfies Deciders<DatabaseCommand>;

function decideCreateDatabase(world: World, command: CreateDatabase, context: Context): Result<Event[]> {
  const { now } = context;
  return decideContentChange(world, command, context, (branch) => {
    const nameCheck = checkNewDatabaseName(branch, command.name);
    if (!nameCheck.ok) return nameCheck;
    const owner = findRole(branch, command.ownerName);
    if (!owner.ok) return owner;
    const database: Database = {
      id: nextNumber(world, "database"),
      name: command.name,
      ownerName: command.ownerName,
      createdAt: now,
      updatedAt: now,
    };
    return accept({ type: "DatabaseCreated", at: now, branchId: branch.id, database });
  });
}

function decideUpdateDatabase(world: World, command: UpdateDatabase, context: Context): Result<Event[]> {
  return decideContentChange(world, command, context, (branch) => {
    const database = findDatabase(branch, command.name);
    if (!database.ok) return database;
    if (command.newName !== undefined && command.newName !== command.name) {
      const nameCheck = checkNewDatabaseName(branch, command.newName);
      if (!nameCheck.ok) return nameCheck;
    }
    const owner = command.ownerName === undefined ? undefined : findRole(branch, command.ownerName);
    if (owner?.ok === false) return owner;
    const changes: DatabaseChanges = omitUndefined({ name: command.newName, ownerName: command.ownerName });
    return accept({
      type: "DatabaseUpdated",
      at: context.now,
      branchId: branch.id,
      databaseId: database.value.id,
      changes,
    });
  });
}

function decideDeleteDatabase(world: World, command: DeleteDatabase, context: Context): Result<Event[]> {
  return decideContentChange(world, command, context, (branch) => {
    const database = findDatabase(branch, command.name);
    if (!database.ok) return database;
    return accept({
      type: "DatabaseDeleted",
      at: context.now,
      branchId: branch.id,
      databaseId: database.value.id,
    });
  });
}

function checkNewDatabaseName(branch: Branch, name: string): Result<undefined> {
  if (findDatabase(branch, name).ok)
    return refuse("DATABASE_ALREADY_EXISTS", `database already exists; database_name:"${name}"`);
  return checkDatabaseName(name);
}

/** D: the system databases of Postgres exist on every branch but are not listed. */
export function checkDatabaseName(name: string): Result<undefined> {
  if (!isReservedDatabase(name)) return ACCEPTED;
  return refuse("DATABASE_NAME_NOT_ALLOWED", `database.name: "${name}" is reserved by the platform`);
}
