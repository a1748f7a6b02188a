import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
  type TestBranch,
} from "../support/postgres/postgres.ts";
import { failuresOf, runScenarioText } from "../support/scenario/scenario-run.ts";

let server: PostgresServer;
let branch: TestBranch;
let pooled: string;
beforeAll(async () => {
  server = await startPostgresServer(["--operations", "immediate", "--clock", "manual"]);
  branch = await createBranch(server);
  const query = `branch_id=${branch.branchId}&database_name=neondb&role_name=neondb_owner&pooled=true`;
  pooled = (await server.api("GET", `/projects/${branch.projectId}/connection_uri?${query}`)).body.uri;
});
afterEach(() => server.sim("DELETE", "/faults"));
afterAll(() => server.end());

async function setFault(effect: unknown, more: object = {}): Promise<void> {
  expect((await server.sim("PUT", "/faults/connection", { effect, ...more })).status).toBe(200);
}
const counts = async () => {
  const { seen, hits } = (await server.sim("GET", "/faults/connection")).body.fault;
  return { seen, hits };
};
const sqlOverHttp = (uri: string) =>
  fetch(new URL("/sql", server.ready.api_url), {
    method: "POST",
    headers: { "Neon-Connection-String": uri },
    body: JSON.stringify({ query: "select 1 as one" }),
  });

test.each([["direct"], ["pooled"]])(
  "%s clients are rejected with a SQLSTATE, the first two only",
  async (kind) => {
    const uri = kind === "pooled" ? pooled : branch.uri;
    await setFault({ reject_connection: { code: "53300", message: "too many" } }, { when: { first: 2 } });
    for (let attempt = 0; attempt < 2; attempt += 1)
      await expect(connect(uri)).rejects.toMatchObject({
        severity: "FATAL",
        code: "53300",
        message: "too many",
      });
    expect((await (await connect(uri)).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    expect(await counts()).toEqual({ seen: 2, hits: 2 });
    const { body } = await server.sim("GET", "/events?limit=10000");
    expect(body.events.filter(({ type }: { type: string }) => type === "FaultHit").at(-1)).toMatchObject({
      fault: "connection",
      number: 2,
      target: { kind: "connection", endpoint_id: branch.endpointId, branch_id: branch.branchId },
      outcome: { kind: "reject_connection", code: "53300" },
    });
  },
);

test("a dropped connection ends without an error of Postgres, also over HTTP", async () => {
  await setFault("drop_connection", { when: { first: 2 } });
  await expect(connect(branch.uri)).rejects.toThrow(/ECONNRESET|terminated unexpectedly|socket/i);
  await expect(sqlOverHttp(branch.uri)).rejects.toThrow("fetch failed");
  expect(await (await sqlOverHttp(branch.uri)).json()).toMatchObject({ rows: [{ one: 1 }] });
});

test("a delayed connection advances a manual clock", async () => {
  const now = async () => Date.parse((await server.sim("GET", "/clock")).body.now);
  await setFault({ delay_connection: "30s" }, { on: { match: { endpoint_id: branch.endpointId } } });
  const before = await now();
  await connect(branch.uri);
  expect((await now()) - before).toBe(30_000);
  const other = await createBranch(server);
  const between = await now();
  await connect(other.uri);
  expect(await now()).toBe(between);
  expect(await counts()).toEqual({ seen: 1, hits: 1 });
});

test.each([["direct"], ["pooled"]])(
  "the query after the last one that a fault allows ends a %s connection",
  async (kind) => {
    await setFault({ end_connection: { after: 2 } }, { when: { first: 1 } });
    const client = await connect(kind === "pooled" ? pooled : branch.uri);
    await client.query("select 1");
    await client.query("begin; select 1; select 2; commit");
    await expect(client.query("select 3")).rejects.toMatchObject({ severity: "FATAL", code: "57P01" });
    const next = await connect(kind === "pooled" ? pooled : branch.uri);
    for (let query = 0; query < 4; query += 1) await next.query("select 1");
  },
);

test("sql steps of a scenario meet the faults of connections, as the seed draws them", async () => {
  const steps = Array.from(
    { length: 4 },
    () => `
  - sql: { on: shop/main, query: select 1, role: neondb_owner, pooled: true }
  - control: { method: POST, path: "/clock/advance", body: { by: 10m } }`,
  ).join("");
  const text = `version: 1
world: { projects: { shop: {} } }
steps:
  - fault: { name: net, when: { probability: 0.5 }, effect: drop_connection }
  - fault: { name: full, on: { match: { branch_id: "{shop/main}" } }, when: { first: 1 }, effect: { reject_connection: { code: "53300" } } }
  - sql: { on: shop/main, query: select 1, error: "53300" }${steps}
`;
  const first = await runScenarioText(text);
  expect(failuresOf(first)).toEqual(
    [4, 6, 10].map((step) => `step ${step}: expected no error, actual error 08006: the connection was lost`),
  );
});
