import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import { findDumpPrograms } from "../../src/postgres/upgrade/dump-programs.ts";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
  type TestBranch,
} from "../support/postgres/postgres.ts";
import { runStandin } from "../support/process/in-process-command.ts";
import { spawnStandin } from "../support/process/process.ts";

const installations = await findInstallations(undefined, engineUser());
const [older, newer] = [installations[0], installations.at(-1)];
const from = older?.version ?? 0;
const to = newer?.version ?? 0;
const canUpgrade =
  from < to &&
  (await findDumpPrograms(installations, engineUser(), from, to).then(
    () => true,
    () => false,
  ));
const isRequired = process.env["STANDIN_TEST_PROGRAMS"] === "required";

/** What clients of a hosted branch create. */
const CONTENT = `
  create table parents (id serial primary key, name text unique not null check (length(name) < 100));
  insert into parents (name) select 'parent ' || n from generate_series(1, 1000) n;
  create table children (id bigint generated always as identity primary key, parent int references parents,
    doubled int generated always as (parent * 2) stored) partition by hash (id);
  create table children_0 partition of children for values with (modulus 2, remainder 0);
  create table children_1 partition of children for values with (modulus 2, remainder 1);
  insert into children (parent) select 1 + n % 1000 from generate_series(1, 500) n;
  create sequence tickets start 100 increment 7; select nextval('tickets'), nextval('tickets');
  create extension pg_stat_statements; create extension citext; create schema "odd 'schema";
  create table "odd 'schema"."Mixed" (value citext, body jsonb); insert into "odd 'schema"."Mixed" values ('A', '{"a":1}');
  create view totals as select count(*) from children;
  create materialized view names as select name from parents with data;
  create function twice(int) returns int language sql immutable as 'select $1 * 2';
  create index on parents (twice(id));
  create function stamp() returns trigger language plpgsql as $$ begin new.name = lower(new.name); return new; end $$;
  create trigger stamps before insert on parents for each row execute function stamp();
  alter table parents enable row level security; create policy all_rows on parents using (true);
  create publication news for table parents;
  select lo_from_bytea(4711, 'large');
  create role reader login password 'reader-secret' connection limit 5;
  grant usage on schema public to reader; grant select on parents to reader;
  alter role reader set search_path = "odd 'schema", public; alter role reader set statement_timeout = '7s';
  alter database neondb set work_mem = '7MB'; create role team; grant team to reader with admin option;
  alter default privileges in schema public grant select on tables to reader`;

/** Statements that must be sent alone. */
const PUBLICATIONS = [
  "create publication everything for all tables",
  "create publication own for tables in schema public",
];

async function serverWithData(): Promise<{ server: PostgresServer; branch: TestBranch }> {
  const server = await startPostgresServer([
    ...["--engine-bin", older?.binDirectory ?? ""],
    ...["--operations", "immediate", "--clock", "manual"],
  ]);
  const branch = await createBranch(server, { pg_version: from });
  const client = await connect(branch.uri);
  for (const statement of [CONTENT, ...PUBLICATIONS]) await client.query(statement);
  await client.end();
  return { server, branch };
}

const QUESTIONS = [
  "select count(*), sum(id) from parents",
  "select count(*), sum(parent), sum(doubled) from children",
  "select last_value, is_called from tickets",
  `select value = 'a' as same, body from "odd 'schema"."Mixed"`,
  "select * from totals",
  "select count(*) from names",
  "select extname from pg_extension order by 1",
  "select lo_get(4711)",
  "show work_mem",
  "select rolname, rolconnlimit, rolcanlogin, rolbypassrls, rolconfig from pg_roles where rolname !~ '^(pg_|cloud)' order by 1",
  `select roleid::regrole, member::regrole, bool_or(admin_option) from pg_auth_members
     where member::regrole::text in ('reader', 'neondb_owner') group by 1, 2 order by 1, 2`,
  `select relname, relowner::regrole, relkind from pg_class join pg_namespace n on n.oid = relnamespace
     where nspname in ('public', 'odd ''schema') and relname !~ 'pg_stat' order by 1`,
  "select has_table_privilege('reader', 'parents', 'select') as can, has_table_privilege('reader', 'children', 'select') as cannot",
  "select defaclacl::text ~ 'reader=r' as has_default from pg_default_acl",
  "select pubname, tablename from pg_publication_tables order by 1, 2",
  "select pubname, puballtables, pg_get_userbyid(pubowner) from pg_publication order by 1",
  "select extname, pg_get_userbyid(extowner) as owner from pg_extension where extname = 'citext'",
];

async function answersOf(uri: string): Promise<unknown[]> {
  const client = await connect(uri);
  const answers: unknown[] = [];
  for (const question of QUESTIONS) answers.push((await client.query(question)).rows);
  await client.end();
  return answers;
}

async function versionAt(uri: string): Promise<number> {
  const client = await connect(uri);
  const { rows } = await client.query("show server_version_num");
  await client.end();
  return Math.floor(rows[0].server_version_num / 10_000);
}

const withPort = (uri: string, port: number) => uri.replace(/:\d+\/neondb/, `:${port}/neondb`);

describe.skipIf(!canUpgrade && !isRequired)("standin engines upgrade", () => {
  test("carries tables, sequences, roles with passwords and extensions to a newer version", async () => {
    const { server, branch } = await serverWithData();
    onTestFinished(() => server.end());
    const before = await answersOf(branch.uri);
    const upgrade = ["engines", "upgrade", String(to), "--data", server.data];
    expect(await runStandin(upgrade)).toMatchObject({ code: 1, stderr: expect.stringContaining("in use") });
    await server.kill("SIGTERM");
    const upgraded = await runStandin([...upgrade, "--json"]);
    expect(upgraded.stderr).not.toContain("failed");
    expect(upgraded.stderr).toContain("comparing roles, objects, rows and sequences");
    expect(JSON.parse(upgraded.stdout)).toMatchObject({
      branches: [{ from, to, result: "upgraded", left: [] }],
    });
    expect(upgraded.code).toBe(0);
    const both = await startPostgresServer([], server.data);
    onTestFinished(() => both.end());
    const uri = withPort(branch.uri, both.pgPort);
    expect(await versionAt(uri)).toBe(to);
    expect(await answersOf(uri)).toEqual(before);
    const reader = uri.replace(/\/\/[^@]*@/, "//reader:reader-secret@");
    const client = await connect(reader);
    expect((await client.query("show search_path")).rows).toEqual([{ search_path: `"odd 'schema", public` }]);
    await client.end();
  });

  test("a kill after each step leaves all of the old data or all of the new", {
    timeout: 600_000,
  }, async () => {
    const { server, branch } = await serverWithData();
    onTestFinished(() => server.end());
    const before = await answersOf(branch.uri);
    await server.kill("SIGTERM");
    const upgrade = ["engines", "upgrade", String(to), "--data", server.data];
    const steps = [
      "copying the data",
      "copying roles",
      "copying database",
      "comparing",
      "syncing",
      "replacing",
    ];
    for (const step of steps) {
      const command = spawnStandin(upgrade);
      command.process.stderr?.on("data", () => {
        if (command.stderr().includes(step)) command.process.kill("SIGKILL");
      });
      await command.ended;
      expect(command.stderr()).toContain(step);
      const { stdout } = await runStandin([...upgrade, "--dry-run", "--json"]);
      const [{ from: version }] = JSON.parse(stdout).branches;
      // The last step is one transaction, which the kill may have followed.
      expect(step === "replacing" ? [from, to] : [from]).toContain(version);
      const opened = await startPostgresServer([], server.data);
      const uri = withPort(branch.uri, opened.pgPort);
      expect(await versionAt(uri)).toBe(version);
      expect(await answersOf(uri)).toEqual(before);
      await opened.kill("SIGTERM");
    }
    await runStandin(upgrade);
    const opened = await startPostgresServer([], server.data);
    onTestFinished(() => opened.end());
    const uri = withPort(branch.uri, opened.pgPort);
    expect(await versionAt(uri)).toBe(to);
    expect(await answersOf(uri)).toEqual(before);
    // What the kills have left is removed.
    await expect.poll(() => unfinishedIn(server.data), { timeout: 20_000 }).toEqual([]);
  });

  test("other branches, snapshots and points in time keep the former version", async () => {
    const { server, branch } = await serverWithData();
    onTestFinished(() => server.end());
    const { body } = await server.api("POST", `/projects/${branch.projectId}/branches`, {
      branch: { name: "child" },
      endpoints: [{ type: "read_write" }],
    });
    const child = body.branch.id;
    await server.kill("SIGTERM");
    const upgrade = ["engines", "upgrade", String(to), "--data", server.data, "--json"];
    expect(await runStandin([...upgrade, "--branch", "br-none"])).toMatchObject({
      code: 1,
      stderr: "standin: --branch br-none: the world has no such branch\n",
    });
    expect(await runStandin(["engines", "upgrade", "99", "--data", server.data])).toMatchObject({
      code: 1,
      stderr: 'standin: Postgres 99 is not installed; run "standin engines install 99"\n',
    });
    const first = await runStandin([...upgrade, "--branch", branch.branchId]);
    expect(JSON.parse(first.stdout).branches).toMatchObject([
      { branch_id: branch.branchId, result: "upgraded" },
    ]);
    const planned = await runStandin([...upgrade, "--dry-run"]);
    expect(JSON.parse(planned.stdout).branches).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ branch_id: branch.branchId, from: to, result: "same" }),
        expect.objectContaining({ branch_id: child, from, result: "planned" }),
      ]),
    );
    // The version of the project is older than the data.
    const back = await runStandin(["engines", "upgrade", "--data", server.data]);
    expect(back.code).toBe(0);
    expect(back.stdout).toContain("stays: data cannot be carried to an older version");
    const requested = [
      "engines",
      "upgrade",
      String(from),
      "--data",
      server.data,
      "--branch",
      branch.branchId,
    ];
    expect(await runStandin(requested)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("stays: data cannot be carried to an older version"),
      stderr: `standin: 1 of 1 branches cannot have version ${from}: data cannot be carried to an older version\n`,
    });
    const all = await runStandin(upgrade);
    expect(JSON.parse(all.stdout).branches).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ branch_id: child, from, to, result: "upgraded", tables: 4 }),
      ]),
    );
    expect(all.code).toBe(0);
  });

  test("code of clients in checks, indexes and generated columns gets no right that they do not have", async () => {
    const server = await startPostgresServer([
      ...["--engine-bin", older?.binDirectory ?? ""],
      ...["--operations", "immediate"],
    ]);
    onTestFinished(() => server.end());
    const branch = await createBranch(server, { pg_version: from });
    const client = await connect(branch.uri);
    await client.query(`create sequence seen_as_superuser;
      create function spy(int) returns boolean language plpgsql immutable as $$ begin
        if (select rolsuper from pg_roles where rolname = session_user) then
          execute 'create role escaped superuser'; end if; return true; end $$;
      create table watched (id int check (spy(id)), copy boolean generated always as (spy(id)) stored);
      create index on watched (spy(id)); insert into watched values (1);
      create materialized view seen as select spy(id) from watched;
      create domain spied as int check (spy(value)); create table domains (id spied); insert into domains values (1)`);
    // No client can connect any more.
    await client.query("create database closed");
    await client.query("alter database closed set local_preload_libraries = 'missing'");
    await client.query("alter database closed set statement_timeout = '1ms'");
    await client.end();
    await server.kill("SIGTERM");
    const upgraded = await runStandin(["engines", "upgrade", String(to), "--data", server.data]);
    expect(upgraded.stderr).not.toContain("failed");
    const both = await startPostgresServer([], server.data);
    onTestFinished(() => both.end());
    const reader = await connect(withPort(branch.uri, both.pgPort));
    const { rows } = await reader.query(
      "select rolname from pg_roles where rolname ~ 'escaped|standin_restore'",
    );
    expect(rows).toEqual([]);
  });
});

/** Directories of volumes that are not complete. */
function unfinishedIn(data: string): string[] {
  const root = join(data, "volumes");
  return readdirSync(root)
    .filter((name) => name !== "templates" && name !== "extension")
    .flatMap((history) => readdirSync(join(root, history)).map((name) => join(root, history, name)))
    .filter(
      (path) => /\/schema-/.test(path) || (/\/br-/.test(path) && !existsSync(join(path, "origin.json"))),
    );
}
