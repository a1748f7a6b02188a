import { neon, neonConfig } from "@neondatabase/serverless";
import type pg from "pg";
import { expect, test } from "vitest";
import { connect, createBranch, serverForTests } from "../support/postgres/postgres.ts";

// `POST /sql` keeps its sessions between requests. A client must not be able to tell.

const PASSWORD = "Password-of-kept-1";

const server = await serverForTests();
const branch = await createBranch(server);
neonConfig.fetchEndpoint = `${new URL(server.ready.api_url).origin}/sql`;

/** Sends a statement as this role, or to this database. */
function send(statement: string, { role, database }: { role?: string; database?: string } = {}) {
  const url = new URL(branch.uri);
  if (role !== undefined) [url.username, url.password] = [role, PASSWORD];
  if (database !== undefined) url.pathname = `/${database}`;
  return neon(url.href).query(statement);
}

function owner(): Promise<pg.Client> {
  return connect(branch.uri);
}

async function createRole(client: pg.Client, role: string): Promise<void> {
  await client.query(`create role ${role} login password '${PASSWORD}'`);
  expect(await send("select current_user::text as me", { role })).toEqual([{ me: role }]);
}

test.each([
  ["a client", async (statement: string) => void (await (await owner()).query(statement))],
  ["a request", async (statement: string) => void (await send(statement))],
  [
    "a transaction of a client",
    async (statement: string) => {
      const client = await owner();
      await client.query("begin");
      await client.query(statement);
      // Opened before the change, and kept afterwards.
      await send("select 1", { role: "limited" });
      await client.query("commit");
    },
  ],
])("a connection limit that %s sets applies to the next request", async (_, execute) => {
  const client = await owner();
  await createRole(client, "limited");
  await execute("alter role limited connection limit 0");
  await expect(send("select 1", { role: "limited" })).rejects.toMatchObject({
    code: "53300",
    message: expect.stringContaining('too many connections for role "limited"'),
  });
  await client.query("alter role limited connection limit -1");
  expect(await send("select 1 as one", { role: "limited" })).toEqual([{ one: 1 }]);
  await client.query("drop role limited");
});

test.each(["do $$ begin end $$", "call nothing()"])("%s ends no session that is kept", async (block) => {
  const client = await owner();
  await client.query("create or replace procedure nothing() language sql as 'select 1'");
  const pid = async () => (await send("select pg_backend_pid()"))[0];
  const before = await pid();
  await send(block);
  await client.query(block);
  expect(await pid()).toEqual(before);
});

test("a password that a block lets expire is rejected by the next request", async () => {
  const client = await owner();
  await createRole(client, "lapsing");
  await send("do $$ begin alter role lapsing valid until '2001-01-01'; end $$");
  await expect(send("select 1", { role: "lapsing" })).rejects.toMatchObject({ code: "28P01" });
  await client.query("drop role lapsing");
});

test("a role whose password has expired is rejected, by requests, clients and the pooler", async () => {
  const client = await owner();
  await createRole(client, "expiring");
  const url = new URL(branch.uri);
  [url.username, url.password] = ["expiring", PASSWORD];
  const pooled = new URL(url);
  pooled.searchParams.set("options", `endpoint=${branch.endpointId}-pooler`);
  const attempts = () =>
    Promise.all([
      send("select 1 as one", { role: "expiring" }).then(
        () => "accepted",
        ({ code }) => code,
      ),
      ...[url, pooled].map(({ href }) =>
        connect(href).then(
          () => "accepted",
          ({ code }) => code,
        ),
      ),
    ]);
  const accepted = ["accepted", "accepted", "accepted"];
  expect(await attempts()).toEqual(accepted);
  await client.query("alter role expiring valid until '2100-01-01'");
  expect(await attempts()).toEqual(accepted);
  await client.query("alter role expiring valid until '2001-01-01'");
  expect(await attempts()).toEqual(["28P01", "28P01", "28P01"]);
  await client.query("alter role expiring valid until 'infinity'");
  expect(await attempts()).toEqual(accepted);
});

test("a read replica rejects a password as soon as the primary has let it expire", async () => {
  const client = await owner();
  const { body } = await server.api("POST", `/projects/${branch.projectId}/endpoints`, {
    endpoint: { branch_id: branch.branchId, type: "read_only" },
  });
  const answers: unknown[] = [];
  for (const role of ["replica1", "replica2", "replica3", "replica4", "replica5", "replica6"]) {
    await client.query(`create role ${role} login password '${PASSWORD}'`);
    const url = new URL(branch.uri);
    [url.username, url.password] = [role, PASSWORD];
    url.searchParams.set("options", `endpoint=${body.endpoint.id}`);
    const attempts = [() => connect(url.href), () => neon(url.href).query("select 1")];
    for (const attempt of attempts)
      await expect
        .poll(
          () =>
            attempt().then(
              () => "accepted",
              ({ code }) => code,
            ),
          { timeout: 10_000 },
        )
        .toBe("accepted");
    await client.query(`alter role ${role} valid until '2001-01-01'`);
    for (const attempt of attempts)
      answers.push(
        await attempt().then(
          () => "accepted",
          ({ code }) => code,
        ),
      );
  }
  expect(answers).toEqual(answers.map(() => "28P01"));
}, 60_000);

test("a password may expire between two requests", async () => {
  const client = await owner();
  await createRole(client, "brief");
  const ends = "to_char(clock_timestamp() + interval '3 s', 'YYYY-MM-DD HH24:MI:SS.MS TZH')";
  await client.query(`do $$ begin execute 'alter role brief valid until ' || quote_literal(${ends}); end $$`);
  expect(await send("select 1 as one", { role: "brief" })).toEqual([{ one: 1 }]);
  await expect
    .poll(() => send("select 1", { role: "brief" }).catch(({ code }) => code), { timeout: 10_000 })
    .toBe("28P01");
});

test("a request has the settings that its role has now", async () => {
  const client = await owner();
  await createRole(client, "settled");
  await client.query("alter role settled set application_name to 'changed'");
  await client.query("alter role settled set work_mem to '5MB'");
  expect(await send("show work_mem", { role: "settled" })).toEqual([{ work_mem: "5MB" }]);
});

test.each([
  ["rename", "alter database used rename to renamed", "drop database renamed"],
  ["copy", "create database copied template used", "drop database copied; drop database used"],
  ["drop", "drop database used", undefined],
])("a client can %s a database after requests to it", async (_, statement, undo) => {
  const client = await owner();
  await client.query("create database used");
  expect(await send("select current_database()::text as db", { database: "used" })).toEqual([{ db: "used" }]);
  await client.query(statement);
  for (const each of undo?.split("; ") ?? []) await client.query(each);
});

test("a request can rename a database after requests to it", async () => {
  await send("create database used");
  await send("select 1", { database: "used" });
  await send("alter database used rename to renamed");
  expect(await send("select 1 as one", { database: "renamed" })).toEqual([{ one: 1 }]);
  await send("drop database renamed");
});

test("a transaction of a request can rename a database by a later statement", async () => {
  await send("create database used");
  await send("select 1", { database: "used" });
  const sql = neon(branch.uri);
  await sql.transaction([sql.query("select 1"), sql.query("alter database used rename to renamed")]);
  expect(await send("select 1 as one", { database: "renamed" })).toEqual([{ one: 1 }]);
  await send("drop database renamed");
});

test("a request that executes keeps its database from being renamed", async () => {
  const client = await owner();
  await client.query("create database used");
  const executing = send("select pg_sleep(12)", { database: "used" });
  executing.catch(() => undefined);
  await expect
    .poll(
      async () => (await client.query("select from pg_stat_activity where query like '%(12)'")).rowCount,
      {
        timeout: 10_000,
      },
    )
    .toBeGreaterThan(0);
  await expect(client.query("alter database used rename to renamed")).rejects.toMatchObject({
    code: "55006",
  });
  await client.query("drop database used with (force)");
}, 60_000);

test("a role that a transaction creates can log in after its commit", async () => {
  const client = await owner();
  await client.query("begin");
  await client.query(`create role late login password '${PASSWORD}'`);
  await client.query("commit");
  expect(await send("select current_user::text as me", { role: "late" })).toEqual([{ me: "late" }]);
  await client.query("drop role late");
});
