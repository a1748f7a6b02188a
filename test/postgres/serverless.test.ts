import { request } from "node:http";
import { Client, neon, neonConfig, Pool } from "@neondatabase/serverless";
import { drizzle } from "drizzle-orm/neon-http";
import { drizzle as drizzlePool } from "drizzle-orm/neon-serverless";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { Kysely, sql as kyselySql } from "kysely";
import { NeonDialect } from "kysely-neon";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createBranch, serverForTests, stateOf } from "../support/postgres/postgres.ts";

const server = await serverForTests(["--operations", "immediate", "--clock", "manual"]);
const branch = await createBranch(server);
const origin = new URL(server.ready.api_url).origin;
neonConfig.fetchEndpoint = `${origin}/sql`;
neonConfig.wsProxy = `${new URL(origin).host}/v2`;
neonConfig.useSecureWebSocket = false;
neonConfig.webSocketConstructor = WebSocket;

type Answer = { readonly message: string; readonly rows: unknown };

/** A request without the driver. */
async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${origin}/sql`, {
    method: "POST",
    headers: { "Neon-Connection-String": branch.uri, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer };
}

test("neon() wakes the compute, sends parameters, and parses the values of all types", async () => {
  await server.sim("POST", "/clock/advance", { by: "10m" });
  expect(await stateOf(server, branch)).toBe("idle");
  const sql = neon(branch.uri);
  const [row] = await sql`select ${1}::int as number, ${"a'b"} as text, ${null}::text as nothing,
    ${[1, 2]}::int[] as list, ${{ a: [1] }}::jsonb as json, ${true}::bool as flag,
    ${Buffer.from("00ff", "hex")}::bytea as bytes, 9007199254740993::bigint as big`;
  expect(row).toEqual({
    number: 1,
    text: "a'b",
    nothing: null,
    list: [1, 2],
    json: { a: [1] },
    flag: true,
    bytes: Buffer.from("00ff", "hex"),
    big: "9007199254740993",
  });
  expect(await stateOf(server, branch)).toBe("active");
});

test("a suspend ends the sessions of requests, and the next request wakes the compute", async () => {
  const sql = neon(branch.uri);
  await sql`select 1`;
  await server.sim("POST", "/clock/advance", { by: "10m" });
  expect(await stateOf(server, branch)).toBe("idle");
  expect(await sql`select 2 as two`).toEqual([{ two: 2 }]);
});

test("full results have the command, the count and the fields", async () => {
  const sql = neon(branch.uri, { fullResults: true, arrayMode: true });
  await sql`create table if not exists counted (id int)`;
  expect(await sql`insert into counted values (1), (2)`).toMatchObject({ command: "INSERT", rowCount: 2 });
  const selected = await sql`select id from counted order by id`;
  expect(selected).toMatchObject({ command: "SELECT", rowCount: 2, rows: [[1], [2]], rowAsArray: true });
  expect(selected.fields).toMatchObject([{ name: "id", dataTypeID: 23, dataTypeSize: 4, format: "text" }]);
});

test("a batch is one transaction with its isolation level, and fails as a whole", async () => {
  const sql = neon(branch.uri);
  await sql`create table if not exists batched (id int primary key)`;
  const [level, readOnly] = await sql.transaction(
    [sql`show transaction_isolation`, sql`show transaction_read_only`],
    { isolationLevel: "Serializable", readOnly: true, deferrable: true },
  );
  expect(level).toEqual([{ transaction_isolation: "serializable" }]);
  expect(readOnly).toEqual([{ transaction_read_only: "on" }]);
  const failing = sql.transaction([
    sql`insert into batched values (1)`,
    sql`insert into batched values (1)`,
    sql`insert into batched values (2)`,
  ]);
  await expect(failing).rejects.toMatchObject({
    code: "23505",
    table: "batched",
    constraint: "batched_pkey",
  });
  expect(await sql`select * from batched`).toEqual([]);
});

test("a constraint that is checked at the commit fails the batch", async () => {
  const sql = neon(branch.uri);
  await sql`create table if not exists late (id int unique deferrable initially deferred)`;
  const failing = sql.transaction([sql`insert into late values (1)`, sql`insert into late values (1)`]);
  await expect(failing).rejects.toMatchObject({ code: "23505" });
  expect(await sql`select * from late`).toEqual([]);
});

test("errors have all fields of Postgres", async () => {
  const failed = neon(branch.uri)`select 1 / ${0}::int, nothing`;
  await expect(failed).rejects.toMatchObject({
    name: "NeonDbError",
    message: 'column "nothing" does not exist',
    code: "42703",
    severity: "ERROR",
    position: "21",
    file: "parse_relation.c",
    routine: "errorMissingColumn",
  });
});

test("no request sees what another has left in the session", async () => {
  const sql = neon(branch.uri);
  await sql`set statement_timeout = 12345`;
  await sql`select pg_advisory_lock(1)`;
  await sql`begin`;
  expect(await sql`show statement_timeout`).toEqual([{ statement_timeout: "0" }]);
  expect(await sql`select count(*)::int as locks from pg_locks where locktype = 'advisory'`).toEqual([
    { locks: 0 },
  ]);
});

test.each([
  ["leaves a transaction open", "begin"],
  ["cannot be executed over HTTP", "copy counted from stdin"],
])("the session of a request that %s ends before its response", async (_, query) => {
  for (let number = 0; number < 5; number += 1) {
    const { seq = 0 } = (await server.sim("GET", "/events?limit=1000")).body.events.at(-1) ?? {};
    await post({ query });
    const { events } = (await server.sim("GET", `/events?since=${seq}`)).body;
    expect(events.map(({ activity }: { activity?: { kind?: string } }) => activity?.kind)).toContain(
      "disconnect",
    );
  }
});

test("COPY from the client is an error, and so is a statement with an open transaction", async () => {
  const copied = neon(branch.uri)`copy counted from stdin`;
  await expect(copied).rejects.toMatchObject({ code: "0A000" });
  expect(await neon(branch.uri)`select 1 as one`).toEqual([{ one: 1 }]);
});

test("without the driver's headers, values are JSON", async () => {
  const query =
    "select true as b, 1::int2 as i, 1.5::float8 as f, 'NaN'::float8 as n, 1::bigint as l, '{\"a\":[1]}'::json as j, array[[1,null],[3,4]] as a, null as z";
  expect((await post({ query })).body).toMatchObject({
    rowAsArray: false,
    rows: [
      {
        b: true,
        i: 1,
        f: 1.5,
        n: "NaN",
        l: "1",
        j: { a: [1] },
        a: [
          [1, null],
          [3, 4],
        ],
        z: null,
      },
    ],
  });
  const raw = await post({ query }, { "Neon-Raw-Text-Output": "true", "Neon-Array-Mode": "true" });
  expect(raw.body.rows).toEqual([["t", "1", "1.5", "NaN", "1", '{"a":[1]}', "{{1,NULL},{3,4}}", null]]);
});

test.each([
  ["{", {}, /^request body: expected JSON$/],
  [[], {}, /^request body: expected a JSON object$/],
  [{ query: 1 }, {}, /^query: expected a string$/],
  [{ query: "select 1", params: {} }, {}, /^params: expected a list/],
  [{ query: "select 1", arrayMode: 1 }, {}, /^arrayMode: expected true or false$/],
  [{ queries: [{ query: "select 1" }, {}] }, {}, /^queries\.1\.query: expected a string$/],
  [
    { queries: [] },
    { "Neon-Batch-Isolation-Level": "Loose" },
    /^Neon-Batch-Isolation-Level: expected one of/,
  ],
  [{ query: "select 1" }, { "Neon-Connection-String": "x" }, /^Neon-Connection-String: expected postgresql/],
  [{ query: "select 1" }, { "Neon-Connection-String": "postgresql://a@ep-b/c" }, /has no password$/],
  [{ query: "select 1" }, { Authorization: "Bearer x" }, /JSON Web Token \(authToken\) is not imitated/],
])("%j with headers %j is 400", async (body, headers, message) => {
  const answer = await post(body, headers);
  expect(answer.status).toBe(400);
  expect(answer.body.message).toMatch(message);
});

test("a wrong password, an unknown role and an unknown compute are 400 with their SQLSTATE", async () => {
  const wrong = branch.uri.replace(branch.password, "wrong");
  await expect(neon(wrong)`select 1`).rejects.toMatchObject({ code: "28P01" });
  await expect(neon(branch.uri.replace("neondb_owner", "nobody"))`select 1`).rejects.toMatchObject({
    code: "28P01",
  });
  const elsewhere = branch.uri.replace(/ep-[a-z0-9-]+/, "ep-no-such-00000000");
  await expect(neon(elsewhere)`select 1`).rejects.toMatchObject({ code: "XX000" });
});

test("a page of another origin may send the driver's headers", async () => {
  const preflight = await fetch(`${origin}/sql`, { method: "OPTIONS", headers: { Origin: "http://a.test" } });
  expect(preflight.status).toBe(200);
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  expect(preflight.headers.get("access-control-allow-headers")).toContain("Neon-Connection-String");
  expect((await post({ query: "select 1" })).headers.get("access-control-allow-origin")).toBe("*");
  expect((await post("{")).headers.get("access-control-allow-origin")).toBe("*");
});

test("Drizzle queries over HTTP, and in transactions over a WebSocket", async () => {
  const notes = pgTable("notes", { id: integer().primaryKey(), text: text().notNull() });
  const overHttp = drizzle(neon(branch.uri));
  await overHttp.execute("create table notes (id integer primary key, text text not null)");
  expect(await overHttp.insert(notes).values({ id: 1, text: "over HTTP" }).returning()).toEqual([
    { id: 1, text: "over HTTP" },
  ]);
  const pool = new Pool({ connectionString: branch.uri });
  onTestFinished(() => pool.end());
  const rows = await drizzlePool(pool).transaction(async (transaction) => {
    await transaction.insert(notes).values({ id: 2, text: "over a WebSocket" });
    return transaction.select().from(notes).orderBy(notes.id);
  });
  expect(rows.map((row) => row.text)).toEqual(["over HTTP", "over a WebSocket"]);
});

test("Kysely queries over HTTP", async () => {
  type Item = { readonly id: number; readonly name: string; readonly tags: string[] };
  const db = new Kysely<{ item: Item }>({ dialect: new NeonDialect({ neon: neon(branch.uri) }) });
  onTestFinished(() => db.destroy());
  await db.schema
    .createTable("item")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("tags", kyselySql`text[]`, (column) => column.notNull())
    .execute();
  const items = [
    { id: 1, name: "first", tags: ["a", "b,c"] },
    { id: 2, name: "it's", tags: [] },
  ];
  expect(await db.insertInto("item").values(items).returningAll().execute()).toEqual(items);
  const updated = await db
    .updateTable("item")
    .set({ name: "second" })
    .where("id", "=", 2)
    .executeTakeFirstOrThrow();
  expect(updated.numUpdatedRows).toBe(1n);
  const named = db.selectFrom("item").select(["id", "name"]).where("name", "in", ["second", "third"]);
  expect(await named.execute()).toEqual([{ id: 2, name: "second" }]);
  const tables = await db.introspection.getTables();
  expect(tables.find(({ name }) => name === "item")?.columns.map(({ name }) => name)).toEqual([
    "id",
    "name",
    "tags",
  ]);
  await expect(db.insertInto("item").values(items.slice(0, 1)).execute()).rejects.toMatchObject({
    code: "23505",
    constraint: "item_pkey",
  });
  // The dialect rejects transactions itself, because each of its queries is a request of its own.
  await expect(db.transaction().execute(async () => undefined)).rejects.toThrow(/transaction/i);
});

test("Client keeps its session over a WebSocket, with the password before or after it is asked", async () => {
  for (const pipelineConnect of ["password", false] as const) {
    const client = new Client(branch.uri);
    client.neonConfig.pipelineConnect = pipelineConnect;
    await client.connect();
    await client.query("set application_name = 'kept'");
    expect((await client.query("show application_name")).rows).toEqual([{ application_name: "kept" }]);
    const long = await client.query("select repeat('x', 1000000) as text, $1::int as number", [7]);
    expect([long.rows[0].text.length, long.rows[0].number]).toEqual([1_000_000, 7]);
    await client.end();
  }
});

test("a WebSocket with a wrong password gets 28P01, and one on another path 404", async () => {
  const client = new Client(branch.uri.replace(branch.password, "wrong"));
  // With the password sent ahead, the driver does not wait for the answer.
  client.neonConfig.pipelineConnect = false;
  await expect(client.connect()).rejects.toMatchObject({ code: "28P01" });
  const other = new WebSocket(`${origin.replace("http", "ws")}/other`);
  const failure = await new Promise<Error>((resolve) => other.once("error", resolve));
  expect(failure.message).toBe("Unexpected server response: 404");
});

test("the address of a WebSocket names the compute if the connection has no option for it", async () => {
  const url = new URL(branch.uri);
  url.searchParams.delete("options");
  const client = new Client(url.href);
  client.neonConfig.wsProxy = () => `${new URL(origin).host}/v2?address=${branch.host}:5432`;
  await client.connect();
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await client.end();
});

test("a fork has its own data at /w/<name>/sql and /w/<name>/v2", async () => {
  await neon(branch.uri)`create table forked (id int)`;
  await server.sim("POST", "/worlds", { name: "other" });
  await neon(branch.uri)`insert into forked values (1)`;
  const counted = { query: "select count(*)::int as rows from forked" };
  const response = await fetch(`${origin}/w/other/sql`, {
    method: "POST",
    headers: { "Neon-Connection-String": branch.uri },
    body: JSON.stringify(counted),
  });
  expect(((await response.json()) as Answer).rows).toEqual([{ rows: 0 }]);
  expect((await post(counted)).body.rows).toEqual([{ rows: 1 }]);
  const client = new Client(branch.uri);
  client.neonConfig.wsProxy = `${new URL(origin).host}/w/other/v2`;
  await client.connect();
  expect((await client.query(counted.query)).rows).toEqual([{ rows: 0 }]);
  await client.end();
});

test("requests one after another use one session, and each finds it reset", async () => {
  const sql = neon(branch.uri);
  const pids = new Set<number>();
  for (let number = 0; number < 5; number += 1) {
    const [row] = await sql`select pg_backend_pid() as pid, pg_try_advisory_lock(${number}),
      current_setting('app.mark', true) as before, set_config('app.mark', 'set', false),
      (select count(*)::int from pg_locks where locktype = 'advisory') as locks`;
    expect(row?.["before"] || null).toBeNull();
    expect(row?.["locks"]).toBeLessThanOrEqual(1);
    pids.add(row?.["pid"]);
  }
  expect(pids.size).toBe(1);
});

test.each([
  ["dropped", "drop role earlier"],
  ["renamed", "alter role earlier rename to renamed"],
])("a role with the name of one that was %s has its own sessions", async (_, gone) => {
  const asEarlier = (password: string) => {
    const url = new URL(branch.uri);
    [url.username, url.password] = ["earlier", password];
    return neon(url.href);
  };
  const owner = neon(branch.uri);
  const create = (password: string) => owner.query(`create role earlier login password '${password}'`);
  await create("first-Password-1");
  const whoAmI = "select current_user::text as me";
  expect(await asEarlier("first-Password-1").query(whoAmI)).toEqual([{ me: "earlier" }]);
  await owner.query(gone);
  await create("second-Password-2");
  expect(await asEarlier("second-Password-2").query(whoAmI)).toEqual([{ me: "earlier" }]);
  await owner.query("drop role earlier");
});

test.each(["/sql", "/sql?first"])(
  "what a client of %s sent before it left is not executed later",
  async (path) => {
    const sql = neon(branch.uri);
    await sql`create table if not exists late_work (path text)`;
    const sessions = () => sql`select state from pg_stat_activity where application_name = ${path}`;
    const effect = { delay_connection: { takes: "2s", clock: "wall" } };
    await server.sim("PUT", "/faults", [{ name: "slow", effect }]);
    onTestFinished(async () => void (await server.sim("DELETE", "/faults")));
    const url = new URL(branch.uri);
    url.searchParams.set("application_name", path);
    const leaving = request(origin + path, {
      method: "POST",
      headers: { "Neon-Connection-String": url.href },
    }).on("error", () => undefined);
    leaving.end(JSON.stringify({ query: "insert into late_work values ($1)", params: [path] }));
    setTimeout(() => leaving.destroy(), 100);
    await expect.poll(sessions, { timeout: 10_000 }).toEqual([{ state: "idle" }]);
    expect(await sql`select path from late_work`).toEqual([]);
  },
);

test("a body above 64 MiB is 413, and a larger result is 507", async () => {
  const status = await new Promise((resolve, reject) => {
    const headers = { "Neon-Connection-String": branch.uri, "Content-Length": 64 * 1024 * 1024 + 1 };
    const declared = request(`${origin}/sql`, { method: "POST", headers });
    declared.once("response", (response) => {
      declared.destroy();
      resolve(response.statusCode);
    });
    declared.once("error", reject);
    declared.flushHeaders();
  });
  expect(status).toBe(413);
  const tooLarge = await post({ query: "select repeat('x', 1048576) from generate_series(1, 64)" });
  expect([tooLarge.status, tooLarge.body.message]).toEqual([
    507,
    "response is too large (max is 67108864 bytes)",
  ]);
});
