import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import {
  type AccountServer,
  accountFileName,
  pull,
  startAccount,
  useComputes,
} from "../../support/account/account-server.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const VARIED = ["--durations", "varied", "--seed", "21"];

type Agreement = {
  readonly agrees: boolean;
  readonly checks: readonly {
    readonly check: string;
    readonly compared: number;
    readonly surprises: number;
    readonly note: string | null;
  }[];
  readonly surprises: readonly {
    readonly check: string;
    readonly operation: string | null;
    readonly compute: string | null;
    readonly evidence: string;
    readonly text: string;
  }[];
};

/** The account, read after each of two days, as a nightly job does. */
async function pulledTwice(account: AccountServer, change: () => Promise<void> = async () => undefined) {
  const file = accountFileName();
  await pull(account.ready.api_url, account.key, file);
  await change();
  await useComputes(account);
  await useComputes(account);
  await pull(account.ready.api_url, account.key, file);
  return file;
}

async function shadow(file: string, ...args: string[]): Promise<{ code: number; agreement: Agreement }> {
  const { code, stdout, stderr } = await runStandin(["shadow", file, "--json", ...args]);
  expect(stderr).toBe("");
  return { code, agreement: JSON.parse(stdout) };
}

/** Restarts, updates and suspends, of which each schedules several operations. */
async function callAll({ api, sim, projects, computes }: AccountServer): Promise<void> {
  for (const [index, project] of projects.entries()) {
    const path = `/projects/${project}/endpoints/${computes[index]}`;
    for (const call of ["/start", "/restart", "/suspend", "/suspend"]) {
      await api("POST", path + call);
      await sim("POST", "/clock/advance", { by: "1m" });
    }
    await api("POST", `${path}/start`);
    await sim("POST", "/clock/advance", { by: "1m" });
    await api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } });
    await sim("POST", "/clock/advance", { by: "1m" });
    await api("PATCH", path, { endpoint: { suspend_timeout_seconds: 600 } });
    await sim("POST", "/clock/advance", { by: "30m" });
  }
}

/** Changes a file as if the platform had done something else. */
function change(file: string, sql: string): void {
  const database = new Database(file);
  database.exec(sql);
  database.close();
}

test("a delay that is changed while computes are suspended gives no surprise, because it was not in force before", async () => {
  const account = await startAccount(["shop", "blog"]);
  const file = accountFileName();
  await pull(account.ready.api_url, account.key, file);
  for (const [index, project] of account.projects.entries())
    await account.api("PATCH", `/projects/${project}/endpoints/${account.computes[index]}`, {
      endpoint: { suspend_timeout_seconds: 60 },
    });
  // Once in the second of the pull before, and once later.
  for (const by of ["0s", "10m"]) {
    if (by !== "0s") await account.sim("POST", "/clock/advance", { by });
    await pull(account.ready.api_url, account.key, file);
    const { code, agreement } = await shadow(file);
    expect(agreement.surprises).toEqual([]);
    expect(code).toBe(0);
  }
  await useComputes(account);
  await pull(account.ready.api_url, account.key, file);
  const { agreement } = await shadow(file);
  const suspends = agreement.checks.find(({ check }) => check === "suspend");
  expect(suspends).toMatchObject({ compared: 4, surprises: 0 });
});

test("a server with the same rules gives no surprise, also after calls that restart and change computes", async () => {
  const account = await startAccount(["shop", "blog", "mail"], VARIED);
  const file = await pulledTwice(account, async () => await callAll(account));
  const { code, agreement } = await shadow(file, "--since", "2026-01-01T00:00:00Z");
  expect(agreement.surprises).toEqual([]);
  expect([code, agreement.agrees]).toEqual([0, true]);
  const compared = Object.fromEntries(agreement.checks.map((check) => [check.check, check.compared]));
  expect(compared["suspend"]).toBeGreaterThanOrEqual(3);
  expect(compared["duration"]).toBeGreaterThan(40);
  expect(compared["order"]).toBeGreaterThan(80);
  expect(compared["consumption"]).toBeGreaterThan(20);
}, 60_000);

test("a server with another start delay is found, and named", async () => {
  const account = await startAccount(["shop", "blog", "mail"], [...VARIED, "--start-delay", "5s~0.3"]);
  const { code, agreement } = await shadow(await pulledTwice(account));
  expect(code).toBe(1);
  expect(agreement.surprises).toEqual([
    expect.objectContaining({
      check: "duration",
      evidence: "A",
      text: expect.stringMatching(/^start_compute: \d+ durations .* differ from the profile/),
    }),
  ]);
}, 60_000);

test("a calibrated profile agrees with the server that it was written from", async () => {
  const account = await startAccount(["shop", "blog", "mail"], [...VARIED, "--start-delay", "5s~0.3"]);
  const file = await pulledTwice(account);
  const profile = join(testDirectory(), "shop.yaml");
  await runStandin(["account", "calibrate", file, "--out", profile]);
  await useComputes(account);
  await useComputes(account);
  await pull(account.ready.api_url, account.key, file);
  const { code, agreement } = await shadow(file, "--profile", profile);
  expect([code, agreement.surprises]).toEqual([0, []]);
}, 60_000);

test("--from pulls what is new first, and compares it", async () => {
  const account = await startAccount(["shop"], VARIED);
  const file = await pulledTwice(account);
  await useComputes(account);
  const before = (await shadow(file)).agreement.checks.find(({ check }) => check === "order")?.compared;
  const { ready, key } = account;
  const args = ["shadow", file, "--from", ready.api_url, "--json"];
  const { code, stdout, stderr } = await runStandin(args, { STANDIN_FROM_KEY: key });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "reading 1 project with at least 5 calls\n" });
  const after = (JSON.parse(stdout) as Agreement).checks.find(({ check }) => check === "order")?.compared;
  // One use of the computes instead of two.
  expect(after).toBeGreaterThan(10);
  expect(after).toBeLessThan(before ?? 0);

  expect(await runStandin(args)).toMatchObject({
    ...{ code: 2, stdout: "" },
    stderr: expect.stringContaining("set STANDIN_FROM_KEY or give --from-key"),
  });
  expect(
    await runStandin(["shadow", `${file}.none`, "--from", ready.api_url], { STANDIN_FROM_KEY: key }),
  ).toMatchObject({ code: 2, stderr: expect.stringContaining("does not exist") });
}, 60_000);

describe("of a file with one difference", () => {
  const NEWEST = "(SELECT max(created_at) FROM operations WHERE endpoint = 1 AND action = 'suspend_compute')";
  const cases: [string, string, object][] = [
    [
      "a suspend 30 s late",
      `UPDATE operations SET created_at = created_at + 30000 WHERE endpoint = 1 AND created_at = ${NEWEST}`,
      {
        check: "suspend",
        evidence: "R",
        text: expect.stringMatching(/^it suspended 30 s later than 300 s after/),
      },
    ],
    [
      "an unknown action",
      `INSERT INTO operations VALUES (1, ${NEWEST} + 60000, 'op-new', 'prewarm_compute', 'finished', 5, 0)`,
      {
        check: "action",
        evidence: "S",
        operation: "op-new",
        text: "unknown action prewarm_compute of 1 operation",
      },
    ],
    [
      "an unknown status",
      `UPDATE operations SET status = 'paused', id = 'op-paused' WHERE endpoint = 1 AND created_at = ${NEWEST} AND action = 'suspend_compute'`,
      { check: "status", evidence: "S", operation: "op-paused" },
    ],
    [
      "one operation more",
      `INSERT INTO operations VALUES (1, ${NEWEST} + 60000, 'op-more', 'suspend_compute', 'finished', 5, 0)`,
      { check: "order", evidence: "R", operation: "op-more" },
    ],
    [
      "an operation that did not wait for the one before",
      `UPDATE operations SET duration_ms = 900000 WHERE endpoint = 1 AND action = 'start_compute' AND status = 'finished' AND created_at = (SELECT max(created_at) FROM operations WHERE endpoint = 1 AND action = 'start_compute' AND status = 'finished' AND created_at < ${NEWEST})`,
      {
        check: "lock",
        evidence: "D",
        text: expect.stringMatching(/^suspend_compute ended .* s before start_compute /),
      },
    ],
    [
      "an hour that is metered longer",
      "UPDATE consumption SET active_s = active_s + 60 WHERE start_at = (SELECT max(start_at) FROM consumption WHERE granularity = 'hourly' AND active_s > 0)",
      { check: "consumption", evidence: "R", text: expect.stringMatching(/ s metered, /) },
    ],
  ];
  test.each(cases)(
    "%s is found, and named",
    async (_, sql, expected) => {
      const file = await pulledTwice(await startAccount(["shop"], VARIED));
      expect((await shadow(file)).agreement.surprises).toEqual([]);
      change(file, sql);
      const out = join(testDirectory(), "agreement.json");
      const { code, agreement } = await shadow(file, "--out", out);
      expect(code).toBe(1);
      expect(agreement.surprises).toContainEqual(expect.objectContaining(expected));
      expect(JSON.parse(readFileSync(out, "utf8"))).toEqual(agreement);
      const tolerated = await shadow(file, "--tolerance", String(agreement.surprises.length));
      expect([tolerated.code, tolerated.agreement.agrees]).toEqual([0, true]);
    },
    60_000,
  );
});

test("a failure is a surprise only if the profile says how many operations fail", async () => {
  const file = await pulledTwice(await startAccount(["shop"], VARIED));
  change(
    file,
    `INSERT INTO operations SELECT 1, max(created_at) + 60000, 'op-failed', 'suspend_compute', 'failed', 5, 1 FROM operations WHERE endpoint = 1 AND action = 'suspend_compute'`,
  );
  const unknown = await shadow(file);
  expect([unknown.code, unknown.agreement.surprises]).toEqual([0, []]);
  const failure = unknown.agreement.checks.find(({ check }) => check === "failure");
  expect(failure?.note).toMatch(/^1 of \d+ operations failed\. Whether that is usual is not known/);
  const printed = await runStandin(["shadow", file]);
  expect(printed.stdout).toContain(`failure: ${failure?.note}`);

  const profile = join(testDirectory(), "never.yaml");
  writeFileSync(profile, 'like: "2024"\nfailures: { suspend_compute: { description: "none", share: 0 } }\n');
  const known = await shadow(file, "--profile", profile);
  expect(known.code).toBe(1);
  expect(known.agreement.surprises).toEqual([
    expect.objectContaining({
      check: "failure",
      evidence: "A",
      text: expect.stringMatching(/^suspend_compute: 1 of \d+ failed, 0.00 % expected$/),
    }),
  ]);
}, 60_000);

test("--out with a name of a page writes one, with each surprise, its rule and its evidence", async () => {
  const file = await pulledTwice(await startAccount(["shop"], VARIED));
  change(file, "UPDATE operations SET action = '<b>new</b>' WHERE id = (SELECT max(id) FROM operations)");
  const out = join(testDirectory(), "agreement.html");
  const { agreement } = await shadow(file, "--out", out, "--since", "2026-01-01T00:00:00Z");
  const page = readFileSync(out, "utf8");
  const [surprise] = agreement.surprises;
  expect(page).toContain("unknown action &lt;b&gt;new&lt;/b&gt; of 1 operation");
  expect(page).not.toContain("<b>new");
  expect(page).toContain(`operation ${surprise?.operation}`);
  expect(page).toMatch(/<p class="where">2026-01-\d\d \d\d:\d\d:\d\d UTC · /);
  expect(page).toContain("action (S): operations have the actions that standin schedules");
  for (const { check, compared } of agreement.checks)
    expect(page).toMatch(new RegExp(`<th scope="row">${check}</th><td>[RSDA]</td><td>${compared}</td>`));
}, 60_000);

test("shadow refuses what is no file of an account, and prints a report with rule and evidence", async () => {
  const other = join(testDirectory(), "other.standin-account");
  writeFileSync(other, "nothing");
  expect(await runStandin(["shadow", other])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("not a file of standin account pull"),
  });
  const file = await pulledTwice(await startAccount(["shop"], VARIED));
  change(
    file,
    "UPDATE operations SET action = 'prewarm_compute' WHERE action = 'apply_config' OR id = (SELECT max(id) FROM operations)",
  );
  const { stdout } = await runStandin(["shadow", file, "--since", "2026-01-01T00:00:00Z"]);
  expect(stdout).toContain("Differs from the rules");
  expect(stdout).toContain("rule (S): operations have the actions that standin schedules");
}, 60_000);
