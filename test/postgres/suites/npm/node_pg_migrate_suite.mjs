// node-pg-migrate: migrations of its own builder, with its advisory lock.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runner } from "node-pg-migrate";
import pg from "pg";
import { connection, describe, run } from "./cases.mjs";

const directory = mkdtempSync(join(tmpdir(), "migrations-"));
const write = (name, text) => writeFileSync(join(directory, `${name}.mjs`), text);

async function query(text) {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const migrate = (direction, more = {}) =>
  runner({
    ...{ databaseUrl: connection, dir: directory, direction, migrationsTable: "migrations", logger: silent },
    ...more,
  }).then((executed) => executed.map(({ name }) => name));
const silent = Object.fromEntries(
  ["debug", "info", "warn", "error"].map((level) => [level, () => undefined]),
);
const columns = () =>
  query(
    "select table_name, column_name, data_type, column_default from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position",
  );

write(
  "1_first",
  `export const up = (pgm) => {
  pgm.createType("mood", ["sad", "ok"]);
  pgm.createTable("customers", { id: "id", name: { type: "varchar(40)", notNull: true, unique: true }, mood: { type: "mood", default: "ok" } });
  pgm.createTable("orders", {
    id: { type: "bigint", primaryKey: true, sequenceGenerated: { precedence: "ALWAYS" } },
    customer_id: { type: "int", references: "customers", onDelete: "cascade" },
    total: { type: "numeric(10, 2)", check: "total >= 0" },
  });
  pgm.createFunction("twice", ["int"], { returns: "int", language: "sql" }, "select $1 * 2");
  pgm.createView("totals", {}, "select customer_id, sum(total) from orders group by 1");
};
export const down = (pgm) => {
  pgm.dropView("totals");
  pgm.dropFunction("twice", ["int"]);
  pgm.dropTable("orders");
  pgm.dropTable("customers");
  pgm.dropType("mood");
};`,
);

await run("uses TLS", async () => {
  const client = new pg.Client(connection);
  await client.connect();
  await client.end();
  return client.connection.stream.encrypted === true;
});
await run("migrates", async () => [await migrate("up"), await columns()]);
await run("finds nothing more to migrate", () => migrate("up"));
write(
  "2_second",
  `export const up = (pgm) => {
  pgm.sql("insert into customers (name) values ('a'), ('b')");
  pgm.addColumns("customers", { display: { type: "text", default: "" } });
  pgm.sql("update customers set display = upper(name)");
  pgm.alterColumn("customers", "name", { type: "text" });
  pgm.addConstraint("customers", "not_empty", { check: "name <> ''" });
};
export const down = (pgm) => {
  pgm.dropConstraint("customers", "not_empty");
  pgm.dropColumns("customers", ["display"]);
};`,
);
write(
  "3_third",
  `export const up = (pgm) => {
  pgm.noTransaction();
  pgm.addTypeValue("mood", "great");
  pgm.createIndex("orders", "total", { concurrently: true, name: "orders_by_total" });
};
export const down = (pgm) => {
  pgm.noTransaction();
  pgm.dropIndex("orders", "total", { concurrently: true, name: "orders_by_total" });
};`,
);
await run("shows what it would do", async () => [await migrate("up", { dryRun: true }), await columns()]);
await run("migrates to a later release", async () => [
  await migrate("up"),
  await query("select name, display, mood from customers order by name"),
  await query("select indexdef from pg_indexes where tablename = 'orders' order by 1"),
]);
write(
  "4_broken",
  `export const up = (pgm) => {
  pgm.addColumns("customers", { broken: "int" });
  pgm.sql("insert into orders (total) values (-1)");
};`,
);
await run("undoes a migration that fails", async () => [
  await migrate("up").catch(describe),
  await columns(),
  await query("select name from migrations order by id"),
]);
rmSync(join(directory, "4_broken.mjs"));
await run(
  "lets one process migrate at a time",
  async () => {
    const other = new pg.Client(connection);
    await other.connect();
    // The lock that node-pg-migrate takes before it reads the table of migrations.
    await other.query("select pg_advisory_lock(7241865325823964)");
    try {
      return await migrate("down");
    } finally {
      await other.end();
    }
  },
  true,
);
await run("rolls back", async () => [
  await migrate("down"),
  await columns(),
  await migrate("down", { count: Infinity }),
  await columns(),
]);
await run("migrates again, in a schema of its own", async () => [
  await migrate("up", {
    schema: "other",
    createSchema: true,
    migrationsSchema: "other",
  }),
  await query("select table_name from information_schema.tables where table_schema = 'other' order by 1"),
]);
rmSync(directory, { recursive: true });
