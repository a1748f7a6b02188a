import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import { PUBLISHED_EXTENSIONS } from "../../src/postgres/rights/published-extensions.ts";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
} from "../support/postgres/postgres.ts";

const INSTALLATIONS = await findInstallations(undefined, engineUser());

const UNSUPPORTED = "0A000";
const INSUFFICIENT_PRIVILEGE = "42501";

describe.each(INSTALLATIONS)("with Postgres $version,", ({ binDirectory, version }) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgresServer(["--operations", "immediate", "--engine-bin", binDirectory]);
  });
  afterAll(() => server.end());

  test("the owner creates each published extension that Postgres has", async () => {
    const owner = await connect((await createBranch(server)).uri);
    const failed: string[] = [];
    const created: string[] = [];
    for (const { name, source, refusal } of PUBLISHED_EXTENSIONS) {
      if (source !== "server" || refusal !== undefined) continue;
      const outcome = await outcomeOf(owner, `create extension "${name}" cascade`);
      if (outcome !== "accepted") failed.push(`${name}: ${outcome}`);
      else created.push(name);
      await owner.query(`drop extension if exists "${name}"`);
    }
    expect(failed).toEqual([]);
    expect(created).toHaveLength(33);
    const { rows } = await owner.query("select rolname from pg_roles where rolsuper and rolname !~ '^pg_'");
    expect(rows).toEqual([{ rolname: "cloud_admin" }]);
    const { rows: twice } = await owner.query(
      "select name from pg_available_extensions group by name having count(*) > 1",
    );
    expect(twice).toEqual([]);
  });

  test("an extension that Postgres lacks is refused with the package that brings it", async () => {
    const owner = await connect((await createBranch(server)).uri);
    // Packages may be installed on this machine.
    const { rows } = await owner.query(
      "select name from pg_available_extensions where comment !~ '^not available'",
    );
    const isInstalled = (name: string) => rows.some((row) => row.name === name);
    const lacking = PUBLISHED_EXTENSIONS.filter(
      ({ name, refusal }) => refusal === undefined && !isInstalled(name),
    );
    expect(lacking.length).toBeGreaterThan(0);
    for (const { name, source } of lacking) {
      const error = await owner.query(`create extension "${name}"`).catch((caught) => caught);
      expect([error.code, error.message]).toEqual([UNSUPPORTED, `extension "${name}" is not available`]);
      expect(error.detail).toContain(source === undefined ? "no package" : `postgresql-${version}-${source}`);
    }
    const { rows: extensions } = await owner.query("select extname from pg_extension");
    expect(extensions).toEqual([{ extname: "plpgsql" }]);
  });

  test("extensions that could reach the machine are refused with the reason", async () => {
    const owner = await connect((await createBranch(server)).uri);
    const reasons: Record<string, RegExp> = {
      dblink: /sockets and files of the machine; use postgres_fdw/,
      pg_cron: /background process/,
      timescaledb: /background process/,
    };
    for (const { name } of PUBLISHED_EXTENSIONS.filter(({ refusal }) => refusal !== undefined)) {
      const error = await owner.query(`create extension ${name}`).catch((caught) => caught);
      expect([error.code, error.message]).toEqual([UNSUPPORTED, `extension "${name}" is not available`]);
      expect(error.detail).toMatch(reasons[name] ?? /^$/);
    }
    expect(await outcomeOf(owner, "create extension dblink version '1.2'")).not.toBe("accepted");
  });

  test("pg_stat_statements collects the statements of clients, and none of the server's own", async () => {
    const branch = await createBranch(server);
    const owner = await connect(branch.uri);
    await owner.query("create extension pg_stat_statements");
    for (let value = 0; value < 3; value += 1) await owner.query(`select ${value} as counted`);
    const { rows } = await owner.query(
      "select calls::int, rows::int from pg_stat_statements where query = 'select $1 as counted'",
    );
    expect(rows).toEqual([{ calls: 3, rows: 3 }]);
    await server.api("POST", `/projects/${branch.projectId}/branches/${branch.branchId}/roles`, {
      role: { name: "clerk" },
    });
    const { rows: own } = await owner.query(
      `select query from pg_stat_statements
       where userid in (select oid from pg_roles where rolname = 'cloud_admin')`,
    );
    expect(own).toEqual([]);
    await owner.query("select pg_stat_statements_reset()");
    const { rows: after } = await owner.query("select from pg_stat_statements where query ~ 'counted'");
    expect(after).toEqual([]);
  });

  test("postgres_fdw reads and writes another branch through the gateway", async () => {
    const [near, far] = [await createBranch(server), await createBranch(server)];
    const remote = await connect(far.uri);
    await remote.query("create table words (word text); insert into words values ('far')");
    const owner = await connect(near.uri);
    const { password } = far;
    const endpoint = new URL(far.uri).searchParams.get("options");
    await owner.query(`create extension postgres_fdw;
      create server far foreign data wrapper postgres_fdw
        options (host '127.0.0.1', port '${server.pgPort}', dbname 'neondb', sslmode 'require', options '${endpoint}');
      create user mapping for current_user server far options (user 'neondb_owner', password '${password}');
      import foreign schema public from server far into public`);
    await owner.query("insert into words values ('near')");
    const { rows } = await owner.query("select word from words order by word");
    expect(rows).toEqual([{ word: "far" }, { word: "near" }]);
  });

  test("a foreign server names a host in the network, and no file or socket", async () => {
    const owner = await connect((await createBranch(server)).uri);
    await owner.query("create extension postgres_fdw");
    const { rows } = await owner.query(
      "select setting from pg_settings where name = 'unix_socket_directories'",
    );
    const create = (options: string) => `create server s foreign data wrapper postgres_fdw ${options}`;
    const rejected = [
      create(""),
      create("options (dbname 'neondb')"),
      create(`options (host '${rows[0].setting}')`),
      create("options (host '/tmp')"),
      create("options (host '@abstract')"),
      create("options (host '')"),
      create("options (host 'db.example,/tmp')"),
      create("options (host 'db.example', hostaddr '/tmp')"),
      create("options (host 'db.example', passfile '/etc/passwd')"),
      create("options (host 'db.example', service 'other')"),
      create("options (host 'db.example', sslrootcert '/etc/passwd')"),
      create("options (host 'db.example', sslcrl '/etc/passwd')"),
      create("options (host 'db.example', options '-c session_preload_libraries=x')"),
    ];
    for (const sql of rejected)
      expect([sql, await outcomeOf(owner, sql)]).toEqual([sql, INSUFFICIENT_PRIVILEGE]);
    // Postgres itself has no such option of a server.
    expect(await outcomeOf(owner, create("options (host 'db.example', sslkeylogfile '/tmp/keys')"))).not.toBe(
      "accepted",
    );
    await owner.query(create("options (host 'db.example')"));
    for (const sql of [
      "alter server s options (set host '/tmp')",
      "alter server s options (drop host)",
      "alter server s options (add passfile '/etc/passwd')",
      "create user mapping for current_user server s options (user 'u', password_required 'false')",
      "create user mapping for current_user server s options (user 'u', sslkey '/etc/passwd')",
      "alter foreign data wrapper postgres_fdw validator postgres_fdw_validator",
      "alter foreign data wrapper postgres_fdw no validator",
      "create or replace function postgres_fdw_network_validator(text[], oid) returns void language sql as ''",
    ])
      expect([sql, await outcomeOf(owner, sql)]).toEqual([sql, INSUFFICIENT_PRIVILEGE]);
    expect(await outcomeOf(owner, "alter extension postgres_fdw set schema pg_temp")).not.toBe("accepted");
  });
});

async function outcomeOf(client: pg.Client, sql: string): Promise<string> {
  return client.query(sql).then(
    () => "accepted",
    (error) => error.code as string,
  );
}
