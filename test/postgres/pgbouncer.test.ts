import { once } from "node:events";
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPgBouncer } from "../support/postgres/pgbouncer.ts";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
  type TestBranch,
  withoutVerification,
} from "../support/postgres/postgres.ts";
import { hasProgram } from "../support/process/programs.ts";
import { expectHolds } from "../support/properties/properties.ts";

const CLIENTS = 20;
const POOL_SIZE = 64;
const INTERLEAVINGS = 10;

let server: PostgresServer;
let branch: TestBranch;
let roles = 0;

const isSkipped = !hasProgram("pgbouncer");

beforeAll(async () => {
  if (isSkipped) return;
  server = await startPostgresServer(["--operations", "immediate"]);
  branch = await createBranch(server);
});
afterAll(() => server?.end());

type Step = { readonly client: number; readonly sql: string; readonly values?: readonly number[] };

const number = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.record({
  client: fc.nat(CLIENTS - 1),
  sql: fc.oneof(
    { weight: 3, arbitrary: fc.constant("begin") },
    { weight: 3, arbitrary: fc.constantFrom("commit", "rollback") },
    { weight: 2, arbitrary: fc.constant("leave") },
    number.map((n) => `set statement_timeout = ${10_000 + n}`),
    number.map((n) => `set local statement_timeout = ${20_000 + n}`),
    number.map((n) => `set application_name = 'app${n}'`),
    fc.constantFrom("set timezone = 'Asia/Tokyo'", "set datestyle = 'German, DMY'", "reset timezone"),
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        "show statement_timeout",
        "show application_name",
        "show timezone",
        "show datestyle",
        "select pg_backend_pid() as pid",
      ),
    },
    number.map((n) => `prepare p${n} as select ${n} as prepared`),
    number.map((n) => `execute p${n}`),
    number.map((n) => `create temporary table t${n} (id int)`),
    number.map((n) => `select count(*)::int as rows from t${n}`),
    number.map((n) => `insert into t${n} values (1), (2)`),
    number.map((n) => `listen c${n}`),
    fc.constantFrom(
      "select * from pg_listening_channels() order by 1",
      "select nothing",
      "select 1/0",
      "deallocate all",
      "discard all",
      "select 1 as one; select 2 as two",
    ),
  ),
});

/** What each step gives, through one pooler. Sessions are numbered in the order of their first answer. */
async function outcomes(steps: readonly Step[], connectClient: () => Promise<pg.Client>): Promise<unknown[]> {
  const clients = new Map<number, pg.Client>();
  const sessions = new Map<number, number>();
  const results: unknown[] = [];
  for (const { client: index, sql } of steps) {
    if (sql === "leave") {
      await clients.get(index)?.end();
      clients.delete(index);
      continue;
    }
    const client = clients.get(index) ?? (await connectClient());
    clients.set(index, client);
    try {
      const answers = [await client.query(sql)].flat();
      results.push(
        answers.map(({ command, rowCount, rows }) => {
          const pid = rows[0]?.pid;
          if (pid === undefined) return { command, rowCount, rows };
          if (!sessions.has(pid)) sessions.set(pid, sessions.size);
          return { session: sessions.get(pid) };
        }),
      );
    } catch (error) {
      const { code, severity, message } = error as pg.DatabaseError;
      results.push({ code, severity, message });
      // The session is free when the client is ready, which is after the error.
      if (!(client as unknown as { readyForQuery: boolean }).readyForQuery) await once(client, "drain");
    }
  }
  for (const client of clients.values()) await client.end();
  return results;
}

test.skipIf(isSkipped)(
  "interleaved clients see through the pooler what they see through PgBouncer",
  async () => {
    const direct = await connect(branch.uri);
    const property = fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 120 }), async (steps) => {
      // A role of its own has a pool of its own.
      roles += 1;
      const role = `r${roles}`;
      await direct.query(
        `create role ${role} login password 'secret'; grant all on database neondb to ${role}`,
      );
      const bouncer = await startPgBouncer(server.data, role, POOL_SIZE);
      try {
        const through = (uri: string, parameters: object) => async () => {
          const client = new pg.Client({ connectionString: uri, application_name: "", ...parameters });
          client.on("error", () => undefined);
          await client.connect();
          return client;
        };
        const url = new URL(branch.uri);
        url.username = role;
        url.password = "secret";
        url.searchParams.set("options", `${url.searchParams.get("options")}-pooler`);
        const expected = await outcomes(steps, through(bouncer.uri, {}));
        const actual = await outcomes(steps, through(withoutVerification(url.href).connectionString, {}));
        expect(actual).toEqual(expected);
      } finally {
        await bouncer.end();
      }
    });
    await expectHolds(property, INTERLEAVINGS);
  },
);
