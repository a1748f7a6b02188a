import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runScenarioJob } from "../../src/cli/run/run-job.ts";
import { CONTROL_ANSWERS } from "../../src/control-api/document/answers.ts";
import type { RunFailure } from "../../src/scenario/run/verdict.ts";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
  stateOf,
} from "../support/postgres/postgres.ts";
import { runStandin } from "../support/process/in-process-command.ts";
import { failuresOf, runScenarioText } from "../support/scenario/scenario-run.ts";
import { testDirectory } from "../support/server/running-server.ts";

const WORLD = `version: 1
name: orders
world:
  start_delay: 3s
  projects:
    shop: { branches: { main: { computes: { primary: {} } } } }
steps:
`;

const STORY = `${WORLD}
  - sql: { on: shop/main, query: "create table orders (id int primary key, item text)" }
  - sql:
      on: shop/main
      query: "insert into orders values ($1, $2) returning id, item"
      params: [7, "lamp"]
      rows: [{ item: lamp }]
      row_count: 1
      capture: { order: 0.id }
  - sql: { on: shop/main, query: "insert into orders values ({order})", error: "23505" }
  - request:
      method: POST
      path: /projects/{shop}/branches
      body: { branch: { name: dev }, endpoints: [{ type: read_write }] }
      status: 201
      capture: { dev: endpoints.0.id }
  - advance: { until: settled }
  - sql: { on: "{dev}", query: "delete from orders", row_count: 1 }
  - snapshot: before
  - sql: { on: shop/main, query: "update orders set item = 'chair'" }
  - restart: true
  - sql: { on: shop/main, query: "select item from orders", rows: [{ item: chair }] }
  - sql: { on: "{dev}", query: "select * from orders", rows: [] }
  - restore: before
  - sql: { on: shop/main, query: "select id, item from orders", rows: [{ id: 7, item: lamp }] }
  - advance: 10m
  - expect: [{ state: idle, of: shop/main }]
  - sql: { on: shop/main, pooled: true, query: "select count(*)::int as orders from orders", rows: [{ orders: 1 }] }
  - expect: [{ state: active, of: shop/main }]
`;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgresServer(["--clock", "manual"]);
});
afterAll(() => server.end());

test("a recording of real clients' work runs to the same state, without Postgres", async () => {
  const branch = await createBranch(server, { name: "recorded" });
  const client = await connect(branch.uri);
  await client.query("begin");
  await server.sim("POST", "/clock/advance", { by: "10m" });
  expect(await stateOf(server, branch)).toBe("active");
  await client.query("commit");
  await server.sim("POST", "/clock/advance", { by: "1h" });
  await (await connect(branch.uri)).query("select 1");
  await server.sim("POST", "/clock/advance", { by: "2s" });
  expect((await server.sim("POST", "/endpoints/ep-none-1/sql", { query: "select 1" })).status).toBe(404);
  const reserved = { endpoint_id: branch.endpointId, kind: "connect", connection_id: "pg-1" };
  expect((await server.sim("POST", "/activity", reserved)).body.message).toBe(
    "connection_id: must not begin with pg-, which is reserved for Postgres clients",
  );
  const out = join(server.data, "recorded.yaml");
  const recorded = await runStandin(["record", "--data", server.data, "--out", out, "--json"]);
  // Statements are not stored, which is said, and the exit status shows it.
  expect(recorded.code).toBe(1);
  expect(JSON.parse(recorded.stdout)).toMatchObject({
    omitted: [
      expect.stringMatching(
        `^SQL of Postgres clients on ${branch.endpointId} from .* statements are not stored`,
      ),
    ],
    state: expect.any(String),
  });
  expect(await runStandin(["run", out])).toMatchObject({ code: 0 });
});

test("sql steps read what they wrote, on branches, after a restart and a restore", async () => {
  expect(failuresOf(await runScenarioText(STORY))).toEqual([]);
});

test("a sql step that finds other rows than expected says so, in the same words each time", async () => {
  const text = `${WORLD}
  - sql: { on: shop/main, query: "select 1 as one union all select 2", rows: [{ one: 1 }, { one: 3 }] }
  - sql: { on: shop/main, query: "select 1 as one", rows: [], row_count: 2, capture: { two: 0.two } }
  - sql: { on: shop/main, query: "select nothing" }
  - sql: { on: shop/main, query: "select 1", error: "22012" }
  - sql: { on: shop/main, query: "select 1 / 0", error: "23505" }
  - sql: { on: shop/main, query: "select pg_sleep(3600)", timeout: 50ms }
  - sql: { on: shop/main, query: "select 1 as one", rows: [{ one: 1 }] }
  - sql: { on: shop/main, query: "create role reader login password 'Reader-pass-1'" }
  - request: { path: "/projects/{shop}/branches/{shop/main}/roles/reader" }
  - sql: { on: shop/main, query: "create database reports" }
  - request: { path: "/projects/{shop}/branches/{shop/main}/databases/reports" }
`;
  const [verdicts, repeated] = [await runScenarioText(text), await runScenarioText(text)];
  expect(repeated).toEqual(verdicts);
  expect(failuresOf(verdicts)).toEqual([
    'step 1: expected row 2: {"one":3}, actual row 2: {"one":2}',
    "step 2: expected 2 rows, actual 1 row",
    "step 2: expected 0 rows, actual 1 row",
    "step 2: expected a value at 0.two of the rows, to capture as two, actual no value",
    'step 3: expected no error, actual error 42703: column "nothing" does not exist',
    "step 4: expected error 22012, actual no error",
    "step 5: expected error 23505, actual error 22012: division by zero",
    "step 6: expected no error, actual error 57014: the statement did not end within its timeout of 50 ms",
  ]);
});

const onServer = () => ({ target: { url: server.ready.api_url } });

test("the file of a failed run has its sql steps, and fails in the same way when it is run again", async () => {
  const directory = testDirectory();
  const file = join(directory, "orders.yaml");
  const insert = "insert into orders values (7, 'lamp')";
  writeFileSync(
    file,
    `${WORLD}
  - sql: { on: shop/main, query: "create table orders (id int primary key, item text)" }
  - sql: { on: shop/main, query: "${insert}" }
  - advance: 10m
  - sql: { on: shop/main, query: "select item from orders", rows: [{ item: chair }] }
`,
  );
  const failed = join(directory, "failures");
  const outcomeOf = async (...args: readonly string[]) => {
    const { code, stdout } = await runStandin(["run", ...args, "--json"]);
    const [{ failures }] = JSON.parse(stdout).runs as [{ failures: readonly RunFailure[] }];
    return { code, failures: failures.map(({ at, actual }) => ({ at, actual })) };
  };
  const first = await outcomeOf(file, "--failures", failed);
  expect(first).toMatchObject({ code: 1, failures: [{ actual: expect.stringContaining("lamp") }] });
  const [name = ""] = readdirSync(failed);
  expect(readFileSync(join(failed, name), "utf8")).toContain(insert);
  expect(await outcomeOf(join(failed, name))).toEqual(first);
});

test("the example of the documentation passes", async () => {
  const text = readFileSync("docs/reference/scenario-file.md", "utf8");
  const [, example = ""] = /^```yaml\n((?:(?!```)[\s\S])*sql:[\s\S]*?)^```$/m.exec(text) ?? [];
  expect(failuresOf(await runScenarioText(example, "docs.yaml", onServer()))).toEqual([]);
});

test("the control API executes SQL as a role of the branch only", async () => {
  const branch = await createBranch(server);
  const path = `/endpoints/${branch.endpointId}/sql`;
  const failed = await server.sim("POST", path, { query: "select 1 / 0" });
  const done = await server.sim("POST", path, {
    query: "select current_user as me, $1::int as one",
    params: [1],
  });
  for (const { body } of [done, failed])
    expect(CONTROL_ANSWERS["POST /endpoints/:endpoint_id/sql"].content.safeParse(body).error).toBeUndefined();
  expect([done.status, done.body]).toMatchObject([
    200,
    { outcome: "done", command: "SELECT", row_count: 1, rows: [{ me: "neondb_owner", one: 1 }] },
  ]);
  expect(failed.body).toMatchObject({
    outcome: "refused",
    error: { code: "22012", message: "division by zero" },
  });
  for (const [body, status, message] of [
    [{ query: "select 1", role: "postgres" }, 404, /role/],
    [{ query: "select 1", database: "template1" }, 404, /database "template1" not found/],
    [{ query: 1 }, 400, /query/],
    [{ query: "select 1", parms: [] }, 400, /parms/],
    [{ query: "select 1", timeout: "2h" }, 400, /timeout: must be longer than 0 and not longer than 1h/],
  ] as const) {
    const answer = await server.sim("POST", path, body);
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
  }
  expect((await server.sim("POST", "/endpoints/ep-none/sql", { query: "select 1" })).status).toBe(404);
});

test("an interrupted run ends the statement that it waits for", async () => {
  const controller = new AbortController();
  const text = `${WORLD}
  - sql: { on: shop/main, query: "select 1" }
  - sql: { on: shop/main, query: "select pg_sleep(3600)", timeout: 1h }
`;
  const run = runScenarioJob(
    { file: "mine.yaml", text, variant: 0, recordings: new Map(), bail: false },
    // The next statement has begun when the event loop is idle again.
    { signal: controller.signal, onStep: () => setTimeout(() => controller.abort(), 100) },
  );
  await expect(run).rejects.toThrow("aborted");
});
