import { randomBytes } from "node:crypto";
import { readAppliedContent, writeAppliedContent } from "../content/applied-content.ts";
import { withOpenDatabases } from "../content/cluster-content.ts";
import { EngineError, PLATFORM_GROUP, type RunningEngine } from "../engine/engine.ts";
import { identifier } from "../engine/sql-text.ts";
import type { OsUser } from "../machine/os-user.ts";
import { ensureRights } from "../rights/cluster-rights.ts";
import {
  applySettings,
  copyDatabaseRights,
  createSameDatabase,
  type DescribedDatabase,
  describeDatabases,
  takeSettings,
} from "./copy-databases.ts";
import { copyRoles } from "./copy-roles.ts";
import { dumpAndRestore } from "./dump-and-restore.ts";
import type { DumpPrograms } from "./dump-programs.ts";
import { countsOf, differencesOf, type InventoryCounts, takeInventory } from "./inventory.ts";

export type CarryRequest = {
  /** Runs on a copy that no other process uses. */
  readonly source: RunningEngine;
  readonly sourceVersion: number;
  /** An empty cluster. */
  readonly target: RunningEngine;
  readonly programs: DumpPrograms;
  readonly user: OsUser | undefined;
  /** Called with the step that begins now, for the operator. */
  readonly onStep: (step: string) => void;
};

export type Carried = InventoryCounts & {
  /** Objects that the new version does not have, for the operator. */
  readonly left: readonly string[];
};

/** Differences in one message. */
const SHOWN_DIFFERENCES = 5;
/** First version in which the schema `public` does not belong to the superuser. */
const OWNED_BY_DATABASE_OWNER_SINCE = 15;

/**
 * Copies everything that clients have created into an empty cluster of a newer version, and compares both. What clients
 * have written runs with the rights of a role that can do no more than they. Throws `EngineError`.
 */
export async function carryCluster(request: CarryRequest): Promise<Carried> {
  const { source, target, onStep } = request;
  const described = await describeDatabases(source);
  const databases = described.map(({ name }) => name);
  return withOpenDatabases(source, async () => {
    await ensureRights(target);
    const settings = await takeSettings(source, described);
    onStep("copying roles");
    const roles = await copyRoles(source, target);
    const restorer = `standin_restore_${randomBytes(4).toString("hex")}`;
    await target.query(createRestorer(restorer, roles));
    for (const database of described) {
      onStep(`copying database ${database.name}`);
      await copyDatabase(request, database, restorer);
    }
    const slots = await source.query("SELECT slot_name FROM pg_replication_slots ORDER BY slot_name");
    const subscriptions = await source.query("SELECT subname FROM pg_subscription ORDER BY subname");
    onStep("comparing roles, objects, rows and sequences");
    await source.query(
      `CREATE ROLE ${identifier(restorer)} LOGIN BYPASSRLS; GRANT pg_read_all_data TO ${identifier(restorer)}`,
    );
    const before = await takeInventory(source, databases, restorer);
    const differences = differencesOf(before, await takeInventory(target, databases, restorer));
    await dropRestorer(request, described, restorer);
    if (differences.length > 0)
      throw new EngineError(`the copy differs: ${differences.slice(0, SHOWN_DIFFERENCES).join("; ")}`);
    const unknown = await applySettings(target, settings);
    for (const database of described) await copyDatabaseRights(source, target, database);
    await writeAppliedContent(target, await readAppliedContent(source));
    return {
      ...countsOf(before),
      left: [
        ...unknown.map((setting) => `setting ${setting}`),
        ...slots.map((slot) => `replication slot ${slot["slot_name"]}`),
        ...subscriptions.map(({ subname }) => `subscription ${subname}`),
      ],
    };
  });
}

/** A member of all roles of clients, which are the owners of everything, and no superuser. */
function createRestorer(name: string, roles: readonly string[]): string {
  const groups = [...roles, PLATFORM_GROUP, "pg_read_all_data", "pg_write_all_data"];
  return [
    `CREATE ROLE ${identifier(name)} LOGIN BYPASSRLS`,
    `GRANT ${groups.map(identifier).join(", ")} TO ${identifier(name)}`,
  ].join("; ");
}

async function copyDatabase(
  request: CarryRequest,
  database: DescribedDatabase,
  restorer: string,
): Promise<void> {
  const { source, target, sourceVersion } = request;
  const { name } = database;
  if (sourceVersion < OWNED_BY_DATABASE_OWNER_SINCE)
    await source.inDatabase(name, (query) => query(GIVE_PUBLIC_AWAY));
  await createSameDatabase(target, database);
  await dumpAndRestore({ ...request, database: name, restorer });
  await giveAway(target, database, restorer);
}

/** Gives objects that the role has created itself, such as extensions, to the owner of the database. */
async function giveAway(
  target: RunningEngine,
  { name, owner }: DescribedDatabase,
  restorer: string,
): Promise<void> {
  const role = identifier(restorer);
  await target.inDatabase(name, (query) =>
    query(`REASSIGN OWNED BY ${role} TO ${identifier(owner)}; DROP OWNED BY ${role}`),
  );
}

/** Code of clients has run as this role, also when rows were counted, and may have given it something. */
async function dropRestorer(
  { target }: CarryRequest,
  databases: readonly DescribedDatabase[],
  restorer: string,
): Promise<void> {
  for (const database of databases) await giveAway(target, database, restorer);
  await target.query(`DROP OWNED BY ${identifier(restorer)}; DROP ROLE ${identifier(restorer)}`);
}

const GIVE_PUBLIC_AWAY = `DO $$ BEGIN
  IF to_regnamespace('public') IS NOT NULL THEN ALTER SCHEMA public OWNER TO pg_database_owner; END IF; END $$`;
