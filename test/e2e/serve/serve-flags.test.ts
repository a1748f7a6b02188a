import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnStandin } from "../../support/process/process.ts";
import { journalOf, serverClient, startServer, testDirectory } from "../../support/server/running-server.ts";

const API_KEY = "given-key-of-these-tests-0123456789";
const ALL_IN_ENVIRONMENT = {
  STANDIN_PORT: "0",
  STANDIN_HOST: "localhost",
  STANDIN_CLOCK: "manual",
  STANDIN_START_AT: "2026-03-01T00:00:00Z",
  STANDIN_SEED: "77",
  STANDIN_PROFILE: "2026",
  STANDIN_PLAN: "free",
  STANDIN_OPERATIONS: "immediate",
  STANDIN_LOCKS: "project",
  STANDIN_DURATIONS: "varied",
  STANDIN_ANSWERS: "recorded",
  STANDIN_START_DELAY: "1s..5s",
  STANDIN_API_KEY: API_KEY,
  STANDIN_CONTROL_TOKEN: "control-token",
  STANDIN_RATE_LIMIT: "1",
  STANDIN_LOG_LEVEL: "debug",
  STANDIN_JSON: "1",
};

/** A server configured by its environment, except for these flags. */
async function startFromEnvironment(args: readonly string[], env: Record<string, string>) {
  const server = spawnStandin(["serve", ...args], env);
  onTestFinished(async () => void (await server.kill("SIGKILL")));
  const ready = JSON.parse(await server.waitForOutput(/^.*\n/));
  const controlToken = args.includes("--control-token") ? "flag-token" : env["STANDIN_CONTROL_TOKEN"];
  return { ...server, ready, ...serverClient(ready, undefined, controlToken) };
}

test("every flag has an environment variable", async () => {
  const data = testDirectory();
  const file = join(testDirectory(), "world.yaml");
  writeFileSync(file, "version: 1\naccounts: [{ id: laid-out }]\n");
  const server = await startFromEnvironment([], {
    ...ALL_IN_ENVIRONMENT,
    STANDIN_DATA: data,
    STANDIN_SEED_FILE: file,
  });
  expect(server.ready.api_url).toMatch(/^http:\/\/localhost:\d+\/api\/v2$/);
  expect(server.ready.api_key).toBe(API_KEY);
  const { body: state } = await server.sim("GET", "/state");
  expect(state.world).toMatchObject({
    seed: 77,
    profile: "2026",
    plan: "free",
    operations: "immediate",
    locks: "project",
    durations: "varied",
    answers: "recorded",
    start_delay: { kind: "uniform", min_ms: 1000, max_ms: 5000 },
  });
  expect(state.accounts.map(({ id }: { id: string }) => id)).toEqual(["laid-out"]);
  expect((await server.sim("GET", "/clock")).body).toMatchObject({
    now: "2026-03-01T00:00:00.000Z",
    mode: "manual",
  });
  expect((await serverClient(server.ready).sim("GET", "/clock")).status).toBe(401);
  const statuses = await Promise.all(
    Array.from({ length: 41 }, async () => (await server.api("GET", "/projects")).status),
  );
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  expect(server.stderr()).toContain('"path":"/api/v2/projects"');
});

test("a flag takes precedence over its environment variable", async () => {
  const data = testDirectory();
  const flags = {
    "--data": data,
    "--port": "0",
    "--host": "127.0.0.1",
    "--clock": "manual",
    "--start-at": "2026-04-01",
    "--seed": "78",
    "--profile": "2024",
    "--plan": "paid",
    "--operations": "timed",
    "--locks": "narrow",
    "--durations": "constant",
    "--answers": "reference",
    "--start-delay": "2s",
    "--api-key": `flag-${API_KEY}`,
    "--control-token": "flag-token",
    "--log-level": "error",
  };
  const env = {
    ...ALL_IN_ENVIRONMENT,
    STANDIN_DATA: join(data, "of-the-environment"),
    STANDIN_PORT: "1",
    STANDIN_CLOCK: "60x",
  };
  const server = await startFromEnvironment(Object.entries(flags).flat(), env);
  expect(server.ready).toMatchObject({
    api_url: expect.stringContaining("127.0.0.1"),
    api_key: `flag-${API_KEY}`,
  });
  expect((await server.sim("GET", "/state")).body.world).toMatchObject({
    seed: 78,
    profile: "2024",
    plan: "paid",
    operations: "timed",
    locks: "narrow",
    durations: "constant",
    answers: "reference",
    start_delay: { kind: "fixed", ms: 2000 },
  });
  expect((await server.sim("GET", "/clock")).body).toMatchObject({ now: "2026-04-01T00:00:00.000Z" });
  expect(server.stderr()).toBe("");
});

test("creation flags with other values are rejected with the current value; omitted, they keep it", async () => {
  const data = testDirectory();
  const shape = [
    "--clock",
    "manual",
    "--seed",
    "5",
    "--start-at",
    "2026-01-01T00:00:00Z",
    "--profile",
    "2026",
    "--plan",
    "free",
  ];
  const first = await startServer(data, shape);
  const settings = (await first.sim("GET", "/state")).body.world;
  await first.kill("SIGTERM");
  for (const [flag, value, has] of [
    ["--seed", "6", "5"],
    ["--start-at", "2026-01-01T00:00:01Z", "2026-01-01T00:00:00.000Z"],
    ["--profile", "2024", "2026"],
    ["--plan", "paid", "free"],
    ["--host-domain", "db.test", "standin.localhost"],
  ] as const) {
    const refused = await runStandin(["serve", "--data", data, "--port", "0", flag, value]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`${flag} ${has}`);
    expect(refused.stderr).toContain("--data");
  }
  const key = first.ready.api_key as string;
  for (const args of [[], shape]) {
    const server = await startServer(data, args, { key });
    expect((await server.sim("GET", "/state")).body.world).toEqual(settings);
    await server.kill("SIGTERM");
  }
});

test.each(["manual", "real", "60x"])(
  "on a %s clock, the same command line starts the same world again",
  async (clock) => {
    const data = testDirectory();
    const shape = [
      "--clock",
      clock,
      "--seed",
      "5",
      "--start-at",
      "2026-01-01T00:00:00Z",
      "--profile",
      "2026",
      "--plan",
      "free",
    ];
    const first = await startServer(data, shape);
    const { body: state } = await first.sim("GET", "/state");
    await first.kill("SIGTERM");
    const second = await startServer(data, shape);
    expect((await second.sim("GET", "/state")).body).toEqual(state);
  },
);

test("the duration of operations may change with each start, and the change is an event", async () => {
  const data = testDirectory();
  const first = await startServer(data, ["--clock", "manual"]);
  await first.kill("SIGTERM");
  const second = await startServer(data, ["--operations", "immediate", "--start-delay", "9s"], {
    key: first.ready.api_key as string,
  });
  const { body } = await second.api("POST", "/projects", { project: {} });
  expect(
    (await second.api("GET", `/projects/${body.project.id}/endpoints`)).body.endpoints[0].current_state,
  ).toBe("active");
  const changes = (await journalOf(second)).filter(({ type }) => type === "WorldConfigured");
  expect(changes).toMatchObject([
    { changes: { operations: "immediate", start_delay: { kind: "fixed", ms: 9000 } } },
  ]);
  await second.kill("SIGTERM");
  const third = await startServer(data, ["--operations", "immediate"]);
  expect((await journalOf(third)).filter(({ type }) => type === "WorldConfigured")).toEqual(changes);
  await third.kill("SIGTERM");
  const fourth = await startServer(data, ["--start-delay", "profile", "--branches-limit", "3"]);
  const { world } = (await fourth.sim("GET", "/state")).body;
  expect(world).toMatchObject({ operations: "immediate", limits: { branches: 3 } });
  expect(world).not.toHaveProperty("start_delay");
  await fourth.kill("SIGTERM");
  const fifth = await startServer(data, [], { env: { STANDIN_BRANCHES_LIMIT: "plan" } });
  expect((await fifth.sim("GET", "/state")).body.world).not.toHaveProperty("limits");
});

test.each([
  [["--port", "70000"], /--port.*0 to 65535/],
  [["--port", "web"], /--port.*whole number/],
  [["--host-domain", "127.0.0.1"], /--host-domain: .*whose last part is not a number/],
  [["--clock", "fast"], /--clock.*real, manual, or a factor like 60x/],
  [["--clock", "0x"], /--clock.*60x/],
  [["--clock", "1000001x"], /--clock.*up to 1000000x/],
  [["--start-at", "yesterday"], /--start-at.*2026-01-31T12:00:00Z/],
  [["--start-at", "2026-02-30T00:00:00Z"], /--start-at/],
  [["--start-at", "1969-12-31T23:59:59Z"], /--start-at/],
  [["--seed", "-1"], /--seed.*whole number/],
  [["--seed", "1.5"], /--seed.*whole number/],
  [["--profile", "1999"], /--profile: expected 2024, 2026 or a readable file, got "1999"/],
  [["--plan", "gold"], /--plan: expected paid or free, got "gold"/],
  [["--operations", "slow"], /--operations: expected timed or immediate, got "slow"/],
  [["--start-delay", "soon"], /--start-delay.*1s\.\.5s.*or profile/],
  [["--branches-limit", "0"], /--branches-limit.*from 1 to 1000000, or plan/],
  [["--keep-history", "long"], /--keep-history.*90s, 10m, 2h or 7d, or forever/],
  [["--scrub-every", "0s"], /--scrub-every.*from 1s to 24d/],
  [["--close-idle", "999ms"], /--close-idle.*from 1s to 3650d, or 0 for never/],
  [["--close-idle", "never"], /--close-idle.*duration with a unit/],
  [["--expire-worlds", "3651d"], /--expire-worlds.*from 1s to 3650d, or 0 for never/],
  [["--keep-automatic", "0"], /--keep-automatic.*whole number from 1 to/],
  [["--keep-backups", "3"], /--keep-backups.*--backup-every/],
  [["--start-delay", "5s..1s"], /--start-delay/],
  [["--log-level", "loud"], /--log-level.*debug, info/],
  [["--colour"], /--colour/],
  [["now"], /too many arguments|now/],
])(
  "serve %j is rejected with code 2 and the expected form, before anything is created",
  async (args, message) => {
    const data = join(testDirectory(), "data");
    const refused = await runStandin([
      "serve",
      "--data",
      data,
      ...(args.includes("--port") ? [] : ["--port", "0"]),
      ...args,
    ]);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(message);
    expect(refused.stderr).not.toMatch(/^ {4}at /m);
    expect(existsSync(data)).toBe(false);
  },
);

test.each([["api-key"], ["control-token"]])(
  "a --%s that no header can carry is rejected without printing it",
  async (name) => {
    const secret = "with a space";
    const variable = `STANDIN_${name.toUpperCase().replace("-", "_")}`;
    for (const [args, env] of [
      [[`--${name}`, secret], {}],
      [[], { [variable]: secret }],
    ] as const) {
      const refused = await runStandin(["serve", "--data", testDirectory(), "--port", "0", ...args], env);
      expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: "" });
      expect(refused.stderr).toContain(args.length > 0 ? `--${name}` : variable);
      expect(refused.stderr).not.toContain(secret);
    }
  },
);

test("an empty variable counts as unset", async () => {
  const names = [
    "CLOCK",
    "START_AT",
    "SEED",
    "PROFILE",
    "PLAN",
    "API_KEY",
    "CONTROL_TOKEN",
    "SEED_FILE",
    "RATE_LIMIT",
    "LOG_LEVEL",
  ];
  const server = await startServer(testDirectory(), [], {
    env: Object.fromEntries(names.map((name) => [`STANDIN_${name}`, ""])),
  });
  expect(server.ready.api_key).toMatch(/^\w{64}$/);
  expect((await server.sim("GET", "/clock")).body.mode).toBe("real");
});

test("a switch whose variable holds neither yes nor no is rejected", async () => {
  const refused = await runStandin(["serve", "--data", testDirectory(), "--port", "0"], {
    STANDIN_RATE_LIMIT: "maybe",
  });
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(/STANDIN_RATE_LIMIT: expected .*true.*false.* got "maybe"/);
});

test("an invalid value in the environment is rejected like one on the command line", async () => {
  const refused = await runStandin(["serve", "--data", testDirectory()], { STANDIN_PORT: "web" });
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(/STANDIN_PORT|--port/);
});

test.each([["0"], ["false"]])("a switch set to %s in the environment is off", async (off) => {
  const server = await startServer(testDirectory(), [], { env: { STANDIN_RATE_LIMIT: off } });
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async () => (await server.api("GET", "/projects")).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test("an unusable data directory is named in the error", async () => {
  const file = join(testDirectory(), "file");
  writeFileSync(file, "");
  const refused = await runStandin(["serve", "--data", file, "--port", "0"]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(file);
});

test("with retention forever, everything remains after years", async () => {
  const server = await startServer(testDirectory(), [
    "--clock",
    "manual",
    "--seed",
    "1",
    "--keep-history",
    "forever",
    "--keep-operations",
    "forever",
  ]);
  const { body } = await server.api("POST", "/projects", { project: {} });
  await server.sim("POST", "/clock/advance", { by: "1m" });
  const path = `/projects/${body.project.id}`;
  const before = (await server.api("GET", `${path}/operations`)).body.operations;
  expect(before.length).toBeGreaterThan(0);
  // Hourly snapshots give a small world a long history.
  for (const name of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
    const { body: made } = await server.api("POST", `${path}/branches`, { branch: { name } });
    await server.sim("POST", "/clock/advance", { by: "1m" });
    const schedule = { schedule: [{ frequency: "hourly", retention_seconds: 3_600 }] };
    expect(
      (await server.api("PUT", `${path}/branches/${made.branch.id}/backup_schedule`, schedule)).status,
    ).toBe(200);
  }
  await server.sim("POST", "/clock/advance", { by: "200d" });
  const { history } = (await server.sim("GET", "/health")).body;
  expect(history.forgotten_seq).toBe(0);
  expect((await server.api("GET", `${path}/operations`)).body.operations).toEqual(
    expect.arrayContaining(before),
  );
});
