import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { AccountCurve } from "../../../src/whatif/periods/account-curve.ts";
import type { DelayFigures, LatencyFigures } from "../../../src/whatif/questions/curve/curve-summary.ts";
import {
  accountFileName,
  countOperationsIn,
  operationIdsIn,
  operationIdsOf,
  pull,
  startAccount,
  useComputes,
} from "../../support/account/account-server.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnStandin } from "../../support/process/process.ts";
import { startRewritingProxy } from "../../support/server/rewriting-proxy.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";
import { runWhatif } from "../../support/whatif/whatif-command.ts";

/** Pages of five operations, so that a project has several. */
const shortPages = (path: string) => path.replace("limit=1000", "limit=5");
const DEFAULT_DELAY_S = 300;
/** The proxy has no Date of the account's clock. */
const DATE = { Date: "Tue, 06 Jan 2026 00:00:00 GMT" };
/** Calls for the account itself: projects, organizations, hourly and daily consumption. */
const CALLS_OF_ACCOUNT = 6;

test("a pull reads every operation of a compute, and a second one only what is new", async () => {
  const server = await startAccount(["shop", "blog"]);
  const out = accountFileName();
  const first = await pull(server.ready.api_url, server.key, out, "--json");
  expect({ code: first.code, stderr: first.stderr }).toEqual({
    code: 0,
    stderr: "reading 2 projects with at least 7 calls\n",
  });
  expect(operationIdsIn(out)).toEqual(await operationIdsOf(server));
  expect(operationIdsIn(out).length).toBeGreaterThan(20);
  // Projects are read at the same time.
  expect(JSON.parse(first.stdout).operations).toBe(countOperationsIn(out));

  const second = JSON.parse((await pull(server.ready.api_url, server.key, out, "--json")).stdout);
  expect(second.operations).toBe(0);
  expect(second.calls).toBeLessThanOrEqual(2 * server.projects.length + CALLS_OF_ACCOUNT);

  await useComputes(server);
  const third = JSON.parse((await pull(server.ready.api_url, server.key, out, "--json")).stdout);
  expect(third.operations).toBeGreaterThan(10);
  expect(operationIdsIn(out)).toEqual(await operationIdsOf(server));
});

test("a pull that is killed between two pages is continued by the next one", async () => {
  const server = await startAccount(["shop"]);
  const out = accountFileName();
  let pages = 0;
  const proxy = await startRewritingProxy(
    server.ready.api_url,
    (intercepted) => {
      intercepted.headers = DATE;
      if (!intercepted.path.includes("/operations?")) return;
      pages += 1;
      intercepted.isHeld = pages === 3;
    },
    shortPages,
  );
  const args = ["account", "pull", "--from", proxy.url, "--out", out];
  const killed = spawnStandin(args, { STANDIN_FROM_KEY: server.key });
  await expect.poll(() => pages, { timeout: 20_000 }).toBe(3);
  await killed.kill("SIGKILL");

  const before = operationIdsIn(out);
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThan((await operationIdsOf(server)).length);
  expect((await runStandin(["account", "show", out])).stdout).toContain("1 project not read to the end");

  expect((await pull(proxy.url, server.key, out)).code).toBe(0);
  expect(operationIdsIn(out)).toEqual(await operationIdsOf(server));
  expect((await runStandin(["account", "show", out])).stdout).not.toContain("not read to the end");
});

test("what was read stays in the file if the key is revoked half-way", async () => {
  const server = await startAccount(["shop"]);
  const out = accountFileName();
  let pages = 0;
  const proxy = await startRewritingProxy(
    server.ready.api_url,
    (intercepted) => {
      intercepted.headers = DATE;
      if (intercepted.path.includes("/operations?")) pages += 1;
      if (pages < 3) return;
      intercepted.status = 401;
      intercepted.body = { code: "", message: `authentication failed for ${server.key}` };
    },
    shortPages,
  );
  const { code, stdout, stderr } = await pull(proxy.url, server.key, out);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /\/operations\?limit=1000&cursor=\S+: 401 authentication failed for …; check the API key\n$/,
  );
  expect(operationIdsIn(out).length).toBeGreaterThan(0);
});

test("a project that is deleted between two pages keeps what was read, and the others are read", async () => {
  const server = await startAccount(["shop", "blog"]);
  const out = accountFileName();
  const [deleted = "", other = ""] = server.projects;
  let pages = 0;
  const proxy = await startRewritingProxy(
    server.ready.api_url,
    (intercepted) => {
      intercepted.headers = DATE;
      if (!intercepted.path.startsWith(`/projects/${deleted}/operations`)) return;
      pages += 1;
      if (pages < 3) return;
      intercepted.status = 404;
      intercepted.body = { code: "", message: "project not found" };
    },
    shortPages,
  );
  expect(await pull(proxy.url, server.key, out)).toMatchObject({ code: 0 });
  const ids = operationIdsIn(out);
  expect(ids).toEqual(expect.arrayContaining(await operationIdsOf({ ...server, projects: [other] })));
  expect(ids.length).toBeLessThan((await operationIdsOf(server)).length);
  expect((await runStandin(["account", "show", out])).stdout).not.toContain("not read to the end");
});

test("an answer that breaks the schema names the call, and keeps what was read", async () => {
  const server = await startAccount(["shop"]);
  const out = accountFileName();
  const proxy = await startRewritingProxy(
    server.ready.api_url,
    (intercepted) => {
      intercepted.headers = DATE;
      if (/\/operations\?.*&cursor=/.test(intercepted.path)) delete intercepted.body.operations[0].action;
    },
    shortPages,
  );
  const { code, stderr } = await pull(proxy.url, server.key, out);
  expect(code).toBe(1);
  expect(stderr).toMatch(/\/operations\?limit=1000&cursor=.*action/);
  expect(operationIdsIn(out)).toHaveLength(5);
});

test("the file holds no key, email, password or connection string, and no names with --redact-names", async () => {
  const server = await startAccount(["quincunx-shop", "quincunx-blog"]);
  const { body } = await server.api("GET", "/users/me");
  const uri = await server.api(
    "GET",
    `/projects/${server.projects[0]}/connection_uri?database_name=neondb&role_name=neondb_owner`,
  );
  const password = new URL(uri.body.uri).password;
  const named = accountFileName();
  const redacted = accountFileName();
  await pull(server.ready.api_url, server.key, named);
  await pull(server.ready.api_url, server.key, redacted, "--redact-names");
  // A second pull gives the same names again.
  await pull(server.ready.api_url, server.key, redacted, "--redact-names");
  const [bytesNamed, bytesRedacted] = [named, redacted].map(bytesBeside) as [string, string];
  for (const secret of [server.key, password, body.email, "postgres://", "postgresql://"]) {
    expect(secret.length).toBeGreaterThan(5);
    expect(bytesNamed).not.toContain(secret);
    expect(bytesRedacted).not.toContain(secret);
  }
  expect(bytesNamed).toContain("quincunx-shop");
  expect(bytesRedacted).not.toContain("quincunx");
  expect(bytesRedacted).toContain("project-2");
});

test("a file of another kind is rejected", async () => {
  const other = join(testDirectory(), "other.standin-account");
  writeFileSync(other, "at,endpoint\n".repeat(100));
  expect(await runStandin(["account", "show", other])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("other.standin-account: not a file of standin account pull"),
  });
  expect(await runStandin(["whatif", "curve", `${other}.missing.standin-account`])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("does not exist"),
  });
});

test.each(["compare", "capacity", "starts", "attribute"])(
  "whatif %s says why it cannot use the file of an account",
  async (name) => {
    const { code, stdout, stderr } = await runStandin(["whatif", name, "shop.standin-account"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`shop.standin-account: ${name} needs requests`);
  },
);

test("delays at or above the one in force cost what the journal of the account says", async () => {
  const server = await startAccount(["shop", "blog"]);
  const out = accountFileName();
  await pull(server.ready.api_url, server.key, out);
  const curve = (await runWhatif(["curve", out])) as unknown as AccountCurve;
  const exact = curve.delays.filter(({ is_exact, delay_s }) => is_exact && typeof delay_s === "number");
  expect(exact.map(({ delay_s }) => delay_s)).toEqual([
    300, 600, 900, 1800, 3600, 14400, 43200, 86400, 604800,
  ]);
  await expectJournalWithin(server.data, curve, exact);
});

test("a compute that is started at its creation, and used later or never, costs what its requests cause", async () => {
  const data = testDirectory();
  const server = await startServer(data, ["--clock", "manual", "--start-at", "2026-01-05T00:00:00Z"]);
  const names = ["used-later", "used-within-the-delay", "never-used"];
  const computes: string[] = [];
  for (const name of names) {
    const { body } = await server.api("POST", "/projects", { project: { name } });
    computes.push(body.endpoints[0].id);
  }
  await server.sim("POST", "/clock/advance", { by: "3m" });
  await server.sim("POST", "/activity", { endpoint_id: computes[1], duration_ms: 20_000 });
  await server.sim("POST", "/clock/advance", { by: "1h" });
  for (const minutes of [2, 20, 7, 300]) {
    for (const endpoint_id of computes.slice(0, 2))
      await server.sim("POST", "/activity", { endpoint_id, duration_ms: 20_000 });
    await server.sim("POST", "/clock/advance", { by: `${minutes}m` });
  }
  const out = accountFileName();
  await pull(server.ready.api_url, server.ready.api_key ?? "", out);
  const curve = (await runWhatif(["curve", out])) as unknown as AccountCurve;
  expect(curve.recorded.starts_without_request).toBe(2);
  // One request during the start would have caused the same operations.
  expect(curve.delays.some(({ is_exact }) => is_exact)).toBe(false);
  expect(curve.recorded.active_h_without_request).toBeCloseTo((2 * 300) / 3_600, 2);
  await expectJournalWithin(
    data,
    curve,
    curve.delays.filter(({ delay_s }) => typeof delay_s === "number"),
  );
});

/** What `curve --data` answers from the requests is within the bounds of these delays. */
async function expectJournalWithin(
  data: string,
  { account }: AccountCurve,
  delays: AccountCurve["delays"],
): Promise<void> {
  for (const { delay_s, cold_starts_per_day, active_h_per_day, is_exact } of delays) {
    const truth = (await runWhatif([
      ...["curve", "--data", data, "--delay", `${delay_s}`],
    ])) as unknown as DelayFigures & { with_latency: LatencyFigures };
    const { cold_starts, active_s } = truth.with_latency;
    expect(cold_starts).toBeGreaterThanOrEqual(Math.floor(cold_starts_per_day.least * account.days + 1e-6));
    expect(cold_starts).toBeLessThanOrEqual(cold_starts_per_day.most * account.days + 1e-6);
    const [least, most] = [active_h_per_day.least, active_h_per_day.most].map(
      (h) => h * 3600 * account.days,
    ) as [number, number];
    expect({
      delay_s,
      below: active_s < least - 1e-6,
      above: active_s > most + 1e-6,
      least,
      most,
      active_s,
    }).toMatchObject({ below: false, above: false });
    // A second for each instant of an operation, and a delay from the start by its creation to the first request of a compute.
    const creation = 2 + DEFAULT_DELAY_S;
    if (is_exact) expect(most - least).toBeLessThan(3 * account.operations + account.computes * creation);
  }
}

test("the report has the bounds around the curve, awake time by hour and cause, an experiment, and the metered time", async () => {
  const server = await startAccount(["shop", "blog"]);
  const out = accountFileName();
  await pull(server.ready.api_url, server.key, out);
  const directory = join(testDirectory(), "report");
  expect(await runStandin(["whatif", "curve", out, "--out", directory])).toMatchObject({ code: 0 });
  const html = readFileSync(join(directory, "report.html"), "utf8");
  expect(html).toContain("Cost by delay, with its bounds");
  expect(html).toMatch(/<title>5 min: \$\S+ to \$\S+, estimate \$/);
  // The account is used from Monday 00:00 on.
  expect(html).toMatch(/<title>shop, Monday 00:00: active \d+ % of the time/);
  expect(html).toContain("<title>blog, Monday 02:00: active ");
  expect(html).toMatch(/<title>shop, idle until the delay ended: \S+ h a day/);
  expect(html).toMatch(/<h2>Experiment: 3 days would narrow the bounds from \$\S+ to \$\S+ a month/);
  expect(html).toContain("<h2>Reconciliation: active hours by operations, and as metered");
  const experiment = readFileSync(join(directory, "experiment.csv"), "utf8");
  for (const compute of server.computes) expect(experiment).toContain(compute);
  const [, ...projects] = readFileSync(join(directory, "reconciliation.csv"), "utf8").trim().split("\n");
  expect(projects.map((line) => line.split(",")[0]).sort()).toEqual([...server.projects].sort());
});

test("an account without any time after a start is an error, not figures that are no numbers", async () => {
  const server = await startServer(testDirectory(), [
    "--clock",
    "manual",
    "--start-at",
    "2026-01-05T00:00:00Z",
  ]);
  await server.api("POST", "/projects", { project: { name: "shop" } });
  const out = accountFileName();
  await pull(server.ready.api_url, server.ready.api_key ?? "", out);
  expect(await runStandin(["whatif", "curve", out])).toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringContaining("has no time after a start of a compute; run standin account pull later"),
  });
});

test.each(["2026-01-05T02:00:00Z", "8h"])(
  "--since %s leaves out older operations, and a later pull goes on from where the file begins",
  async (since) => {
    const server = await startAccount(["shop"]);
    const out = accountFileName();
    expect(await pull(server.ready.api_url, server.key, out, "--since", since)).toMatchObject({ code: 0 });
    const some = operationIdsIn(out);
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan((await operationIdsOf(server)).length);
    expect(await pull(server.ready.api_url, server.key, out)).toMatchObject({ code: 0 });
    expect(operationIdsIn(out)).toEqual(some);
    const earlier = await pull(server.ready.api_url, server.key, out, "--since", "2026-01-05T01:00:00Z");
    expect(earlier.code).toBe(1);
    expect(earlier.stderr).toMatch(
      /--since: the file begins at 2026-01-05T\S+; omit it, give that or a later/,
    );
  },
);

test("--strict omits hours whose metered time differs, and says so", async () => {
  const server = await startAccount(["shop"]);
  const out = accountFileName();
  await pull(server.ready.api_url, server.key, out);
  const database = new Database(out);
  database
    .prepare(
      `UPDATE consumption SET active_s = active_s + 900 WHERE granularity = 'hourly' AND start_at =
         (SELECT max(start_at) FROM consumption WHERE granularity = 'hourly' AND active_s > 0)`,
    )
    .run();
  const usual = await runStandin(["whatif", "curve", out]);
  expect(onOneLine(usual.stdout)).toMatch(/; 1 hour of \d+ differs by more than the resolution\./);
  expect((await runStandin(["account", "show", out])).stdout).toContain(
    "; 1 differs; whatif curve --strict omits it.",
  );
  const strict = await runStandin(["whatif", "curve", out, "--strict"]);
  expect(strict.code).toBe(0);
  expect(onOneLine(strict.stdout)).toMatch(
    / Omitted: 1 hour that differs, and \d+ periods? that overlaps? it, /,
  );
  const budget = ["--max-extra-cold-starts", "20/day", "--strict"];
  const plan = await runStandin(["whatif", "experiment", out, ...budget]);
  expect(plan.stdout).toContain("Omitted: 1 hour that differs, and ");
  expect(
    JSON.parse((await runStandin(["whatif", "experiment", out, ...budget, "--json"])).stdout),
  ).toMatchObject({ omitted: { hours: 1, periods: expect.any(Number) } });

  database.prepare("UPDATE consumption SET active_s = active_s + 900").run();
  database.close();
  expect(await runStandin(["whatif", "curve", out, "--strict"])).toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringContaining("with --strict, nothing remains: each active period overlaps one of "),
  });
});

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

/** The bytes of the file and of those that SQLite keeps beside it. */
function bytesBeside(file: string): string {
  return readdirSync(dirname(file))
    .map((name) => readFileSync(join(dirname(file), name), "latin1"))
    .join("\n");
}
