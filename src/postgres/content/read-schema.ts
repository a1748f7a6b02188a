import type { RunningEngine } from "../engine/engine.ts";
import { readAppliedContent } from "./applied-content.ts";
import { withOpenDatabases } from "./cluster-content.ts";
import { SCHEMA_STATEMENTS, TABLES_AS_JSON } from "./schema-statements.ts";

/** A database as the world knows it. The cluster learns its name when an engine starts for clients. */
export type SchemaDatabase = { readonly id: number; readonly name: string };

export type ClusterSchema = {
  /** In an order in which they can be created. `type`: as pg_dump names it. */
  readonly objects: readonly {
    readonly type: string;
    readonly schema: string;
    readonly name: string;
    readonly owner: string;
    readonly sql: string;
  }[];
  /** In the form of the public document. */
  readonly tables: readonly unknown[];
};

/** `undefined` if the cluster does not have the database yet. */
export async function readSchema(
  engine: RunningEngine,
  { id, name }: SchemaDatabase,
): Promise<ClusterSchema | undefined> {
  const applied = await readAppliedContent(engine);
  const database =
    applied.databases.find((candidate) => candidate.id === id)?.name ??
    applied.databases.find((candidate) => candidate.name === name)?.name;
  if (database === undefined) return undefined;
  return withOpenDatabases(engine, () =>
    engine.inDatabase(database, async (query) => {
      const objects: ClusterSchema["objects"][number][] = [];
      for (const { type, sql } of SCHEMA_STATEMENTS)
        for (const row of await query(sql))
          objects.push({
            type,
            schema: row["schema"] ?? "",
            name: row["name"] ?? "",
            owner: row["owner"] ?? "",
            sql: row["ddl"] ?? "",
          });
      const tables = (await query(TABLES_AS_JSON)).map((row) => JSON.parse(row["table"] ?? "null"));
      return { objects, tables };
    }),
  );
}
