import { createConnection } from "node:net";
import pg from "pg";
import { expect, test } from "vitest";
import {
  connect,
  createBranch,
  isMissing,
  runProgram,
  serverForTests,
  stateOf,
} from "../support/postgres/postgres.ts";

const server = await serverForTests(["--operations", "immediate", "--clock", "manual"]);
const branch = await createBranch(server);
const query = `branch_id=${branch.branchId}&database_name=neondb&role_name=neondb_owner&pooled=true`;
const { body } = await server.api("GET", `/projects/${branch.projectId}/connection_uri?${query}`);
const pooled: string = body.uri;

async function pidOf(client: pg.Client): Promise<number> {
  return (await client.query("select pg_backend_pid() as pid")).rows[0].pid;
}

test("the pooled URI names the pooler", () =>
  expect(new URL(pooled).searchParams.get("options")).toMatch(/-pooler$/));

test("100 clients share sessions, and one of them has the same session during its transaction", async () => {
  const clients = await Promise.all(Array.from({ length: 100 }, () => connect(pooled)));
  const pids = new Set(await Promise.all(clients.map(pidOf)));
  expect(pids.size).toBeLessThanOrEqual(64);
  const [first, second] = clients as [pg.Client, pg.Client];
  await first.query("begin");
  const pid = await pidOf(first);
  expect(await pidOf(second)).not.toBe(pid);
  expect(await pidOf(first)).toBe(pid);
  await first.query("commit");
  await Promise.all(clients.map((client) => client.end()));
});

test("SET, PREPARE, LISTEN and temporary tables stay in the session, which the next client gets", async () => {
  const [one, two] = [await connect(pooled), await connect(pooled)];
  await one.query("set statement_timeout = 54321");
  await one.query("prepare ours as select 42 as answer");
  await one.query("create temporary table passing (id int)");
  await one.query("listen news");
  expect((await two.query("show statement_timeout")).rows[0].statement_timeout).toBe("54321ms");
  expect((await two.query("execute ours")).rows).toEqual([{ answer: 42 }]);
  expect((await two.query("select * from passing")).rows).toEqual([]);
  const heard: (string | undefined)[] = [];
  two.on("notification", ({ payload }) => heard.push(payload));
  await two.query("notify news, 'hello'");
  expect(heard).toEqual(["hello"]);
  await two.query("discard all");
});

test("each role has sessions of its own", async () => {
  const path = `/projects/${branch.projectId}`;
  await server.api("POST", `${path}/branches/${branch.branchId}/roles`, { role: { name: "second" } });
  const other = await server.api(
    "GET",
    `${path}/connection_uri?${query.replace("role_name=neondb_owner", "role_name=second")}`,
  );
  const [one, two] = [await connect(pooled), await connect(other.body.uri)];
  // One after another, so that each could get the session that the other has just left.
  for (const [client, role] of [
    [one, "neondb_owner"],
    [two, "second"],
    [one, "neondb_owner"],
  ] as const)
    expect((await client.query("select current_user as role")).rows).toEqual([{ role }]);
});

test("each client has its own application_name, TimeZone and DateStyle", async () => {
  const one = await connect(pooled, { application_name: "one" });
  const two = await connect(pooled, { application_name: "two" });
  await one.query("set timezone = 'Asia/Tokyo'; set datestyle = 'German'");
  const settings =
    "select current_setting('application_name') || ' ' || current_setting('TimeZone') || ' ' || current_setting('DateStyle') as all";
  const before = (await two.query(settings)).rows[0].all;
  expect(before).toMatch(/^two (?!Asia)\S+ ISO/);
  expect((await one.query(settings)).rows[0].all).toBe("one Asia/Tokyo German, DMY");
  expect((await two.query(settings)).rows[0].all).toBe(before);
});

test("statements that are prepared by the protocol work in every session", async () => {
  const [one, two] = [await connect(pooled), await connect(pooled)];
  const double = { name: "double", text: "select $1::int * 2 as double" };
  expect((await one.query({ ...double, values: [1] })).rows).toEqual([{ double: 2 }]);
  // The other client takes the session, so the next transaction gets another one.
  await two.query("begin");
  expect((await one.query({ ...double, values: [2] })).rows).toEqual([{ double: 4 }]);
  expect((await two.query({ ...double, values: [3] })).rows).toEqual([{ double: 6 }]);
  await two
    .query({ ...double, name: "failing", text: "select $1::int / 0", values: [3] })
    .catch(() => undefined);
  await two.query("rollback");
  await expect(two.query({ name: "broken", text: "select nothing" })).rejects.toMatchObject({
    code: "42703",
  });
  await expect(one.query({ name: "broken", text: "select nothing" })).rejects.toMatchObject({
    code: "42703",
  });
  await one.query("discard all");
  expect((await two.query({ ...double, values: [4] })).rows).toEqual([{ double: 8 }]);
});

test("more than 1,000 prepared statements close the oldest ones of a session", async () => {
  const client = await connect(pooled);
  await client.query("begin");
  for (let number = 0; number < 1_010; number += 1)
    await client.query({ name: `s${number}`, text: `select ${number} as number` });
  const held = await client.query(
    "select count(*)::int as held from pg_prepared_statements where not from_sql",
  );
  expect(held.rows).toEqual([{ held: 1_000 }]);
  expect((await client.query({ name: "s0", text: "select 0 as number" })).rows).toEqual([{ number: 0 }]);
  await client.query("commit");
});

test.each([
  ["search_path", { options: undefined, search_path: "public" }],
  ["in options: statement_timeout", { options: "-c statement_timeout=5s" }],
])("unsupported startup parameter: %s", async (text, { options, ...parameters }) => {
  const url = new URL(pooled);
  if (options !== undefined) url.searchParams.set("options", `${url.searchParams.get("options")} ${options}`);
  url.searchParams.set("sslmode", "no-verify");
  const client = new pg.Client({ connectionString: url.href });
  const { getStartupConf } = client as unknown as { getStartupConf(): object };
  Object.assign(client, { getStartupConf: () => ({ ...getStartupConf.call(client), ...parameters }) });
  await expect(client.connect()).rejects.toMatchObject({
    code: "08P01",
    message: `unsupported startup parameter${text.startsWith("in") ? " " : ": "}${text}`,
  });
});

test("a client that leaves within a transaction undoes it", async () => {
  const [leaving, other] = [await connect(pooled), await connect(pooled)];
  await other.query("create table undone (id int)");
  await leaving.query("begin");
  await leaving.query("insert into undone values (1)");
  await leaving.end();
  // Waits until the session of the other client has ended.
  await other.query("begin; lock table undone in access exclusive mode; commit");
  expect((await other.query("select * from undone")).rows).toEqual([]);
});

test("a query is canceled in the session that executes it", async () => {
  const client = await connect(pooled);
  const slow = client.query("select pg_sleep(60)");
  // The query may not have reached its session yet.
  const other = await connect(pooled);
  for (;;) {
    const { rows } = await other.query("select 1 from pg_stat_activity where query like 'select pg_sleep%'");
    if (rows.length > 0) break;
  }
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
  const packet = Buffer.alloc(16);
  packet.writeInt32BE(16, 0);
  packet.writeInt32BE(80_877_102, 4);
  packet.writeInt32BE(processID, 8);
  packet.writeInt32BE(secretKey, 12);
  createConnection(server.pgPort, "127.0.0.1").end(packet);
  await expect(slow).rejects.toMatchObject({ code: "57014" });
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("an idle client does not keep the compute active, an open transaction does", async () => {
  const [idle, working] = [await connect(pooled), await connect(pooled)];
  const codes: (string | undefined)[] = [];
  idle.on("error", (error) => codes.push((error as pg.DatabaseError).code));
  await working.query("begin");
  await server.sim("POST", "/clock/advance", { by: "10m" });
  expect(await stateOf(server, branch)).toBe("active");
  await working.query("commit");
  await server.sim("POST", "/clock/advance", { by: "10m" });
  expect(await stateOf(server, branch)).toBe("idle");
  while (codes.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(codes[0]).toBe("57P01");
  expect(await pidOf(await connect(pooled))).toBeGreaterThan(0);
});

test("the pooler accepts 10,000 clients, and rejects the next one", async () => {
  const full = await createBranch(server);
  const client = (connection_id: string) => ({
    endpoint_id: full.endpointId,
    kind: "connect",
    connection_id,
    pooled: true,
  });
  const clients = Array.from({ length: 9_999 }, (_, index) => client(`client-${index}`));
  // Two requests, because the body of one with long endpoint ids may exceed 1 MiB.
  for (const part of [clients.slice(0, 5_000), clients.slice(5_000)])
    expect((await server.sim("POST", "/activity", part)).status).toBe(200);
  const uri = new URL(full.uri);
  uri.hostname = uri.hostname.replace(full.endpointId, `${full.endpointId}-pooler`);
  uri.searchParams.set("options", `endpoint=${full.endpointId}-pooler`);
  const last = await connect(uri.href);
  expect((await last.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await expect(connect(uri.href)).rejects.toMatchObject({
    severity: "FATAL",
    code: "08P01",
    message: "no more connections allowed (max_client_conn)",
  });
  await server.sim("POST", "/activity", { ...client("client-0"), kind: "disconnect" });
  expect((await (await connect(uri.href)).query("select 2 as two")).rows).toEqual([{ two: 2 }]);
});

test.skipIf(isMissing("psql"))("psql copies data in and out", async () => {
  const script =
    "create table copied (id int, text text);\n\\copy copied from pstdin\n1\tone\n2\ttwo\n\\.\n\\copy copied to pstdout\nselect count(*) from copied;\n";
  const { stdout, stderr } = await runProgram("psql", [pooled, "-XAtq", "-v", "ON_ERROR_STOP=1"], script);
  expect([stdout, stderr]).toEqual(["1\tone\n2\ttwo\n2\n", ""]);
});
