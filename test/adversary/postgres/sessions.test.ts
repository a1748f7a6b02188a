import { once } from "node:events";
import { createConnection } from "node:net";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createBranch,
  type PostgresServer,
  runningPostgres,
  startPostgresServer,
  type TestBranch,
} from "../../support/postgres/postgres.ts";
import { openUri } from "./clients.ts";
import { SERVER_ARGS } from "./hostile-server.ts";
import { INSTALLATIONS } from "./installations.ts";
import { findingsOf, secretsIn } from "./judge.ts";
import { Observer } from "./observer.ts";

const CANCEL_REQUEST = 80_877_102;
const QUERY_CANCELED = "57014";
const PASSWORD = "hunter-of-secrets-4711";

describe.each(INSTALLATIONS)("with Postgres $version,", ({ binDirectory }) => {
  const observer = new Observer();
  let server: PostgresServer;
  let branch: TestBranch;

  beforeAll(async () => {
    server = await startPostgresServer([...SERVER_ARGS, "--engine-bin", binDirectory]);
    branch = await createBranch(server);
    const client = await openUri(branch.uri);
    await client.query(observer.sql);
    await client.end();
  });
  afterAll(async () => {
    await server.end();
    observer.remove();
  });

  async function cancel(pid: number, secret: number): Promise<void> {
    const packet = Buffer.alloc(16);
    for (const [index, value] of [16, CANCEL_REQUEST, pid, secret].entries())
      packet.writeInt32BE(value, index * 4);
    const socket = createConnection(server.pgPort, "127.0.0.1");
    socket.end(packet).resume();
    await once(socket, "close");
  }

  test("objects of pg_temp that shadow those of Postgres are not found by functions of the superuser", async () => {
    const client = await openUri(branch.uri);
    await client.query("create extension platform schema public");
    await client.query(SHADOW_FOR_THE_SESSION);
    const { rows: functions } = await client.query(FUNCTIONS_OF_THE_SUPERUSER);
    expect(functions.length).toBeGreaterThan(0);
    for (const { call } of functions) await client.query(`select ${call}`).catch(() => undefined);
    await client.query("select * from public.platform_stat_file_cache");
    expect([observer.traces(), await findingsOf(client)]).toEqual([[], []]);
    await client.end();
  });

  test("a query is cancelled by its own secret only", async () => {
    const client = await openUri(branch.uri);
    const { processID: pid, secretKey: secret } = client as unknown as Record<
      "processID" | "secretKey",
      number
    >;
    const isRunning = async () => {
      const { rows } = await (await other).query(
        "select count(*)::int as n from pg_stat_activity where query like 'select pg_sleep(60%' and state = 'active'",
      );
      return rows[0].n === 1;
    };
    const other = openUri(branch.uri);
    const query = client.query("select pg_sleep(600)").catch((error) => error.code);
    await expect.poll(isRunning).toBe(true);
    for (const wrong of [secret ^ 1, 0, -1, 1]) await cancel(pid, wrong);
    for (const wrong of [pid ^ 1, 0, -1]) await cancel(wrong, secret);
    expect(await isRunning()).toBe(true);
    await cancel(pid, secret);
    expect(await query).toBe(QUERY_CANCELED);
    await (await other).end();
    await client.end();
  });

  test("no password or verifier reaches the log, also if Postgres is killed", async () => {
    const client = await openUri(branch.uri);
    for (const statement of SECRET_STATEMENTS) await client.query(statement).catch(() => undefined);
    await client.query("select $1::int", [PASSWORD]).catch(() => undefined);
    process.kill(runningPostgres(server.data).pid, "SIGKILL");
    await expect.poll(server.stderr).toContain("has exited");
    const again = await openUri(branch.uri);
    expect(await names(again)).toContain("logged");
    await again.end();
    expect(secretsIn(server.stdout() + server.stderr(), [PASSWORD, branch.password])).toEqual([]);
  });
});

async function names(client: Client): Promise<string[]> {
  const { rows } = await client.query("select rolname from pg_roles");
  return rows.map(({ rolname }) => rolname);
}

/** Statements with a password: some are right, others fail. */
const SECRET_STATEMENTS: readonly string[] = [
  `create role logged login password '${PASSWORD}'`,
  `create role logged login password '${PASSWORD}'`,
  `alter role nobody_at_all password '${PASSWORD}'`,
  `alter role logged password '${PASSWORD}' valid until 'never ever'`,
  `alter role logged paswort '${PASSWORD}'`,
  `do $$ begin raise log '${PASSWORD}'; raise warning '${PASSWORD}'; end $$`,
  `do $$ begin raise exception '%', (select rolpassword from pg_authid where rolname = 'logged'); end $$`,
  `select '${PASSWORD}'::int`,
  `set log_min_error_statement = 'debug5'; select '${PASSWORD}'::int`,
  `select set_config('application_name', '${PASSWORD}', false); select 1/0`,
];

/** In a session, `pg_temp` comes before `pg_catalog` for types and tables unless a search path names it. */
const SHADOW_FOR_THE_SESSION = `do $do$ declare t record; begin
  for t in select typname from pg_type where typnamespace = 'pg_catalog'::regnamespace and typtype = 'b'
    and typname !~ '^_' and typname in ('text', 'name', 'oid', 'json', 'jsonb', 'int4', 'int8', 'bool', 'numeric',
      'bytea', 'regclass', 'varchar')
  loop
    execute format('create domain pg_temp.%I as pg_catalog.%I check (adversary.observe(%L))', t.typname, t.typname,
      'pg_temp.' || t.typname);
  end loop;
  for t in select relname from pg_class where relnamespace = 'pg_catalog'::regnamespace and relkind in ('r', 'v')
    and relname in ('pg_class', 'pg_authid', 'pg_roles', 'pg_database', 'pg_settings', 'pg_stat_database')
  loop
    execute format('create temp view %I as select * from pg_catalog.%I where adversary.observe(%L)', t.relname,
      t.relname, 'pg_temp.' || t.relname);
  end loop;
end $do$`;

/** Calls of all functions that run with the rights of the superuser. */
const FUNCTIONS_OF_THE_SUPERUSER = `select format('%s(%s)', p.oid::pg_catalog.regproc,
    (select string_agg('null', ', ') from pg_catalog.generate_series(1, p.pronargs))) as call
  from pg_catalog.pg_proc p where p.prosecdef and p.proowner = 10`;
