import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createStandin } from "@standin/standin";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  connect,
  createBranch,
  type PostgresServer,
  runningPostgres,
  startPostgresServer,
  type TestBranch,
} from "../support/postgres/postgres.ts";
import { hasTimeLibrary } from "../support/postgres/time-library.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { failuresOf, runScenarioFile, runScenarioText } from "../support/scenario/scenario-run.ts";
import { TRIAL } from "../support/scenario/shipped-scenarios.ts";

const WORLD_CLOCK = ["--operations", "immediate", "--sql-clock", "world"];
const DAY_MS = 86_400_000;
/** Longer than SQL's time stands still while a statement runs. */
const LATE_MS = 2_000;

/** Instants as text with all digits, so that a microsecond too little is seen. */
const CLOCKS = `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as now,
  to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as clock`;

async function worldNow(server: PostgresServer): Promise<number> {
  return Date.parse((await server.sim("GET", "/clock")).body.now);
}

/** An instant of the world in the form of `CLOCKS`. */
function inSql(at: number): string {
  return new Date(at).toISOString().replace("Z", "000");
}

async function epoch(client: pg.Client, expression = "now()"): Promise<number> {
  const { rows } = await client.query(`select extract(epoch from ${expression})::float8 * 1000 as at`);
  return rows[0].at;
}

/** The SQLSTATE of the error, and the wall-clock time until then. */
async function failure(query: Promise<unknown>): Promise<{ code: string; ms: number }> {
  const begun = performance.now();
  const code = await query.then(
    () => "none",
    (error: { code: string }) => error.code,
  );
  return { code, ms: performance.now() - begun };
}

describe.runIf(hasTimeLibrary())("in a scenario", () => {
  test("a trial ends after 14 days, each time with the same report", async () => {
    const verdicts = await runScenarioFile(TRIAL);
    expect(failuresOf(verdicts)).toEqual([]);
    expect(await runScenarioFile(TRIAL)).toEqual(verdicts);
  });

  test("with the machine's clock, the trial does not end", async () => {
    const text = readFileSync(TRIAL, "utf8").replace("sql_clock: world", "sql_clock: machine");
    expect(failuresOf(await runScenarioText(text))).toEqual([
      "step 7: expected 1 row, actual 2 rows",
      "step 7: expected 1 row, actual 2 rows",
      "step 8: expected 1 row, actual 0 rows",
      "step 9: expected 0 rows, actual 2 rows",
    ]);
  });
});

describe.runIf(hasTimeLibrary())("on a manual clock", () => {
  let server: PostgresServer;
  let branch: TestBranch;
  beforeAll(async () => {
    server = await startPostgresServer([...WORLD_CLOCK, "--clock", "manual"]);
    // Years after the date of the machine.
    await server.sim("POST", "/clock/advance", { by: "700d" });
    branch = await createBranch(server);
  });
  afterAll(() => server.end());

  const advance = (by: string) => server.sim("POST", "/clock/advance", { by });

  test("now() is the world's instant to the microsecond, and a week later after a week", async () => {
    const client = await connect(branch.uri);
    const at = await worldNow(server);
    for (let reading = 0; reading < 3; reading += 1) {
      expect((await client.query(CLOCKS)).rows).toEqual([{ now: inSql(at), clock: inSql(at) }]);
      await sleep(300);
    }
    await advance("1s 1ms");
    expect((await client.query(CLOCKS)).rows[0].now).toBe(inSql(at + 1_001));
    await advance("7d");
    const later = await connect(branch.uri);
    expect((await later.query("select now()")).rows[0].now.getTime()).toBe(await worldNow(server));
    expect(await worldNow(server)).toBeGreaterThanOrEqual(at + 7 * DAY_MS);
  });

  test("a transaction keeps its instant, and another one that begins meanwhile has the new one", async () => {
    const [open, other] = [await connect(branch.uri), await connect(branch.uri)];
    const at = await worldNow(server);
    await open.query("begin");
    expect(await epoch(open)).toBe(at);
    await advance("10m");
    expect(await epoch(other)).toBe(at + 600_000);
    expect(await epoch(open)).toBe(at);
    expect(await epoch(open, "clock_timestamp()")).toBeGreaterThanOrEqual(at + 600_000);
    await open.query("rollback");
  });

  test("the clock goes on while a statement runs for long, and then is the world's again", async () => {
    const client = await connect(branch.uri);
    const at = await worldNow(server);
    const late = await epoch(client, "clock_timestamp() + 0 * (select count(pg_sleep(1))) * interval '1s'");
    expect(late).toBeGreaterThanOrEqual(at);
    expect(
      (await client.query("select clock_timestamp() as c from pg_sleep(1)")).rows[0].c.getTime(),
    ).toBeGreaterThan(at);
    expect(await epoch(client)).toBe(at);
  });

  test("SQL over HTTP and pooled sessions have the same clock", async () => {
    const response = await fetch(new URL("/sql", server.ready.api_url), {
      method: "POST",
      headers: { "Neon-Connection-String": branch.uri, "Content-Type": "application/json" },
      body: JSON.stringify({ query: CLOCKS }),
    });
    const body = (await response.json()) as { rows: { now: string }[] };
    expect(body.rows[0]?.now).toBe(inSql(await worldNow(server)));
    const pooled = await connect(branch.uri.replace(/(ep-[a-z]+-[a-z]+-[a-z0-9]+)/, "$1-pooler"));
    expect((await pooled.query(CLOCKS)).rows[0].now).toBe(inSql(await worldNow(server)));
  });

  test.each([
    ["while it waits", "select pg_sleep(10)"],
    ["while it computes", "select count(*) from generate_series(1, 1000000000)"],
  ])("a statement reaches its timeout %s", async (_case, statement) => {
    const client = await connect(branch.uri);
    await client.query("set statement_timeout = '500ms'");
    const { code, ms } = await failure(client.query(statement));
    expect(code).toBe("57014");
    expect(ms).toBeGreaterThan(450);
    expect(ms).toBeLessThan(500 + LATE_MS);
  });

  test("a deadlock is found, and a lock timeout and an idle transaction end", async () => {
    const [one, other] = [await connect(branch.uri), await connect(branch.uri)];
    await one.query(
      "create table if not exists locked (x int); truncate locked; insert into locked values (1), (2)",
    );
    await one.query("begin; update locked set x = x where x = 1");
    await other.query("begin; update locked set x = x where x = 2");
    const both = await Promise.all([
      failure(one.query("update locked set x = x where x = 2").then(() => one.query("commit"))),
      failure(other.query("update locked set x = x where x = 1").then(() => other.query("commit"))),
    ]);
    expect(both.map(({ code }) => code).sort()).toEqual(["40P01", "none"]);
    await one.query("rollback; begin; lock table locked");
    await other.query("rollback; set lock_timeout = '500ms'");
    expect((await failure(other.query("select * from locked"))).code).toBe("55P03");
    await other.query("set idle_in_transaction_session_timeout = '500ms'");
    const ended = new Promise((resolve) =>
      other.once("error", (error: { code?: string }) => resolve(error.code)),
    );
    await other.query("begin");
    expect(await ended).toBe("25P03");
    await one.query("rollback");
  });

  test("a branch at an instant that SQL has recorded has what was committed by then", async () => {
    const client = await connect(branch.uri);
    await client.query("create table if not exists events (at timestamptz default now(), n int)");
    const { rows } = await client.query("insert into events (n) values (1) returning at");
    await advance("1h");
    const after = await connect(branch.uri);
    await after.query("insert into events (n) values (2)");
    const created = await server.api("POST", `/projects/${branch.projectId}/branches`, {
      branch: { parent_timestamp: rows[0].at.toISOString() },
      endpoints: [{ type: "read_write" }],
    });
    const query = `branch_id=${created.body.branch.id}&database_name=neondb&role_name=neondb_owner`;
    const { body } = await server.api("GET", `/projects/${branch.projectId}/connection_uri?${query}`);
    const past = await connect(body.uri);
    expect((await past.query("select n, at = now() as is_same from events")).rows).toEqual([
      { n: 1, is_same: false },
    ]);
    expect((await past.query("select now()")).rows[0].now.getTime()).toBe(await worldNow(server));
  });

  test("a read replica has the clock, stays connected over a jump, and sees the primary's commit times", async () => {
    const created = await server.api("POST", `/projects/${branch.projectId}/endpoints`, {
      endpoint: { branch_id: branch.branchId, type: "read_only", suspend_timeout_seconds: -1 },
    });
    const url = new URL(branch.uri);
    url.searchParams.set("options", `endpoint=${created.body.endpoint.id}`);
    const replica = await connect(url.href);
    await advance("7d");
    const primary = await connect(branch.uri);
    await primary.query("create table if not exists replicated (x int); insert into replicated values (1)");
    const at = await worldNow(server);
    await expect
      .poll(async () =>
        (await replica.query("select pg_last_xact_replay_timestamp() as at")).rows[0].at?.getTime(),
      )
      .toBe(at);
    expect(await epoch(replica)).toBe(at);
  });
});

test.runIf(hasTimeLibrary())("a scaled clock runs at its pace for SQL, too", async () => {
  const server = await startPostgresServer([...WORLD_CLOCK, "--clock", "60x"]);
  onTestFinished(() => server.end());
  const client = await connect((await createBranch(server)).uri);
  for (let reading = 0; reading < 3; reading += 1) {
    const before = await worldNow(server);
    const at = await epoch(client);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(await worldNow(server));
    await sleep(100);
  }
  const { rows } = await client.query("select now() as began, clock_timestamp() as ended from pg_sleep(1)");
  const passed = (rows[0].ended.getTime() - rows[0].began.getTime()) / 1_000;
  expect(passed).toBeGreaterThan(60 * 0.9);
});

test.runIf(hasTimeLibrary())("nothing of the clock is left after SIGKILL of the server", async () => {
  const { path: data, remove } = temporaryDirectory();
  onTestFinished(remove);
  const shared = () => readdirSync("/dev/shm").filter((name) => name.includes("faketime"));
  const before = shared();
  const server = await startPostgresServer([...WORLD_CLOCK, "--clock", "manual"], data);
  onTestFinished(() => server.end());
  const branch = await createBranch(server);
  const client = await connect(branch.uri);
  await client.query("create table rows as select generate_series(1, 100000)");
  const root = dirname(runningPostgres(data).socketDirectory);
  expect(readdirSync(root).filter((name) => name.endsWith(".clock"))).not.toEqual([]);
  await server.kill("SIGKILL");
  await expect.poll(() => existsSync(root), { timeout: 5_000 }).toBe(false);
  await expect.poll(shared).toEqual(before);
});

test.runIf(hasTimeLibrary())("a trial of an in-process world ends after 14 days", async () => {
  const sim = await createStandin({ operations: "immediate", postgres: { sqlClock: "world" } });
  onTestFinished(() => sim.close());
  await sim.fetch("/api/v2/projects", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ project: { name: "shop" } }),
  });
  const uri = await sim.connectionUri();
  const client = await connect(uri);
  await client.query(
    "create table trials (ends timestamptz); insert into trials values (now() + interval '14 days')",
  );
  const hasEnded = async () => {
    const { rows } = await (await connect(uri)).query("select ends <= now() as has_ended from trials");
    return rows[0].has_ended;
  };
  await sim.advance("13d 23h");
  expect(await hasEnded()).toBe(false);
  await sim.advance("1h");
  expect(await hasEnded()).toBe(true);
});

test("without the option, now() is the machine's clock", async () => {
  const server = await startPostgresServer(["--operations", "immediate", "--clock", "manual"]);
  onTestFinished(() => server.end());
  await server.sim("POST", "/clock/advance", { by: "700d" });
  const client = await connect((await createBranch(server)).uri);
  expect(Math.abs((await epoch(client)) - Date.now())).toBeLessThan(DAY_MS);
});
