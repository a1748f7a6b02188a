import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import {
  connect,
  createBranch,
  letSuspend,
  type PostgresServer,
  startPostgresServer,
  stateOf,
  type TestBranch,
} from "../support/postgres/postgres.ts";
import { runStandin } from "../support/process/in-process-command.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { testDirectory } from "../support/server/running-server.ts";

const INSTALLATIONS = await findInstallations(undefined, engineUser());
const SUBSCRIBERS = INSTALLATIONS.filter(({ version }) => version >= 16 && version <= 18);
const INSUFFICIENT_PRIVILEGE = "42501";
const SETTINGS = { settings: { enable_logical_replication: true } };
const ARGS = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--operations", "immediate"];
/** Workers are started after at most 5 seconds. */
const PATIENT = { timeout: 20_000 };

describe.each(SUBSCRIBERS)("with Postgres $version,", ({ binDirectory }) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgresServer([...ARGS, "--engine-bin", binDirectory]);
  });
  afterAll(() => server.end());

  /** A connection string of libpq that names the compute by an option. */
  function connectionString({ uri, password }: TestBranch): string {
    const endpoint = new URL(uri).searchParams.get("options");
    return `host=127.0.0.1 port=${server.pgPort} user=neondb_owner password=${password} dbname=neondb options=${endpoint} sslmode=require`;
  }

  async function withWords(settings = {}) {
    const branch = await createBranch(server, settings);
    const owner = await connect(branch.uri);
    await owner.query("create table words (id int primary key, word text)");
    return { branch, owner };
  }

  /** A subscriber of all changes of a publisher. */
  async function subscribed() {
    const publisher = await withWords(SETTINGS);
    // It needs no logical log.
    const subscriber = await withWords();
    await publisher.owner.query(
      "create publication p for table words; insert into words values (1, 'before')",
    );
    await subscriber.owner.query(
      `create subscription s connection '${connectionString(publisher.branch)}' publication p`,
    );
    return { publisher, subscriber };
  }

  const wordsOf = (client: pg.Client) => async () =>
    (await client.query("select word from words order by id")).rows.map(({ word }) => word);

  test("a branch receives the changes of another one", async () => {
    const { publisher, subscriber } = await subscribed();
    await publisher.owner.query("insert into words values (2, 'two'), (3, 'three')");
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before", "two", "three"]);
    await publisher.owner.query(
      "update words set word = 'zwei' where id = 2; delete from words where id = 3",
    );
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before", "zwei"]);
    await subscriber.owner.query("drop subscription s");
    expect((await publisher.owner.query("select from pg_replication_slots")).rowCount).toBe(0);
  });

  async function subscriptionsOf(client: pg.Client): Promise<unknown[]> {
    return (await client.query("select subname, subenabled from pg_subscription")).rows;
  }

  async function branchOf(branch: TestBranch, start = {}): Promise<TestBranch & { readonly id: string }> {
    const project = `/projects/${branch.projectId}`;
    const { body } = await server.api("POST", `${project}/branches`, {
      branch: { parent_id: branch.branchId, ...start },
      endpoints: [{ type: "read_write" }],
    });
    const query = `branch_id=${body.branch.id}&database_name=neondb&role_name=neondb_owner`;
    const { uri } = (await server.api("GET", `${project}/connection_uri?${query}`)).body;
    const path = `/projects/${branch.projectId}/endpoints/${body.endpoints[0].id}` as const;
    return { ...branch, id: body.branch.id, branchId: body.branch.id, uri, path };
  }

  test("a subscription keeps its compute active, and after a suspend its worker catches up", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    await subscriber.owner.end();
    await server.sim("POST", "/clock/advance", { by: "1h" });
    expect(await stateOf(server, subscriber.branch)).toBe("active");
    expect(await stateOf(server, publisher.branch)).toBe("active");
    await server.api("POST", `${subscriber.branch.path}/suspend`);
    expect(await stateOf(server, subscriber.branch)).toBe("idle");
    await publisher.owner.query("insert into words values (2, 'later')");
    const woken = await connect(subscriber.branch.uri);
    await expect.poll(wordsOf(woken), PATIENT).toEqual(["before", "later"]);
    await server.sim("POST", "/clock/advance", { by: "1h" });
    expect(await stateOf(server, subscriber.branch)).toBe("active");
    await woken.query("alter subscription s disable");
    await woken.end();
    await letSuspend(server, subscriber.branch);
  });

  /** Runs a test on a server of its own, whose clock runs 60 times as fast. */
  async function onRunningClock(work: () => Promise<void>) {
    const shared = server;
    try {
      server = await startPostgresServer(["--operations", "immediate", "--engine-bin", binDirectory]);
      await server.sim("PUT", "/clock", { mode: "scaled", factor: 60 });
      await work();
    } finally {
      if (server !== shared) await server.end();
      server = shared;
    }
  }

  test("what workers write is marked and measured without work of a client", async () => {
    await onRunningClock(async () => {
      const { publisher, subscriber } = await subscribed();
      await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
      await subscriber.owner.end();
      const { branchId, projectId } = subscriber.branch;
      const writtenBytes = async () =>
        (await server.api("GET", `/projects/${projectId}/branches/${branchId}`)).body.branch
          .written_data_bytes;
      const before = await writtenBytes();
      await publisher.owner.query(
        "insert into words select 2, string_agg(md5(n::text), '') from generate_series(1, 50000) n",
      );
      await expect.poll(writtenBytes, PATIENT).toBeGreaterThan(before + 800_000);
      const { now } = (await server.sim("GET", "/clock")).body;
      await publisher.owner.query("insert into words values (3, 'three')");
      const woken = await connect(subscriber.branch.uri);
      const ids = (client: pg.Client) => async () =>
        (await client.query("select id from words order by id")).rows.map(({ id }) => id);
      await expect.poll(ids(woken), PATIENT).toEqual([1, 2, 3]);
      const child = await connect((await branchOf(subscriber.branch, { parent_timestamp: now })).uri);
      expect(await ids(child)()).toEqual([1, 2]);
    });
  });

  test("a subscription keeps its compute active from the start of Postgres on, however fast the clock runs", async () => {
    await onRunningClock(async () => {
      const { subscriber } = await subscribed();
      await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
      await subscriber.owner.end();
      await server.api("POST", `${subscriber.branch.path}/suspend`);
      await server.sim("PUT", "/clock", { mode: "scaled", factor: 5_000 });
      await (await connect(subscriber.branch.uri)).end();
      const { now } = (await server.sim("GET", "/clock")).body;
      const passedMinutes = async () =>
        (Date.parse((await server.sim("GET", "/clock")).body.now) - Date.parse(now)) / 60_000;
      await expect.poll(passedMinutes, PATIENT).toBeGreaterThan(30);
      expect(await stateOf(server, subscriber.branch)).toBe("active");
    });
  });

  test("a subscriber wakes a suspended publisher", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    await server.api("POST", `${publisher.branch.path}/suspend`);
    await expect.poll(() => stateOf(server, publisher.branch), PATIENT).toBe("active");
    const owner = await connect(publisher.branch.uri);
    await owner.query("insert into words values (2, 'after')");
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before", "after"]);
  });

  test("a branch of a subscriber has its rows, and none of its subscriptions; its own ones work", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    const branch = await branchOf(subscriber.branch);
    const child = await connect(branch.uri);
    expect(await wordsOf(child)()).toEqual(["before"]);
    expect(await subscriptionsOf(child)).toEqual([]);
    expect((await child.query("select from pg_subscription_rel")).rowCount).toBe(0);
    expect((await child.query("select from pg_replication_origin")).rowCount).toBe(0);
    await publisher.owner.query("insert into words values (2, 'two')");
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before", "two"]);
    expect(await wordsOf(child)()).toEqual(["before"]);
    expect(await subscriptionsOf(subscriber.owner)).toEqual([{ subname: "s", subenabled: true }]);
    // Before its first restart, too.
    await child.query("truncate words");
    const connection = connectionString(publisher.branch);
    await child.query(`create subscription t connection '${connection}' publication p`);
    await expect.poll(wordsOf(child), PATIENT).toEqual(["before", "two"]);
    expect(
      (await publisher.owner.query("select slot_name from pg_replication_slots order by 1")).rows,
    ).toEqual([{ slot_name: "s" }, { slot_name: "t" }]);
  });

  test("a restored subscriber has no subscriptions", async () => {
    const { subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    const { body } = await server.sim("POST", "/clock/advance", { by: "1m" });
    await server.sim("POST", "/clock/advance", { by: "1m" });
    const { branchId, projectId } = subscriber.branch;
    const restored = await server.api("POST", `/projects/${projectId}/branches/${branchId}/restore`, {
      source_branch_id: branchId,
      source_timestamp: body.now,
      preserve_under_name: "before",
    });
    expect(restored.status).toBe(200);
    const owner = await connect(subscriber.branch.uri);
    expect(await wordsOf(owner)()).toEqual(["before"]);
    expect(await subscriptionsOf(owner)).toEqual([]);
  });

  test("an imported copy of a subscriber has no subscriptions, and the original continues", async () => {
    const directory = temporaryDirectory();
    const copyDirectory = temporaryDirectory();
    onTestFinished(() => {
      directory.remove();
      copyDirectory.remove();
    });
    const args = [...ARGS, "--engine-bin", binDirectory];
    const shared = server;
    let copy: PostgresServer | undefined;
    try {
      server = await startPostgresServer(args, directory.path);
      const { publisher, subscriber } = await subscribed();
      await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
      await server.kill("SIGTERM");
      const out = join(testDirectory(), "subscriber.sqlite");
      const exported = await runStandin(["export", directory.path, "--with-data", "--out", out]);
      expect([exported.code, exported.stderr]).toEqual([0, expect.anything()]);
      const imported = await runStandin(["import", out, "--with-data", "--data", copyDirectory.path]);
      expect(imported.code).toBe(0);
      server = await startPostgresServer(args, directory.path, server.pgPort);
      copy = await startPostgresServer([...args, "--api-key", "key-of-the-copy"], copyDirectory.path);
      const { branchId, projectId } = subscriber.branch;
      const role = `/projects/${projectId}/branches/${branchId}/roles/neondb_owner`;
      expect((await copy.api("POST", `${role}/reset_password`)).status).toBe(200);
      const query = `branch_id=${branchId}&database_name=neondb&role_name=neondb_owner`;
      const ofCopy = await connect(
        (await copy.api("GET", `/projects/${projectId}/connection_uri?${query}`)).body.uri,
      );
      expect(await wordsOf(ofCopy)()).toEqual(["before"]);
      expect(await subscriptionsOf(ofCopy)).toEqual([]);
      await (await connect(publisher.branch.uri)).query("insert into words values (2, 'two')");
      const original = await connect(subscriber.branch.uri);
      await expect.poll(wordsOf(original), PATIENT).toEqual(["before", "two"]);
      expect(await wordsOf(ofCopy)()).toEqual(["before"]);
    } finally {
      await copy?.kill("SIGTERM");
      await server.kill("SIGTERM");
      server = shared;
    }
  });

  test("a replica without a primary compute runs no workers, and suspends", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    await subscriber.owner.end();
    const { branchId, projectId, path } = subscriber.branch;
    const { body } = await server.api("POST", `/projects/${projectId}/endpoints`, {
      endpoint: { branch_id: branchId, type: "read_only" },
    });
    await server.api("DELETE", path);
    const replica = { path: `/projects/${projectId}/endpoints/${body.endpoint.id}` } as const;
    const query = `branch_id=${branchId}&database_name=neondb&role_name=neondb_owner&endpoint_id=${body.endpoint.id}`;
    const reader = await connect(
      (await server.api("GET", `/projects/${projectId}/connection_uri?${query}`)).body.uri,
    );
    expect(await wordsOf(reader)()).toEqual(["before"]);
    expect(await subscriptionsOf(reader)).toEqual([{ subname: "s", subenabled: true }]);
    const slots = async () => (await publisher.owner.query("select active from pg_replication_slots")).rows;
    await expect.poll(slots, PATIENT).toEqual([{ active: false }]);
    await server.sim("POST", "/clock/advance", { by: "1s" });
    expect(await slots()).toEqual([{ active: false }]);
    await reader.end();
    await letSuspend(server, replica);
  });

  test("the API drops a database that has subscriptions; SQL does not", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    await subscriber.owner.query("create database other");
    const url = new URL(subscriber.branch.uri);
    url.pathname = "/other";
    const other = await connect(url.href);
    await expect(other.query("drop database neondb with (force)")).rejects.toMatchObject({ code: "55006" });
    await other.query("select 1");
    const { branchId, projectId } = subscriber.branch;
    await server.api("DELETE", `/projects/${projectId}/branches/${branchId}/databases/neondb`);
    const databases = () => other.query("select datname from pg_database where datname = 'neondb'");
    await expect.poll(async () => (await databases()).rowCount, PATIENT).toBe(0);
    expect(await subscriptionsOf(other)).toEqual([]);
    expect((await publisher.owner.query("select active from pg_replication_slots")).rowCount).toBe(1);
  });

  test("subscriptions whose names are no UTF-8 are dropped in branches and with their database", async () => {
    const { branch, owner } = await withWords();
    const raw = "encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0";
    const url = new URL(branch.uri);
    const inDatabase = async (name: string) => {
      url.pathname = `/${name}`;
      return connect(url.href);
    };
    for (const name of ["raw", "closed"]) {
      await owner.query(`create database ${name} ${raw}`);
      const client = await inDatabase(name);
      await client.query(
        `create subscription s connection 'host=127.0.0.1 user=u password=p' publication p ${OFFLINE}`,
      );
      await client.query(
        "do $$ begin execute 'alter subscription s rename to ' || quote_ident(chr(255)); end $$",
      );
      await client.end();
    }
    const other = await inDatabase("raw");
    await other.query(
      "do $$ begin execute 'alter database closed rename to ' || quote_ident(chr(254)); end $$",
    );
    await other.query(
      "do $$ begin execute format('alter database %I allow_connections false', chr(254)); end $$",
    );
    await other.end();
    const child = await connect((await branchOf(branch)).uri);
    expect((await child.query("select from pg_subscription")).rowCount).toBe(0);
    const names = "select encode(namesend(datname), 'hex') as name, datallowconn from pg_database";
    expect((await child.query(names)).rows).toContainEqual({ name: "fe", datallowconn: false });

    await server.api("DELETE", `/projects/${branch.projectId}/branches/${branch.branchId}/databases/raw`);
    const databases = () => owner.query("select from pg_database where datname = 'raw'");
    await expect.poll(async () => (await databases()).rowCount, PATIENT).toBe(0);
    expect((await owner.query("select from pg_subscription")).rowCount).toBe(1);
  });

  async function outcomeOf(client: pg.Client, sql: string): Promise<string> {
    return client.query(sql).then(
      () => "accepted",
      (error) => error.code as string,
    );
  }

  /** A directory with a socket as Postgres has it, and the number of connections to it. */
  async function startSocket() {
    const directory = join(testDirectory(), "sockets");
    mkdirSync(directory);
    let connections = 0;
    const listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    const path = join(directory, ".s.PGSQL.5432");
    await new Promise<void>((resolve) => listener.listen(path, resolve));
    for (const each of [join(directory, ".."), directory, path]) chmodSync(each, 0o777);
    onTestFinished(() => void listener.close());
    return { directory, connections: () => connections };
  }

  const OFFLINE = "with (connect = false, enabled = false, slot_name = none)";

  test.each([
    "host=127.0.0.1 port=5 user=u password=p dbname=d",
    " host = example.com,127.0.0.1 port=5,6\nuser='u u' password='p'  dbname = d ",
    "hostaddr=::1 user=u password=p options=endpoint=ep-a-1 sslmode=require channel_binding=require",
    "host=example.com user=u password=p sslmode=verify-full sslrootcert=system",
    "postgresql://u:p%2Fa@ep-a-1.us-east-2.aws.example.com/d?sslmode=require&channel_binding=require",
    "postgres://u:p@127.0.0.1:5,[::1]:6/d?options=endpoint%3Dep-a-1",
  ])("%s is accepted", async (connection) => {
    const { owner } = await withWords();
    const text = connection.replaceAll("'", "''");
    const sql = `create subscription s connection '${text}' publication p, "q q" ${OFFLINE}`;
    expect(await outcomeOf(owner, sql)).toBe("accepted");
    expect(await outcomeOf(owner, `alter subscription s connection '${text}'`)).toBe("accepted");
  });

  test("no connection string reaches a socket or a file of the machine", async () => {
    const { owner } = await withWords();
    const { directory, connections } = await startSocket();
    const encoded = encodeURIComponent(directory);
    const rejected = [
      `host=${directory} user=u password=p`,
      `host='${directory}' user=u password=p`,
      `host=127.0.0.1 host=${directory} user=u password=p`,
      `host=127.0.0.1,${directory} user=u password=p`,
      `host=${directory},127.0.0.1 user=u password=p`,
      `host=@abstract user=u password=p`,
      "host=127.0.0.1, user=u password=p",
      "host='' user=u password=p",
      "user=u password=p",
      "",
      "neondb",
      "host=127.0.0.1 user=u password=pä",
      "host=127.0.0.1\u00a0user=u user=u password=p",
      `host=a' host=${directory} user='u password=p`,
      `application_name='x' host=${directory}`,
      `host=127.0.0.1 dbname='host=${directory}' user=u password=p`,
      `host=127.0.0.1 dbname=postgresql://u:p@${encoded}/d user=u password=p`,
      `postgresql://u:p@${encoded}/d`,
      `postgresql:///d?host=${directory}&user=u&password=p`,
      `postgresql://u:p@127.0.0.1/d?host=${encoded}`,
      `postgresql://u:p@127.0.0.1/d?h%6fst=${encoded}`,
      `postgresql://u:p@127.0.0.1,${encoded}/d`,
      `postgresql://127.0.0.1?user=u@${encoded}&password=p`,
      `postgresql://u:p@127.0.0.1,/d`,
      "postgresql://u:p@/d",
      ...[
        ...["passfile=/etc/passwd", "service=mine", "servicefile=/etc/passwd", "sslkey=/etc/passwd"],
        ...["sslkey=engine:key", "sslcert=/etc/passwd", "sslrootcert=/etc/passwd", "sslcrl=/etc/passwd"],
        ...["sslcrldir=/etc", "sslkeylogfile=/tmp/keys", "krbsrvname=x", "requirepeer=x", "replication=true"],
        ...["options=-csearch_path=public", "oauth_issuer=http://127.0.0.1", "PASSFILE=/etc/passwd"],
      ].map((parameter) => `host=127.0.0.1 user=u password=p ${parameter}`),
      "postgresql://u:p@127.0.0.1/d?passfile=/etc/passwd",
      "postgresql://u:p@127.0.0.1/d?sslrootcert=%2Fetc%2Fpasswd",
      "postgresql://u:p@127.0.0.1/d?options=-csearch_path%3Dpublic",
    ];
    await owner.query(
      `create subscription mine connection 'host=127.0.0.1 user=u password=p' publication p ${OFFLINE}`,
    );
    for (const connection of rejected) {
      const literal = `'${connection.replaceAll("'", "''")}'`;
      // An error of libpq, which has not connected, is as good.
      for (const sql of [
        `create subscription s connection ${literal} publication p`,
        `create subscription s connection ${literal} publication p ${OFFLINE}`,
        `alter subscription mine connection ${literal}`,
        `do $do$ begin alter subscription mine connection ${literal}; end $do$`,
      ])
        expect([sql, await outcomeOf(owner, sql)]).toEqual([
          sql,
          expect.stringMatching(/^(42501|42601|08000|2F003)$/),
        ]);
    }
    expect(await subscriptionsOf(owner)).toEqual([{ subname: "mine", subenabled: false }]);
    expect(connections()).toBe(0);
  });

  test("a statement in another form is rejected before it connects", async () => {
    const { owner } = await withWords();
    const { directory, connections } = await startSocket();
    const good = "'host=127.0.0.1 user=u password=p'";
    const bad = `'host=${directory} user=u password=p'`;
    const create = (connection: string, name = "s") =>
      `create subscription ${name} connection ${connection} publication p`;
    const free = `publication p with (create_slot = false)`;
    await owner.query(`create function f() returns void language sql as
      $f$ create subscription s connection ${bad} ${free} $f$`);
    for (const sql of [
      `select 1; ${create(bad)}`,
      `${create(bad)}; ${create(good)}`,
      `/* ${create(good)} */ ${create(bad)}`,
      `-- ${create(good)}\n${create(bad)}`,
      `${create(bad)} -- ' publication p`,
      create(`e${bad}`),
      create(`e'host=127.0.0.1 user=u password=p\\' host=${directory}'`),
      create(`u&'host=\\002ftmp user=u password=p'`),
      create(`$$host=${directory} user=u password=p$$`),
      create(`'host=127.0.0.1 user=u password=p'\n' host=${directory}'`),
      create(bad, `"s connection ${good} publication p"`),
      create(bad, `"s"" connection ${good} publication p"`),
      `do $do$ begin create subscription s connection ${bad} ${free}; end $do$`,
      `do $do$ begin execute $x$ create subscription s connection ${bad} ${free} $x$; end $do$`,
      "select f()",
      `select query_to_xml($x$ ${create(bad)} $x$, true, true, '')`,
    ])
      expect([sql, await outcomeOf(owner, sql)]).toEqual([sql, expect.not.stringMatching("accepted")]);
    await owner.query("set standard_conforming_strings = off");
    const escaped = `'host=127.0.0.1 user=u password=p\\' host=${directory}'`;
    expect(await outcomeOf(owner, create(escaped))).toBe(INSUFFICIENT_PRIVILEGE);
    // What the client has prepared is not what it sends now.
    await owner.query("reset standard_conforming_strings");
    const named = { name: "named", text: create(bad) };
    await expect(owner.query(named)).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
    expect(await outcomeOf(owner, `execute named /* ${create(good)} */`)).not.toBe("accepted");
    expect(await subscriptionsOf(owner)).toEqual([]);
    expect(connections()).toBe(0);
  });

  test.each(["template0", "template1", "neondb"])("a copy of %s has the check", async (template) => {
    const { branch, owner } = await withWords();
    const url = new URL(branch.uri);
    url.pathname = "/copy";
    if (template === "neondb") {
      await owner.query("create database other");
      await owner.end();
      const other = new URL(branch.uri);
      other.pathname = "/other";
      await (await connect(other.href)).query("create database copy template neondb");
    } else await owner.query(`create database copy template ${template}`);
    const copy = await connect(url.href);
    const create = `create subscription s connection 'host=/tmp user=u password=p' publication p ${OFFLINE}`;
    expect(await outcomeOf(copy, create)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  test.each([
    "alter event trigger standin_subscription_end disable",
    "drop event trigger standin_subscription_start",
    "drop function pg_catalog.standin_check_subscription() cascade",
    "create or replace function pg_catalog.standin_check_connection(text) returns void language sql as 'select'",
    "alter extension plpgsql drop event trigger standin_subscription_end",
    "drop extension plpgsql cascade",
    "set event_triggers = off",
    "set session_replication_role = replica",
    "update pg_subscription set subconninfo = 'host=/tmp'",
    "alter subscription s set (password_required = false)",
    "alter subscription s owner to cloud_admin",
    "create subscription t connection 'host=127.0.0.1 user=u' publication p",
    "create subscription t connection 'host=127.0.0.1 user=u password=p' publication p with (password_required = false)",
    "select pg_replication_origin_create('mine')",
  ])("%s is rejected", async (sql) => {
    const { owner } = await withWords();
    await owner.query(
      `create subscription s connection 'host=127.0.0.1 user=u password=p' publication p ${OFFLINE}`,
    );
    expect(await outcomeOf(owner, sql)).toMatch(/^(42501|2F003|42704)$/);
  });

  test("objects of the client do not change the check", async () => {
    const { owner } = await withWords();
    for (const sql of [
      "create function public.regexp_match(text, text, text) returns text[] language sql as $$ select array['host=127.0.0.1 user=u password=p'] $$",
      "create function public.current_query() returns text language sql as $$ select 'x' $$",
      "create function public.standin_check_connection(text) returns void language sql as 'select'",
      "create function pg_temp.strpos(text, text) returns int language sql as 'select 0'",
      "create view pg_temp.pg_roles as select current_user as rolname, true as rolsuper",
      "set search_path = pg_temp, public, pg_catalog",
    ])
      await owner.query(sql);
    const create = `create subscription s connection 'host=/tmp user=u password=p' publication p`;
    expect(await outcomeOf(owner, create)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  test("workers write with the rights of the tables' owners, and fire no trigger as another role", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    for (const sql of [
      "create role clerk login password 'pw'; create table runs (who text, as_superuser boolean)",
      "create function log_run() returns trigger language plpgsql as $$ begin insert into public.runs select current_user, rolsuper from pg_roles where rolname = current_user; return new; end $$",
      "create trigger log_run after insert on words for each row execute function log_run()",
      "alter table words enable always trigger log_run",
      "create table secrets (id int primary key)",
      "grant clerk to neondb_owner; grant create on schema public to clerk; alter table secrets owner to clerk; revoke clerk from neondb_owner",
    ])
      await subscriber.owner.query(sql);
    await publisher.owner.query("create table secrets (id int primary key); insert into secrets values (1)");
    await publisher.owner.query("create publication secrets for table secrets");
    const connection = connectionString(publisher.branch);
    await subscriber.owner.query(`create subscription t connection '${connection}' publication secrets`);
    await publisher.owner.query("insert into words values (2, 'two')");
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before", "two"]);
    expect((await subscriber.owner.query("select * from runs")).rows).toEqual([
      { who: "neondb_owner", as_superuser: false },
    ]);
    const failures =
      "select sync_error_count > 0 as failed from pg_stat_subscription_stats where subname = 't'";
    await expect
      .poll(async () => (await subscriber.owner.query(failures)).rows, PATIENT)
      .toEqual([{ failed: true }]);
    expect((await subscriber.owner.query("select from secrets")).rowCount).toBe(0);
    await subscriber.owner.query("drop subscription t");
  });

  test("after kill -9 of the server, the worker continues, and a branch that was being copied has none", async () => {
    const directory = temporaryDirectory();
    onTestFinished(() => directory.remove());
    const args = [...ARGS, "--engine-bin", binDirectory];
    const shared = server;
    try {
      server = await startPostgresServer(args, directory.path);
      const { publisher, subscriber } = await subscribed();
      await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
      const branch = await branchOf(subscriber.branch);
      const processes = () => postmastersIn(directory.path);
      const before = processes();
      const connecting = connect(branch.uri).catch(() => undefined);
      await expect.poll(processes, { interval: 5, timeout: 20_000 }).toBeGreaterThan(before);
      await server.kill("SIGKILL");
      await connecting;
      server = await startPostgresServer(args, directory.path, server.pgPort);
      const child = await connect(branch.uri);
      expect(await subscriptionsOf(child)).toEqual([]);
      await (await connect(publisher.branch.uri)).query("insert into words values (2, 'after')");
      const woken = await connect(subscriber.branch.uri);
      await expect.poll(wordsOf(woken), PATIENT).toEqual(["before", "after"]);
      expect(await wordsOf(child)()).toEqual(["before"]);
    } finally {
      await server.kill("SIGTERM");
      server = shared;
    }
  });
});

/** The clusters that a Postgres has been started on, and not been stopped. */
function postmastersIn(data: string): number {
  const files = readdirSync(join(data, "volumes"), { recursive: true, encoding: "utf8" });
  return files.filter((name) => name.endsWith("postmaster.pid")).length;
}
