import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
  type TestBranch,
} from "../support/postgres/postgres.ts";

/** A function that gives the client's role all rights if it runs with those of a superuser, and leaves a trace. */
function hostile(signature: string, result: string): string {
  return `create function ${signature} language plpgsql as $$
    begin
      if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
        execute 'alter role neondb_owner superuser';
        if not exists (select from pg_catalog.pg_roles where rolname = '${TRACE}') then
          execute 'create role ${TRACE}';
        end if;
      end if;
      return ${result};
    end $$;`;
}

/** The role that shows that hostile code had all rights at some time: the next start takes back only the rights. */
const TRACE = "code_with_all_rights";

/** Sends each statement on its own: some cannot be part of a transaction. */
async function runAll(client: pg.Client, ...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await client.query(statement);
}

const installations = await findInstallations(undefined, engineUser());

describe.each(installations)("Postgres $version", ({ binDirectory }) => {
  let server: PostgresServer;
  const opened = async () => {
    server ??= await startPostgresServer(["--operations", "immediate", "--engine-bin", binDirectory]);
    return server;
  };
  afterAll(() => server?.end());

  async function newBranch(): Promise<TestBranch> {
    return createBranch(await opened());
  }

  async function createSchemaOnly({ projectId, branchId }: TestBranch) {
    const { status, body } = await server.api("POST", `/projects/${projectId}/branches`, {
      branch: { parent_id: branchId, init_source: "schema-only" },
      endpoints: [{ type: "read_write" }],
    });
    expect(status, JSON.stringify(body)).toBe(201);
    return {
      id: body.branch.id as string,
      uri: body.connection_uris[0].connection_uri as string,
      path: `/projects/${projectId}/endpoints/${body.endpoints[0].id}`,
    };
  }

  async function restart(path: string): Promise<void> {
    const { status, body } = await server.api("POST", `${path}/restart`);
    expect(status, JSON.stringify(body)).toBe(200);
  }

  /** Also the role that hostile code has created. */
  async function superusers(client: pg.Client): Promise<string[]> {
    const { rows } = await client.query(
      `select rolname from pg_roles where (rolsuper and rolname !~ '^pg_') or rolname = '${TRACE}' order by 1`,
    );
    return rows.map(({ rolname }) => rolname);
  }

  describe("a schema-only branch runs no code of its parent with other rights", () => {
    const trigger = hostile("f() returns trigger", "null");
    const plants: Record<string, readonly string[]> = {
      "a trigger": [trigger, "create trigger tr before truncate on t execute function f()"],
      "a trigger that always fires": [
        trigger,
        "create trigger tr after truncate on t execute function f()",
        "alter table t enable always trigger tr",
      ],
      "a trigger of replicas": [
        trigger,
        "create trigger tr before truncate on t execute function f()",
        "alter table t enable replica trigger tr",
      ],
      "a function that hides format": [
        hostile("public.format(text, name, name) returns text", "pg_catalog.format($1, $2, $3)"),
        hostile("public.quote_ident(name) returns text", "pg_catalog.quote_ident($1)"),
      ],
      "settings of the database": [
        hostile("public.format(text, name, name) returns text", "pg_catalog.format($1, $2, $3)"),
        "alter database neondb set search_path = public, pg_catalog",
        "alter database neondb set role = neondb_owner",
        "alter database neondb set default_transaction_read_only = on",
        "alter database neondb set standard_conforming_strings = off",
      ],
      "indexes and a materialized view": [
        hostile("g(int) returns int immutable", "1"),
        "create index on t (g(x)) where g(1) = 1",
        "create materialized view m as select 1 as x",
        "create unique index on m (g(x))",
        "create statistics st on g(x), x from t",
        "analyze t",
      ],
    };
    test.each(Object.keys(plants))("%s", async (name) => {
      const parent = await newBranch();
      const client = await connect(parent.uri);
      await runAll(client, "create table t (x int)", "insert into t values (1)", ...(plants[name] ?? []));
      const copy = await connect((await createSchemaOnly(parent)).uri);
      expect(await superusers(copy)).toEqual(["cloud_admin"]);
      expect((await copy.query("select * from public.t")).rows).toEqual([]);
      const triggers = "select tgname, tgenabled from pg_trigger where not tgisinternal";
      expect((await copy.query(triggers)).rows).toEqual((await client.query(triggers)).rows);
    });
  });

  test("nothing of a schema-only branch tells about the rows of its parent", async () => {
    const parent = await newBranch();
    const client = await connect(parent.uri);
    const secret = "hidden in the parent";
    await runAll(
      client,
      `create table t as select '${secret}'::text as x from generate_series(1, 100)`,
      "analyze t",
      "create materialized view m as select * from t",
      `alter table t add y text default '${secret}'`,
      "alter table t alter y drop default",
      "create sequence s",
      `select nextval('s'), lo_from_bytea(0, '${secret}')`,
      // The rows of a template would stay if it was not found.
      "alter database neondb is_template true",
    );
    const statistics = "select most_common_vals::text as values from pg_stats where tablename = 't'";
    expect((await client.query(statistics)).rows[0].values).toContain(secret);
    const copy = await connect((await createSchemaOnly(parent)).uri);
    expect((await copy.query("select * from t")).rows).toEqual([]);
    expect((await copy.query(statistics)).rows).toEqual([]);
    const added = "select attmissingval from pg_attribute where attmissingval is not null";
    expect((await client.query(added)).rows).toHaveLength(1);
    expect((await copy.query(added)).rows).toEqual([]);
    expect((await copy.query("select * from pg_largeobject_metadata")).rows).toEqual([]);
    expect((await copy.query("select is_called from s")).rows).toEqual([{ is_called: false }]);
    await expect(copy.query("select * from m")).rejects.toMatchObject({ code: "55000" });
    // Neither do its files and its log, which clients can read with the replication protocol.
    const { rows } = await copy.query("select current_setting('data_directory') as path");
    const found = spawnSync("grep", ["-rl", secret, dirname(rows[0].path)], { encoding: "utf8" });
    expect(found.stdout).toBe("");
    const inParent = await client.query("select current_setting('data_directory') as path");
    expect(spawnSync("grep", ["-rlq", secret, dirname(inParent.rows[0].path)]).status).toBe(0);
  });

  test("a type of a temporary schema is not used with other rights", async () => {
    const client = await connect((await newBranch()).uri);
    await client.query("create extension platform");
    await runAll(
      client,
      hostile("pg_temp.check_it(text) returns boolean", "true"),
      "create domain pg_temp.json as text check (pg_temp.check_it(value))",
      "select * from platform_stat_file_cache",
    );
    expect(await superusers(client)).toEqual(["cloud_admin"]);
  });

  test.each(["pg_execute_server_program", "pg_read_server_files", "pg_write_server_files", "cloud_admin"])(
    "no role can grant %s",
    async (role) => {
      const client = await connect((await newBranch()).uri);
      await expect(client.query(`grant ${role} to neondb_owner`)).rejects.toMatchObject({ code: "42501" });
      await expect(client.query("copy (select 1) to program 'true'")).rejects.toMatchObject({
        code: "42501",
      });
    },
  );

  test("what standin stores in a cluster cannot be written by its clients", async () => {
    const branch = await newBranch();
    const client = await connect(branch.uri);
    await expect(client.query("comment on role cloud_admin is 'mine'")).rejects.toMatchObject({
      code: "42501",
    });
    const { rows } = await client.query(
      "select count(*)::int as n from pg_namespace where nspname ~ 'standin'",
    );
    expect(rows).toEqual([{ n: 0 }]);
    const stored = await client.query(
      "select shobj_description(oid, 'pg_authid') as content from pg_roles where rolname = 'cloud_admin'",
    );
    expect(stored.rows[0].content).toContain("neondb_owner");
    expect(stored.rows[0].content).not.toContain("SCRAM");
  });

  test("a compute starts whatever its clients did to the roles and databases of the platform", async () => {
    const branch = await newBranch();
    const client = await connect(branch.uri);
    await runAll(
      client,
      "create database other",
      "alter database other is_template true",
      "alter database other allow_connections false",
      "create role helper login password 'helper-password'",
      "create table owned (x int)",
      "grant all on owned to helper",
      "create database closed",
      "alter database closed allow_connections false",
      "alter database neondb set statement_timeout = 1",
      "alter database neondb set default_transaction_read_only = on",
      "create database standin_spare",
      // Both are refused in some versions.
      "drop role platform_superuser",
      "alter role platform_superuser rename to mine",
    ).catch((error) => expect(error.code).toMatch(/^(?:42501|42P04|2BP01|42704)$/));
    const { projectId, branchId } = branch;
    const path = `/projects/${projectId}/branches/${branchId}`;
    await expect
      .poll(async () =>
        (await server.api("GET", `${path}/roles`)).body.roles.map((role: { name: string }) => role.name),
      )
      .toContain("helper");
    for (const [method, rest, body] of [
      ["DELETE", "/roles/helper", undefined],
      ["DELETE", "/databases/other", undefined],
      ["POST", "/roles", { role: { name: "late" } }],
      ["POST", "/databases", { database: { name: "late", owner_name: "late" } }],
    ] as const) {
      const { status, body: answer } = await server.api(method, path + rest, body);
      expect(status, `${method} ${rest}: ${JSON.stringify(answer)}`).toBeLessThan(300);
    }
    await restart(branch.path);
    const again = await connect(branch.uri);
    // The role's own timeout may end this statement as well.
    await expect
      .poll(() => again.query("set statement_timeout = 0").catch(() => undefined))
      .toMatchObject({ command: "SET" });
    const { rows } = await again.query("select datname from pg_database where datname in ('other', 'late')");
    expect(rows).toEqual([{ datname: "late" }]);
    expect((await again.query("select 1 from pg_roles where rolname = 'helper'")).rows).toEqual([]);
    expect(
      (await again.query("select 1 from pg_roles where rolname = 'platform_superuser'")).rows,
    ).toHaveLength(1);
  });

  test("a lock that a client holds blocks neither other clients nor the world, and the change follows", async () => {
    const branch = await newBranch();
    const client = await connect(branch.uri);
    await runAll(client, "begin", "create role locked");
    const path = `/projects/${branch.projectId}/branches/${branch.branchId}`;
    expect((await server.api("POST", `${path}/roles`, { role: { name: "locked" } })).status).toBe(201);
    expect((await server.api("POST", `${path}/roles`, { role: { name: "later" } })).status).toBe(201);
    const other = await connect(branch.uri);
    expect((await other.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await client.query("rollback");
    const roles = "select rolname from pg_roles where rolname in ('locked', 'later') order by 1";
    await expect
      .poll(async () => (await other.query(roles)).rows)
      .toEqual([{ rolname: "later" }, { rolname: "locked" }]);
  });

  test("databases may exchange their names, also while clients are connected", async () => {
    const branch = await newBranch();
    const client = await connect(branch.uri);
    await runAll(client, "create database second", "create table first_table (x int)");
    const path = `/projects/${branch.projectId}/branches/${branch.branchId}/databases`;
    await expect.poll(async () => (await server.api("GET", `${path}/second`)).status).toBe(200);
    await client.end();
    expect((await server.api("POST", `${branch.path}/suspend`)).status).toBe(200);
    for (const [from, to] of [
      ["neondb", "between"],
      ["second", "neondb"],
      ["between", "second"],
    ])
      expect((await server.api("PATCH", `${path}/${from}`, { database: { name: to } })).status).toBe(200);
    const again = await connect(branch.uri.replace("/neondb?", "/second?"));
    expect((await again.query("select count(*)::int as rows from first_table")).rows).toEqual([{ rows: 0 }]);
    expect((await server.api("PATCH", `${path}/second`, { database: { name: "third" } })).status).toBe(200);
    const renamed = branch.uri.replace("/neondb?", "/third?");
    await expect
      .poll(async () => {
        const last = await connect(renamed).catch(() => undefined);
        return (await last?.query("select count(*)::int as rows from first_table"))?.rows;
      })
      .toEqual([{ rows: 0 }]);
  });

  test("a role whose name is no UTF-8 does not prevent the start", async () => {
    const branch = await newBranch();
    const client = await connect(branch.uri);
    await client.query("create database ascii encoding 'SQL_ASCII' locale 'C' template template0");
    const other = await connect(branch.uri.replace("/neondb?", "/ascii?"));
    await other.query(`do $$ begin execute E'create role "r\\xff" login'; end $$`);
    await restart(branch.path);
    expect((await (await connect(branch.uri)).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    const { body } = await server.api(
      "GET",
      `/projects/${branch.projectId}/branches/${branch.branchId}/roles`,
    );
    expect(body.roles.map(({ name }: { name: string }) => name)).toEqual(["neondb_owner"]);
  });

  test("replication connections of clients leave those that standin needs", async () => {
    const branch = await newBranch();
    await connect(branch.uri);
    for (let count = 0; count < 10; count += 1) await connect(branch.uri, { replication: "true" });
    await expect(connect(branch.uri, { replication: "true" })).rejects.toMatchObject({ code: "53300" });
    const client = await connect(branch.uri);
    expect((await client.query("show max_slot_wal_keep_size")).rows).toEqual([
      { max_slot_wal_keep_size: "256MB" },
    ]);
    const path = `/projects/${branch.projectId}/branches/${branch.branchId}/roles`;
    await server.api("POST", path, { role: { name: "afterwards" } });
    await expect
      .poll(
        async () => (await client.query("select 1 from pg_roles where rolname = 'afterwards'")).rows.length,
      )
      .toBe(1);
  });

  test.runIf(existsSync("/proc/self"))("a crash does not write statements to the log", async () => {
    const branch = await newBranch();
    const client = await connect(branch.uri);
    await client.query("do $$ begin raise log 'planted-secret-one'; end $$");
    const { rows } = await client.query("select pg_backend_pid() as pid");
    const failing = client.query("create role x password 'planted-secret-two'; select pg_sleep(600)");
    failing.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 500));
    process.kill(rows[0].pid, "SIGKILL");
    await expect(failing).rejects.toThrow();
    await expect
      .poll(async () =>
        (await connect(branch.uri)).query("select 1").then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect(server.stderr()).not.toContain("planted-secret");
    expect(server.stderr()).not.toContain("SCRAM-SHA-256");
  });

  test.each(["platform_superuser", "neon_superuser", "pg_mine"])("%s is a reserved name", async (name) => {
    const branch = await newBranch();
    const path = `/projects/${branch.projectId}/branches/${branch.branchId}/roles`;
    expect((await server.api("POST", path, { role: { name } })).status).toBe(422);
  });
});
