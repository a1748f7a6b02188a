import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { spawnStandin } from "../../support/process/process.ts";
import { createProjectOn, startServer, testDirectory } from "../../support/server/running-server.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

test("on a manual clock, the log and a header of a 423 say how clients get on, and its message does not", async () => {
  const server = await startServer(testDirectory(), [...MANUAL, "--locks", "project"]);
  const { body } = await server.api("POST", "/projects", { project: {} });
  const createBranch = () => server.api("POST", `/projects/${body.project.id}/branches`, { branch: {} });
  const refused = await createBranch();
  expect([refused.status, refused.headers.get("X-Standin-Hint"), refused.body.message]).toEqual([
    423,
    'advance {"next":true}',
    expect.not.stringContaining("clock"),
  ]);
  await createBranch();
  await server.sim("POST", "/clock/advance", { next: true });
  expect((await createBranch()).status).toBe(423);
  await server.kill("SIGTERM");
  const lines = server
    .stderr()
    .split("\n")
    .filter((line) => line.includes("with 423"));
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: 30,
    msg: expect.stringContaining("clients retry until it moves: standin clock advance --next"),
  });
});

test("on a real clock, a 423 is not logged and its message names no clock", async () => {
  const server = await startServer(testDirectory(), ["--seed", "1", "--locks", "project"]);
  const { body } = await server.api("POST", "/projects", { project: {} });
  const refused = await server.api("POST", `/projects/${body.project.id}/branches`, { branch: {} });
  expect([refused.status, refused.body.message]).toEqual([423, expect.not.stringContaining("manual")]);
  await server.kill("SIGTERM");
  expect(server.stderr()).not.toContain("423");
});

test("with --settle on a manual clock, operations finish at once and autosuspend waits for the clock", async () => {
  const server = await startServer(testDirectory(), [...MANUAL, "--settle"]);
  const { body } = await server.api("POST", "/projects", { project: {} });
  const { operations } = (await server.api("GET", `/projects/${body.project.id}/operations`)).body;
  expect(operations.every(({ status }: { status: string }) => status === "finished")).toBe(true);
  const created = await server.api("POST", `/projects/${body.project.id}/branches`, { branch: {} });
  expect(created.status).toBe(201);
  const stateOf = async () => (await server.sim("GET", "/endpoints")).body.endpoints[0].current_state;
  expect([await stateOf(), (await server.sim("GET", "/clock")).body.now]).toEqual([
    "active",
    "2026-01-01T00:00:00.000Z",
  ]);
  await server.sim("POST", "/clock/advance", { by: "5m" });
  expect(await stateOf()).toBe("idle");
});

test("a restart shows the clock mode, the simulated time and how to get a key", async () => {
  const data = testDirectory();
  const first = await startServer(data, MANUAL);
  expect(first.ready).toMatchObject({ clock: "manual", now: "2026-01-01T00:00:00.000Z" });
  await createProjectOn(first);
  await first.kill("SIGTERM");
  const again = spawnStandin(["serve", "--data", data, "--port", "0"]);
  onTestFinished(async () => void (await again.kill("SIGKILL")));
  const shown = await again.waitForOutput(/^standin is ready[\s\S]*env[^\n]*\n/);
  expect(shown).toContain("\nclock: manual, 2026-01-01T00:00:10.000Z\n");
  expect(shown).toMatch(
    /\nAPI key: .*standin keys create <name> --data .*eval "\$\(\S*standin env --data .*\)"\n$/,
  );
});

test("a start names a world whose head mark is missing, and the next one does not", async () => {
  const data = testDirectory();
  const warnings = async () => {
    const server = await startServer(data, []);
    await server.kill("SIGKILL");
    return server
      .stderr()
      .split("\n")
      .filter((line) => line.includes("the last acknowledged change"));
  };
  expect(await warnings()).toEqual([]);
  expect(await warnings()).toEqual([]);
  for (const suffix of ["-wal", "-head"]) rmSync(join(data, `worlds/default.sqlite${suffix}`));
  const [warning = "", ...others] = await warnings();
  expect(others).toEqual([]);
  expect(JSON.parse(warning)).toMatchObject({
    level: 40,
    msg: expect.stringMatching(
      /^missing or damaged: worlds\/default.sqlite-head, .* whether changes were lost$/,
    ),
  });
  expect(await warnings()).toEqual([]);
});

test("status --watch prints the table whenever it changes, and Ctrl-C ends it with 130", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  await createProjectOn(server, { name: "shop" });
  const watching = spawnStandin(["status", "--watch", "--data", data]);
  onTestFinished(async () => void (await watching.kill("SIGKILL")));
  await watching.waitForOutput(/shop +main +Active/);
  await server.sim("POST", "/clock/advance", { by: "5m" });
  await watching.waitForOutput(/shop +main +Idle/);
  expect(await watching.kill("SIGINT")).toBe(130);
  expect([watching.stderr(), watching.stdout().match(/^ENDPOINT/gm)]).toEqual(["", ["ENDPOINT", "ENDPOINT"]]);
});
