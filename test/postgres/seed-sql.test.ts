import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect, type PostgresServer, startPostgresServer } from "../support/postgres/postgres.ts";
import { runStandinProcess } from "../support/process/process.ts";
import { testDirectory } from "../support/server/running-server.ts";

const KEY = "known-key-of-the-shop-0123456789";

/** A seed file whose only project is filled by this SQL, which is in the file itself or beside it. */
function seedFile(sql: string, isInline = false): string {
  const directory = testDirectory();
  writeFileSync(join(directory, "schema.sql"), sql);
  const value = isInline ? JSON.stringify({ text: sql }) : "schema.sql";
  const path = join(directory, "world.yaml");
  writeFileSync(
    path,
    `version: 1
accounts:
  - id: shop
    keys: [{ name: ci, key: ${KEY} }]
    projects:
      - id: storefront-1
        database: orders
        role: clerk
        sql: ${value}
        branches:
          - { id: br-main-1, name: main, endpoints: [{ id: ep-main-1 }] }
          - { id: br-preview-1, name: preview, endpoints: [{ id: ep-preview-1 }] }
`,
  );
  return path;
}

async function start(args: readonly string[], data?: string): Promise<PostgresServer> {
  const server = await startPostgresServer(["--operations", "immediate", "--clock", "manual", ...args], data);
  onTestFinished(() => server.end());
  return server;
}

async function rowsOf(server: PostgresServer, branchId: string, sql: string) {
  const query = `branch_id=${branchId}&database_name=orders&role_name=clerk`;
  const { body } = await server.api("GET", `/projects/storefront-1/connection_uri?${query}`, undefined, KEY);
  const client = await connect(body.uri);
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const COUNT = "select count(*)::int as items from items";

test("the SQL of a seed file fills the branches of a project once, and its data is stored by hash", async () => {
  const sql = "create table items (id int);\ninsert into items select generate_series(1, 3);\n";
  const volumes = testDirectory();
  const args = ["--seed-file", seedFile(sql), "--volumes", volumes];
  const server = await start(args);
  await rowsOf(server, "br-main-1", "delete from items where id = 1");
  expect(await rowsOf(server, "br-main-1", COUNT)).toEqual([{ items: 2 }]);
  expect(await rowsOf(server, "br-preview-1", COUNT)).toEqual([{ items: 3 }]);
  const owner = "select tableowner from pg_tables where tablename = 'items'";
  expect(await rowsOf(server, "br-main-1", owner)).toEqual([{ tableowner: "clerk" }]);
  await server.kill("SIGTERM");

  const restarted = await start(args, server.data);
  expect(await rowsOf(restarted, "br-main-1", COUNT)).toEqual([{ items: 2 }]);

  // Another world, and the same SQL in another form.
  const other = await start(["--seed-file", seedFile(sql, true), "--volumes", volumes]);
  expect(await rowsOf(other, "br-main-1", COUNT)).toEqual([{ items: 3 }]);
  const seeded = readdirSync(join(volumes, "templates")).filter((name) => name.startsWith("seeded-"));
  expect(seeded).toHaveLength(1);
});

test("an error in the SQL of a seed file ends the start and names the line", async () => {
  const path = seedFile("create table items (id int);\nselect wrong\nfrom items;\n");
  const args = ["serve", "--data", testDirectory(), "--port", "0", "--pg-port", "0", "--seed-file", path];
  const { code, stderr } = await runStandinProcess(args);
  expect(code).toBe(1);
  expect(stderr).toContain(`${path.replace("world.yaml", "schema.sql")}:2: column "wrong" does not exist`);
});

test("without Postgres, the server starts and warns that the SQL was not run", async () => {
  const server = await start(["--engine", "none", "--seed-file", seedFile("select 1")]);
  await expect
    .poll(server.stderr)
    .toContain("the SQL of project storefront-1 is not run, because this server runs no Postgres");
});
