import { getTableColumns, is, Param, Placeholder, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { toSnakeCase } from "drizzle-orm/casing";
import { type SQLiteColumn, SQLiteSyncDialect, type SQLiteTable } from "drizzle-orm/sqlite-core";
import type { history, world } from "./schema.ts";

const OPTIONS = { casing: "snake_case" } as const;
const dialect = new SQLiteSyncDialect(OPTIONS);

/** Builds statements on the tables of the schema. It has no connection: `textOf` gives what is prepared and run raw. */
export const query = drizzle.mock(OPTIONS);

/**
 * The text of a statement. Its parameters are `names`, in this order; other values are part of the text. Throws if the
 * statement has other parameters, or in another order.
 */
export function textOf(statement: SQLWrapper, ...names: readonly string[]): string {
  const { sql: text, params } = dialect.sqlToQuery(statement.getSQL().inlineParams());
  const found = params.map(nameOf);
  if (found.join() !== names.join())
    throw new Error(`${text}: has the parameters ${found.join(", ")}, not ${names.join(", ")}`);
  return text;
}

function nameOf(parameter: unknown): string {
  const value = is(parameter, Param) ? parameter.value : parameter;
  return is(value, Placeholder) ? String(value.name) : "?";
}

/** A column of a result under the name of its property, such as `firstSeq` for `first_seq`. */
export function named<T>(column: SQLiteColumn, name: string): SQL.Aliased<T> {
  return sql<T>`${column}`.as(name);
}

/** A parameter for each column, by its property. */
export function parametersFor<T extends SQLiteTable>(table: T) {
  const names = Object.keys(getTableColumns(table)) as (keyof T["_"]["columns"])[];
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(String(name))])) as {
    [Name in keyof T["_"]["columns"]]: Placeholder;
  };
}

/**
 * The text of a statement that writes the only row of a table, whose key is 1. Its parameters are the other columns, in the
 * order of the schema.
 */
export function textOfWriteRow(table: typeof world | typeof history): string {
  const { id: _, ...values } = parametersFor(table) as Record<string, Placeholder>;
  const names = Object.keys(values);
  return textOf(
    query
      .insert(table)
      .values({ ...values, id: 1 } as never)
      .onConflictDoUpdate({
        target: table.id,
        set: Object.fromEntries(
          names.map((name) => [name, sql`excluded.${sql.identifier(toSnakeCase(name))}`]),
        ),
      }),
    ...names,
  );
}

/** Calls `build` once, when its result is first needed: texts are the same for all connections. */
export function once<T extends object | string>(build: () => T): () => T {
  let built: T | undefined;
  return () => {
    built ??= build();
    return built;
  };
}
