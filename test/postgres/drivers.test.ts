import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import pg from "pg";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import {
  connect,
  createBranch,
  letSuspend,
  serverForTests,
  stateOf,
  withoutVerification,
} from "../support/postgres/postgres.ts";
import { testDirectory } from "../support/server/running-server.ts";

const server = await serverForTests(["--operations", "immediate", "--clock", "manual"]);
const branch = await createBranch(server);

test("a pool of pg works, and replaces its connections after a suspend", async () => {
  const pool = new pg.Pool({ ...withoutVerification(branch.uri), max: 5 });
  const errors: string[] = [];
  pool.on("error", (error) => errors.push((error as pg.DatabaseError).code ?? error.message));
  onTestFinished(() => pool.end());
  const numbers = Array.from({ length: 40 }, (_, number) => number);
  const double = (number: number) => pool.query("select $1::int * 2 as double", [number]);
  const answers = await Promise.all(numbers.map(double));
  expect(answers.map(({ rows }) => rows[0].double)).toEqual(numbers.map((number) => 2 * number));
  const open = pool.totalCount;
  await letSuspend(server, branch);
  // The pool drops a connection when it has read its error.
  while (pool.totalCount > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(errors).toEqual(Array(open).fill("57P01"));
  expect((await double(21)).rows).toEqual([{ double: 42 }]);
  expect(await stateOf(server, branch)).toBe("active");
});

test("postgres.js reconnects after 57P01, and finds its rows", async () => {
  const closed: string[] = [];
  const sql = postgres(branch.uri, {
    ssl: { rejectUnauthorized: false },
    max: 1,
    onclose: () => closed.push("closed"),
    onnotice: () => undefined,
  });
  onTestFinished(() => sql.end({ timeout: 5 }));
  await sql`create table if not exists notes (text text)`;
  await sql`insert into notes values (${"kept"})`;
  await letSuspend(server, branch);
  while (closed.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect([...(await sql`select text from notes`)]).toEqual([{ text: "kept" }]);
});

test("Drizzle migrates a database, and a second run changes nothing", async () => {
  const directory = testDirectory();
  mkdirSync(`${directory}/meta`);
  const entries = [{ idx: 0, version: "7", when: 1, tag: "0000_users", breakpoints: true }];
  const journal = { version: "7", dialect: "postgresql", entries };
  writeFileSync(`${directory}/meta/_journal.json`, JSON.stringify(journal));
  writeFileSync(
    `${directory}/0000_users.sql`,
    "create table users (id integer primary key, name text not null);\n--> statement-breakpoint\ncreate index on users (name);",
  );
  const users = pgTable("users", { id: integer().primaryKey(), name: text().notNull() });
  const database = drizzle(await connect(branch.uri));
  await migrate(database, { migrationsFolder: directory });
  await migrate(database, { migrationsFolder: directory });
  await database.insert(users).values({ id: 1, name: "Ada" });
  await letSuspend(server, branch);
  const later = drizzle(await connect(branch.uri));
  expect(await later.select().from(users)).toEqual([{ id: 1, name: "Ada" }]);
});

test("the statements of a Prisma migration work: shadow database, advisory lock, migrate, drop", async () => {
  const shadow = "prisma_migrate_shadow_db_1";
  const main = await connect(branch.uri);
  await main.query("select pg_advisory_lock(72707369)");
  const second = await connect(branch.uri);
  const tried = await second.query("select pg_try_advisory_lock(72707369) as locked");
  expect(tried.rows).toEqual([{ locked: false }]);
  await main.query(`create database "${shadow}"`);
  const url = new URL(branch.uri);
  url.pathname = `/${shadow}`;
  const inShadow = await connect(url.href);
  await inShadow.query("begin; create table accounts (id serial primary key); commit");
  await inShadow.end();
  await main.query(`drop database if exists "${shadow}"`);
  await main.query("create table accounts (id serial primary key)");
  await main.query("select pg_advisory_unlock(72707369)");
  const databases = `/projects/${branch.projectId}/branches/${branch.branchId}/databases`;
  const names = async () =>
    (await server.api("GET", databases)).body.databases.map(({ name }: { name: string }) => name);
  await expect.poll(names).toEqual(["neondb"]);
});

test("roles and databases that SQL creates appear in the API, and those of the API in SQL", async () => {
  const path = `/projects/${branch.projectId}/branches/${branch.branchId}`;
  const client = await connect(branch.uri);
  await client.query("create role reader login password 'chosen'");
  await client.query("do $$ begin create role auditor; end $$");
  await client.query("create database reports");
  const names = async (kind: "roles" | "databases") =>
    (await server.api("GET", `${path}/${kind}`)).body[kind].map(({ name }: { name: string }) => name);
  await expect.poll(() => names("roles")).toEqual(expect.arrayContaining(["reader", "auditor"]));
  await expect.poll(() => names("databases")).toContain("reports");
  const asReader = new URL(branch.uri);
  asReader.username = "reader";
  asReader.password = "chosen";
  const reader = await connect(asReader.href);
  expect((await reader.query("select current_user")).rows).toEqual([{ current_user: "reader" }]);
  await server.api("POST", `${path}/databases`, { database: { name: "sales", owner_name: "neondb_owner" } });
  const listed = "select datname from pg_database where datname = 'sales'";
  await expect.poll(async () => (await client.query(listed)).rowCount, { timeout: 30_000 }).toBe(1);
});

test("a role logs in with its current password, also in a project that does not store passwords", async () => {
  const project = { store_passwords: false };
  const { body } = await server.api("POST", "/projects", { project });
  const uri: string = body.connection_uris[0].connection_uri;
  await server.sim("POST", "/clock/advance", { by: "10s" });
  const here = "select current_user";
  expect((await (await connect(uri)).query(here)).rows).toEqual([{ current_user: "neondb_owner" }]);
  const role = `/projects/${body.project.id}/branches/${body.branch.id}/roles/neondb_owner`;
  const reset = await server.api("POST", `${role}/reset_password`);
  await expect(connect(uri)).rejects.toThrow("password authentication failed");
  const changed = new URL(uri);
  changed.password = reset.body.role.password;
  expect((await (await connect(changed.href)).query(here)).rows).toHaveLength(1);
});

test.skipIf(!existsSync("/proc/self/stat"))("work of Postgres is reported with its load", async () => {
  const client = await connect(branch.uri);
  await client.query("do $$ begin while clock_timestamp() < now() + interval '300 ms' loop end loop; end $$");
  const { body } = await server.sim("POST", "/clock/advance", { by: "2s" });
  const ended = body.events.filter(
    ({ type, endpoint_id }) => type === "SpanEnded" && endpoint_id === branch.endpointId,
  );
  expect(ended).toMatchObject([{ load: expect.any(Number) }]);
  expect(ended[0].load).toBeGreaterThan(0);
  await client.end();
});
