import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import {
  connect,
  createBranch,
  isMissing,
  majorVersionOf,
  type PostgresServer,
  runProgram,
  startPostgresServer,
} from "../support/postgres/postgres.ts";

const INSTALLATIONS = await findInstallations(undefined, engineUser());
const INSUFFICIENT_PRIVILEGE = "42501";
/** A function that counts, also in a transaction that fails, how often it runs with all rights, and is true. */
const HOSTILE = `create function hostile(text) returns boolean language plpgsql as $$
  begin
    if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
      perform pg_catalog.nextval('public.runs_with_all_rights');
    end if;
    return true;
  end $$`;

function inDatabase(uri: string, name: string): string {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  return url.href;
}

/**
 * Sends an extended query without a Sync, and a simple one. Both are one transaction. While it is committed, the text of the
 * client is still that of the second.
 */
function inOneTransaction(client: pg.Client, first: string, second: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    const ignore = () => undefined;
    const submittable = {
      submit(connection: Record<string, (...args: unknown[]) => void>) {
        connection["parse"]?.({ text: first, name: "", types: [] });
        connection["bind"]?.({ portal: "", statement: "", values: [] });
        connection["execute"]?.({ portal: "", rows: 0 });
        connection["query"]?.(second);
      },
      handleRowDescription: ignore,
      handleDataRow: ignore,
      handleCommandComplete: ignore,
      handleEmptyQuery: ignore,
      handlePortalSuspended: ignore,
      handleError(error: Error) {
        failure = error;
      },
      handleReadyForQuery() {
        if (failure === undefined) resolve();
        else reject(failure);
      },
    };
    client.query(submittable as unknown as pg.Submittable);
  });
}

describe.each(INSTALLATIONS)("with Postgres $version,", ({ binDirectory, version }) => {
  let server: PostgresServer;
  const hasSchemas = version >= 15;

  beforeAll(async () => {
    server = await startPostgresServer(["--operations", "immediate", "--engine-bin", binDirectory]);
  });
  afterAll(() => server.end());

  async function newOwner() {
    const branch = await createBranch(server, { settings: { enable_logical_replication: true } });
    const owner = await connect(branch.uri);
    await owner.query("create table words (word text)");
    await owner.query("create sequence runs_with_all_rights");
    return { branch, owner };
  }

  async function outcomeOf(client: pg.Client, sql: string): Promise<string> {
    return client.query(sql).then(
      () => "accepted",
      (error) => error.code as string,
    );
  }

  /** No role of clients is a superuser, nor was one while code of a client ran. */
  async function expectNoRights(client: pg.Client): Promise<void> {
    const superusers = "select rolname from pg_catalog.pg_roles where rolsuper and rolname !~ '^pg_'";
    expect((await client.query(superusers)).rows).toEqual([{ rolname: "cloud_admin" }]);
    expect((await client.query("select is_called from public.runs_with_all_rights")).rows).toEqual([
      { is_called: false },
    ]);
    expect(await outcomeOf(client, "copy (select 1) to program 'true'")).toBe(INSUFFICIENT_PRIVILEGE);
  }

  async function publicationsOf(client: pg.Client): Promise<string[]> {
    const { rows } = await client.query("select pubname from pg_publication order by 1");
    return rows.map(({ pubname }) => pubname);
  }

  const accepted = [
    "create publication a for all tables",
    'CREATE PUBLICATION "B""b" FOR ALL TABLES;',
    "\n create\tpublication c for all\n tables with (publish = 'insert, update', publish_via_partition_root)  ;\n",
    ...(hasSchemas
      ? [
          'create publication d for tables in schema public, "S ""x"', // Unquoted and quoted.
          "create publication e",
          "alter publication e add tables in schema public",
          'alter publication E set tables in schema "S ""x", current_schema;',
        ]
      : []),
  ];

  test("owners publish all tables and schemas, with one statement", async () => {
    const { owner } = await newOwner();
    await owner.query('create schema "S ""x"');
    for (const sql of accepted) expect([sql, await outcomeOf(owner, sql)]).toEqual([sql, "accepted"]);
    // The extended protocol, as drivers with parameters use it.
    await owner.query({ name: "named", text: "create publication f for all tables" });
    await expectNoRights(owner);
    const { rows } = await owner.query(
      "select distinct pg_get_userbyid(pubowner) as owner from pg_publication",
    );
    expect(rows).toEqual([{ owner: "neondb_owner" }]);
    const { rows: all } = await owner.query(
      "select tablename from pg_publication_tables where pubname = 'a'",
    );
    expect(all).toEqual([{ tablename: "words" }]);
    for (const name of await publicationsOf(owner))
      await owner.query(`drop publication "${name.replaceAll('"', '""')}"`);
  });

  test.each(["template0", "template1", "original"])(
    "also in a database that is a copy of %s",
    async (template) => {
      const { branch, owner } = await newOwner();
      await owner.query("create database original");
      await owner.query(`create database copy template ${template}`);
      const copy = await connect(inDatabase(branch.uri, "copy"));
      await copy.query("create sequence runs_with_all_rights");
      expect(await outcomeOf(copy, "create publication p for all tables")).toBe("accepted");
      await expectNoRights(copy);
    },
  );

  test("also within a transaction, whose statements after it have no other rights", async () => {
    const { owner } = await newOwner();
    await owner.query(HOSTILE);
    await owner.query("begin");
    await owner.query("create publication p for all tables");
    const { rows } = await owner.query("select rolsuper from pg_roles where rolname = current_user");
    expect(rows).toEqual([{ rolsuper: false }]);
    await owner.query("select hostile('')");
    await owner.query("savepoint s");
    expect(await outcomeOf(owner, "create publication p for all tables")).toBe("42710");
    await owner.query("rollback to s");
    await owner.query("select hostile('')");
    expect(await outcomeOf(owner, "copy (select 1) to program 'true'")).toBe(INSUFFICIENT_PRIVILEGE);
    await owner.query("rollback to s");
    await owner.query("commit");
    await expectNoRights(owner);
    expect(await publicationsOf(owner)).toEqual(["p"]);
  });

  test("a statement that is not alone, or that may run code of clients, has no other rights", async () => {
    const { owner } = await newOwner();
    await owner.query(HOSTILE);
    await owner.query("create domain checked as text check (hostile(value))");
    await owner.query("create type pair as (first checked, second int)");
    await owner.query("create table pairs (id pair)");
    await owner.query("create function run(text) returns void language plpgsql as 'begin execute $1; end'");
    await owner.query(
      "create function run_sql() returns void language sql as 'create publication p for all tables'",
    );
    const rejected = [
      "do 'begin create publication p for all tables; end'",
      "select run('create publication p for all tables')",
      "select run_sql()",
      "create publication p for all tables; select hostile('')",
      "select hostile(''); create publication p for all tables",
      "/* a comment */ create publication p for all tables",
      "create publication p for all tables -- a comment",
      "create publication p for all tables with (publish = e'insert')",
      "create publication p for all tables with (publish = 'insert\\')",
      ...(hasSchemas
        ? [
            "create publication p for tables in schema public, table pairs where ('(a,1)'::pair is not null)",
            "create publication p for table pairs where ('(a,1)'::pair is not null), tables in schema public",
            "create publication p for tables in schema public, tables in schema public",
          ]
        : []),
    ];
    for (const sql of rejected) {
      const outcome = await outcomeOf(owner, sql);
      expect([sql, outcome === "accepted"]).toEqual([sql, false]);
      await expectNoRights(owner);
    }
    await owner.query({ name: "named", text: "create publication p for all tables" });
    await owner.query("drop publication p");
    expect(await outcomeOf(owner, "execute named")).toBe(INSUFFICIENT_PRIVILEGE);
    expect(await publicationsOf(owner)).toEqual([]);
  });

  test("a rejected statement that is not alone says why", async () => {
    const { owner } = await newOwner();
    const notices: (string | undefined)[] = [];
    owner.on("notice", ({ message }) => notices.push(message));
    await outcomeOf(owner, "do 'begin create publication p for all tables; end'");
    expect(notices).toEqual(["FOR ALL TABLES and FOR TABLES IN SCHEMA need a statement that is sent alone"]);
  });

  test("a deferred trigger at the commit of the statement has no other rights", async () => {
    const { owner } = await newOwner();
    await owner.query(HOSTILE);
    await owner.query("create domain checked as text check (hostile(value))");
    await owner.query("create type pair as (first checked, second int)");
    await owner.query("create table pairs (id pair)");
    const nested = hasSchemas
      ? "create publication q for table pairs where (''(a,1)''::pair is not null), tables in schema public"
      : "create publication q for all tables";
    await owner.query(`create function f() returns trigger language plpgsql as $$
      begin
        begin execute '${nested}'; exception when others then insert into words values (sqlstate); end;
        return null;
      end $$`);
    await owner.query(
      "create constraint trigger t after insert on pairs deferrable initially deferred for each row execute function f()",
    );
    await inOneTransaction(
      owner,
      "insert into pairs values (null)",
      hasSchemas ? "create publication p for tables in schema public" : "create publication p for all tables",
    );
    expect(await publicationsOf(owner)).toEqual(["p"]);
    await owner.query("drop publication p");
    await owner.query("begin; insert into pairs values (null); set constraints all immediate; commit");
    expect((await owner.query("select word from words")).rows).toEqual(
      Array.from({ length: 2 }, () => ({ word: INSUFFICIENT_PRIVILEGE })),
    );
    await expectNoRights(owner);
  });

  test("roles that are not members of the group have no other rights, nor have owners over objects of others", async () => {
    const { branch, owner } = await newOwner();
    await owner.query("create role clerk");
    await owner.query("grant clerk to neondb_owner");
    await owner.query("grant create on database neondb to clerk");
    await owner.query("set role clerk");
    expect(await outcomeOf(owner, "create publication p for all tables")).toBe(INSUFFICIENT_PRIVILEGE);
    await owner.query("create publication of_clerk");
    await owner.query("reset role");
    await owner.query("create publication own for all tables");
    for (const role of ["clerk", "cloud_admin", '"clerk"', "current_user"])
      await outcomeOf(owner, `alter publication own owner to ${role}`);
    const { rows } = await owner.query(
      "select pg_get_userbyid(pubowner) as owner from pg_publication where pubname = 'own'",
    );
    expect(rows).toEqual([{ owner: "neondb_owner" }]);
    const role = await server.api("POST", `/projects/${branch.projectId}/branches/${branch.branchId}/roles`, {
      role: { name: "second" },
    });
    const uri = new URL(branch.uri);
    uri.username = "second";
    uri.password = role.body.role.password;
    const second = await connect(uri.href);
    // Only the owner of the database may create publications, until it grants the right.
    expect(await outcomeOf(second, "create publication q for all tables")).toBe(INSUFFICIENT_PRIVILEGE);
    await owner.query("grant create on database neondb to second");
    expect(await outcomeOf(second, "create publication q for all tables")).toBe("accepted");
    if (hasSchemas)
      expect(await outcomeOf(second, "alter publication of_clerk add tables in schema public")).toBe(
        INSUFFICIENT_PRIVILEGE,
      );
    expect(await outcomeOf(second, "alter publication own owner to second")).toBe(INSUFFICIENT_PRIVILEGE);
    await expectNoRights(second);
    // Since version 16, owners cannot grant roles that the API has created.
    if (version >= 16) return;
    await owner.query("grant second to neondb_owner");
    expect(await outcomeOf(owner, "alter publication own owner to second")).toBe("accepted");
    await expectNoRights(owner);
  });

  test("a name that looks like another part of the statement does not change what is checked", async () => {
    const { owner } = await newOwner();
    await owner.query("create role clerk");
    const names = ["p owner to neondb_owner", 'q"" owner to neondb_owner', "r owner to ", "publication s"];
    for (const name of names) {
      await owner.query(`create publication "${name}" for all tables`);
      for (const role of ["cloud_admin", '"cloud_admin"', "clerk", '"clerk"'])
        await outcomeOf(owner, `alter publication "${name}" owner to ${role}`);
    }
    const { rows } = await owner.query(
      "select distinct pg_get_userbyid(pubowner) as owner from pg_publication",
    );
    expect(rows).toEqual([{ owner: "neondb_owner" }]);
    await expectNoRights(owner);
  });

  test("names and settings of a client do not change what is checked", async () => {
    const { owner } = await newOwner();
    await owner.query(HOSTILE);
    for (const sql of [
      "create function public.current_query() returns text language sql as $$ select 'x' $$",
      "create function public.lower(text) returns text language plpgsql as 'begin perform hostile($1); return $1; end'",
      "create function public.strpos(text, text) returns int language plpgsql as 'begin perform hostile($1); return 0; end'",
      "create function pg_temp.has_database_privilege(oid, name, text) returns boolean language plpgsql as 'begin return public.hostile($3); end'",
      "create function public.eq(text, text) returns boolean language plpgsql as 'begin return public.hostile($2); end'",
      "create operator public.~* (function = public.eq, leftarg = text, rightarg = text)",
      "create domain pg_temp.oid as text check (public.hostile(value))",
      "create view pg_temp.pg_roles as select 1::oid as oid, current_user as rolname, public.hostile('') as rolsuper",
      "set search_path = pg_temp, public, pg_catalog",
      "set standard_conforming_strings = off",
    ])
      await owner.query(sql);
    expect(await outcomeOf(owner, "create publication p for all tables")).toBe("accepted");
    if (hasSchemas) await owner.query("create publication q");
    if (hasSchemas)
      expect(await outcomeOf(owner, "alter publication q add tables in schema public")).toBe("accepted");
    await expectNoRights(owner);
  });

  test.each([
    "alter event trigger standin_publication_end disable",
    "drop event trigger standin_publication_end",
    "drop event trigger standin_publication_start",
    "drop function pg_catalog.standin_publication_end() cascade",
    "alter function pg_catalog.standin_publication_end() reset all",
    "alter function pg_catalog.standin_publication_start() owner to neondb_owner",
    "alter extension plpgsql drop event trigger standin_publication_end",
    "drop extension plpgsql cascade",
    "set session_replication_role = replica",
    "create event trigger mine on ddl_command_end execute function pg_catalog.standin_publication_end()",
  ])("%s is rejected", async (sql) => {
    const { owner } = await newOwner();
    expect(await outcomeOf(owner, sql)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  describe.runIf(hasSchemas)("while the statement waits for a lock", () => {
    /** A statement that waits in the middle: another session is dropping its schema. */
    async function waiting(settings = "") {
      const { branch, owner } = await newOwner();
      const [holder, observer] = [await connect(branch.uri), await connect(branch.uri)];
      await owner.query("create schema s");
      await holder.query("begin");
      await holder.query("drop schema s");
      if (settings !== "") await owner.query(settings);
      const pid = (await owner.query("select pg_backend_pid() as pid")).rows[0].pid as number;
      const outcome = outcomeOf(owner, "create publication p for tables in schema s");
      const isWaiting = "select from pg_locks where pid = $1 and not granted";
      while ((await observer.query(isWaiting, [pid])).rowCount === 0) await sleep(10);
      return { branch, owner, holder, observer, pid, outcome };
    }

    test("other sessions of the role have no other rights, and create others after it", async () => {
      const { owner, holder, observer, outcome } = await waiting();
      await expectNoRights(observer);
      const second = outcomeOf(observer, "create publication q for all tables");
      await holder.query("rollback");
      expect(await outcome).toBe("accepted");
      expect(await second).toBe("accepted");
      await expectNoRights(owner);
      await expectNoRights(observer);
    });

    test("a cancelled statement leaves no rights", async () => {
      const { owner, observer, pid, outcome } = await waiting();
      await observer.query("select pg_cancel_backend($1)", [pid]);
      expect(await outcome).toBe("57014");
      await expectNoRights(owner);
    });

    test("a timeout leaves no rights, nor does an error within a transaction", async () => {
      const { owner, outcome } = await waiting("begin; savepoint s; set local statement_timeout = '2s'");
      expect(await outcome).toBe("57014");
      await owner.query("rollback to s");
      expect(await outcomeOf(owner, "copy (select 1) to program 'true'")).toBe(INSUFFICIENT_PRIVILEGE);
      await owner.query("rollback to s");
      await owner.query("commit");
      await expectNoRights(owner);
    });

    test("a kill of its process leaves no rights", async () => {
      const { branch, pid, outcome } = await waiting();
      process.kill(pid, "SIGKILL");
      expect(await outcome).not.toBe("accepted");
      let after: pg.Client | undefined;
      while (after === undefined)
        after = await connect(branch.uri).catch(() => sleep(50).then(() => undefined));
      await expectNoRights(after);
      expect(await publicationsOf(after)).toEqual([]);
    });
  });

  test("an open transaction lets only other statements of this kind wait", async () => {
    const { branch, owner } = await newOwner();
    const other = await connect(branch.uri);
    await owner.query("begin");
    await owner.query("create publication p for all tables");
    await other.query("create publication q for table words");
    await other.query("set lock_timeout = '100ms'");
    expect(await outcomeOf(other, "create publication r for all tables")).toBe("55P03");
    expect(await outcomeOf(owner, "prepare transaction 'mine'")).toBe("55000");
    await owner.query("rollback");
    expect(await outcomeOf(other, "create publication r for all tables")).toBe("accepted");
    await expectNoRights(other);
  });

  test("a read replica rejects it", async () => {
    const { branch, owner } = await newOwner();
    await owner.query("create publication p for all tables");
    const { body } = await server.api("POST", `/projects/${branch.projectId}/endpoints`, {
      endpoint: { branch_id: branch.branchId, type: "read_only" },
    });
    const query = `endpoint_id=${body.endpoint.id}&database_name=neondb&role_name=neondb_owner`;
    const uri = await server.api("GET", `/projects/${branch.projectId}/connection_uri?${query}`);
    const replica = await connect(uri.body.uri);
    expect(await outcomeOf(replica, "create publication q for all tables")).toBe("25006");
    await expectNoRights(replica);
  });

  test.skipIf(isMissing("pg_dump") || (majorVersionOf("pg_dump") ?? 0) < version)(
    "a dump of the database has the publications, and nothing of standin",
    async () => {
      const { branch, owner } = await newOwner();
      await owner.query("create publication a for all tables");
      if (hasSchemas) await owner.query("create publication b for tables in schema public");
      const dump = await runProgram("pg_dump", ["--create", branch.uri]);
      expect(dump.stderr).toBe("");
      expect(dump.stdout).not.toMatch(/standin|event trigger/i);
      await owner.query("create database target");
      const uri = inDatabase(branch.uri, "target");
      const plain = await runProgram("pg_dump", [branch.uri]);
      const restored = await runProgram("psql", ["-v", "ON_ERROR_STOP=1", "-qX", uri], plain.stdout);
      expect(restored.stderr).toBe("");
      expect(await publicationsOf(await connect(uri))).toEqual(hasSchemas ? ["a", "b"] : ["a"]);
    },
  );
});
