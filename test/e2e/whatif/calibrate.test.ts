import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { accountFileName, pull, startAccount } from "../../support/account/account-server.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

/** What the second server is like, which the code under test does not know. */
const HIDDEN = {
  like: "2026",
  durations: {
    start_compute: { quantiles_ms: [200, 250, 300, 320, 900, 4_000] },
    suspend_compute: { quantiles_ms: [40, 60, 2_000] },
  },
  failures: { start_compute: { share: 0.1 } },
  plan: { name: "paid", projects: 77, branches: 33 },
};

/** The Kolmogorov-Smirnov statistic that a sample of the same distribution exceeds in 1 of 1,000 cases. */
const ksLimit = (count: number) => 1.95 / Math.sqrt(count);

/** The share of a distribution by quantiles that is at most `ms`. */
function shareUntil(quantiles: readonly number[], ms: number): number {
  const above = quantiles.findIndex((value) => value > ms);
  if (above === -1) return 1;
  if (above === 0) return 0;
  const [low = 0, high = 0] = [quantiles[above - 1], quantiles[above]];
  return (above - 1 + (ms - low) / (high - low)) / (quantiles.length - 1);
}

/** The largest distance between two distributions; durations are whole milliseconds. */
function distance(one: readonly number[], other: readonly number[]): number {
  const at = [...one, ...other];
  return Math.max(...at.map((ms) => Math.abs(shareUntil(one, ms + 0.5) - shareUntil(other, ms + 0.5))));
}

function profileFile(content: object): string {
  const path = join(testDirectory(), "hidden.json");
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** Computes that are started and suspended many times. */
async function startedAndSuspended(profile: string, rounds: number) {
  const account = await startAccount(
    ["shop", "blog", "mail"],
    ["--profile", profile, "--seed", "8", "--durations", "varied"],
  );
  const { api, sim, projects, computes } = account;
  for (let round = 0; round < rounds; round += 1) {
    for (const endpoint_id of computes) await sim("POST", "/activity", { endpoint_id });
    await sim("POST", "/clock/advance", { by: "1m" });
    for (const [index, project] of projects.entries())
      await api("POST", `/projects/${project}/endpoints/${computes[index]}/suspend`);
    await sim("POST", "/clock/advance", { by: "30m" });
  }
  return account;
}

test("durations and failures of a server are recovered from its operations, and another server has them", async () => {
  const account = await startedAndSuspended(profileFile(HIDDEN), 90);
  const file = accountFileName();
  expect((await pull(account.ready.api_url, account.key, file)).code).toBe(0);
  const out = join(testDirectory(), "shop.profile.yaml");
  const calibrated = await runStandin(["account", "calibrate", file, "--out", out, "--like", "2026"]);
  expect(calibrated.stderr).toBe("");
  const profile = parse(readFileSync(out, "utf8"));
  expect(profile).toMatchObject({
    name: "shop",
    like: "2026",
    plan: { name: "paid", projects: 77, branches: 33 },
  });
  for (const action of ["start_compute", "suspend_compute"] as const) {
    const { count, quantiles_ms } = profile.durations[action];
    expect(count).toBeGreaterThan(250);
    expect(distance(quantiles_ms, HIDDEN.durations[action].quantiles_ms), action).toBeLessThan(
      ksLimit(count),
    );
  }
  // Too few: the profile of 2026 applies, and both the report and the file say so.
  expect(profile.durations.create_timeline).not.toHaveProperty("quantiles_ms");
  expect(profile.durations.create_timeline.description).toContain("profile 2026");
  expect(calibrated.stdout).toMatch(/create_timeline +3 +- +- +0 of 3 +profile 2026/);
  const [, least, most] =
    profile.failures.start_compute.description.match(/interval (\S+) % to (\S+) %/) ?? [];
  expect(Number(least)).toBeLessThan(10);
  expect(Number(most)).toBeGreaterThan(10);
  expect(profile.failures.suspend_compute.share).toBe(0);

  const data = testDirectory();
  const copy = await startServer(data, ["--clock", "manual", "--profile", out, "--seed", "3"]);
  const settings = (await copy.sim("GET", "/state")).body.world;
  expect(settings).toMatchObject({ profile: "2026", plan: "paid", limits: { projects: 77, branches: 33 } });
  expect(settings.calibration.durations).toContainEqual({
    action: "start_compute",
    takes: { kind: "empirical", quantiles_ms: profile.durations.start_compute.quantiles_ms },
  });
  await copy.kill("SIGTERM");

  // The world has stored its figures: it needs neither the option nor the file.
  const reopened = await startServer(data, []);
  expect((await reopened.sim("GET", "/state")).body.world.calibration).toEqual(settings.calibration);
  await reopened.kill("SIGTERM");
  await expect(startServer(data, ["--profile", "2026"])).rejects.toThrow("created with --profile shop");
  const changed = profileFile({ ...HIDDEN, name: "shop" });
  await expect(startServer(data, ["--profile", changed])).rejects.toThrow("other figures of that profile");
}, 120_000);

test.each([
  [{ durations: { start: {} } }, "durations.start: not an action; expected one of create_timeline"],
  [
    { durations: { start_compute: { quantiles_ms: [5, 4] } } },
    "durations.start_compute.quantiles_ms: must be ascending",
  ],
  [{ durations: { start_compute: { quantiles_ms: [5] } } }, "quantiles_ms: must have at least two quantiles"],
  [{ durations: { start_compute: { quantiles_ms: [-1, 4] } } }, "quantiles_ms.1:"],
  [{ failures: { start_compute: { share: 1.5 } } }, "failures.start_compute.share:"],
  [
    { start_latency: "1s", durations: { start_compute: { quantiles_ms: [1, 2] } } },
    "start_latency: durations.start_compute states the same",
  ],
  [{ max_connections: { "0.25": 1 } }, "max_connections: only what-if questions take this"],
  [{ speed: 1 }, "speed: unknown key; the known keys are name"],
])("a server refuses the profile %j", async (content, problem) => {
  const path = profileFile(content);
  const { code, stderr } = await runStandin([
    "serve",
    "--data",
    testDirectory(),
    "--port",
    "0",
    "--profile",
    path,
  ]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^standin: --profile\b/) });
  expect(stderr).toContain(`${path}:`);
  expect(stderr).toContain(problem);
});

test("calibrate refuses an existing file, another suffix and an account without operations", async () => {
  const account = await startAccount([]);
  const file = accountFileName();
  await pull(account.ready.api_url, account.key, file);
  const out = join(testDirectory(), "x.yaml");
  const calibrate = async (...args: string[]) => await runStandin(["account", "calibrate", file, ...args]);
  expect(await calibrate("--out", "x.txt")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("must end in .yaml"),
  });
  expect(await calibrate("--out", out)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("contains no operation that has ended"),
  });
});

/** With constant durations, a start takes the median: 310 ms. */
const WAKE = {
  version: 1,
  world: { profile: "2026", projects: { shop: {} } },
  steps: [{ at: "10m" }, { activity: { to: "shop/main", outcome: "waits" } }, { after: "1m" }],
  expect: [{ wait_max: "310ms" }],
};

test("a run takes the figures of a profile file, and names it in the command that repeats it", async () => {
  const scenario = join(testDirectory(), "wake.json");
  writeFileSync(scenario, JSON.stringify(WAKE));
  const { plan: _, ...figures } = HIDDEN;
  const profile = profileFile(figures);
  expect(await runStandin(["run", scenario, "--profile", profile])).toMatchObject({ code: 0 });
  writeFileSync(scenario, JSON.stringify({ ...WAKE, expect: [{ wait_max: "309ms" }] }));
  expect(await runStandin(["run", scenario, "--profile", profile])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`standin run ${scenario} --seed 1 --profile ${profile}`),
  });
  const withTarget = await runStandin(["run", scenario, "--profile", profile, "--target", "http://x"]);
  expect(withTarget).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("cannot be used with option '--target"),
  });
});

test("a what-if question takes the start latency of a profile file", async () => {
  const trace = join(testDirectory(), "shop.csv");
  const rows = [0, 20, 40].map((minute) => `2026-01-05T00:${String(minute).padStart(2, "0")}:00Z,shop,1000`);
  writeFileSync(trace, `timestamp,endpoint,duration_ms\n${rows.join("\n")}\n`);
  const { stdout } = await runStandin(["whatif", "curve", trace, "--profile", profileFile(HIDDEN), "--json"]);
  expect(JSON.parse(stdout).question).toMatchObject({
    profile: "hidden",
    start_latency: "200ms..4000ms as observed, median 310ms",
  });
});

test("a scenario is not run on a server with a calibrated profile, and what-if questions take its start latency", async () => {
  const server = await startServer(testDirectory(), ["--clock", "manual", "--profile", profileFile(HIDDEN)]);
  const scenario = join(testDirectory(), "wake.json");
  writeFileSync(scenario, JSON.stringify(WAKE));
  const url = server.ready.control_url.replace(/\/_sim$/, "");
  const run = await runStandin(["run", scenario, "--target", url]);
  expect(run.code).toBe(2);
  expect(`${run.stdout}${run.stderr}`).toContain(
    "has the calibrated profile hidden; start the server with --profile 2026",
  );
  const { body } = await server.api("POST", "/projects", { project: { name: "shop" } });
  for (let round = 0; round < 3; round += 1) {
    await server.sim("POST", "/activity", { endpoint_id: body.endpoints[0].id });
    await server.sim("POST", "/clock/advance", { by: "20m" });
  }
  const { stdout } = await runStandin(["whatif", "curve", "--url", url, "--json"]);
  // The tests start servers with constant durations: the median.
  expect(JSON.parse(stdout).question).toMatchObject({ profile: "2026", start_latency: "310ms" });
});
