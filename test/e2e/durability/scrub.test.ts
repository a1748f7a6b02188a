import BetterSqlite3 from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { runStandinProcess } from "../../support/process/process.ts";
import { createProjectOn, startServer, testDirectory } from "../../support/server/running-server.ts";
import { forkWorldOn } from "../../support/server/worlds.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

/** Changes a row of a table without its event, as damage of the disk may. */
function damage(file: string): void {
  const sqlite = new BetterSqlite3(file);
  sqlite.prepare("UPDATE projects SET name = 'damaged'").run();
  sqlite.close();
}

test("standin scrub checks all worlds under a running server, and fails if one is damaged", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  await createProjectOn(server);
  await forkWorldOn(server, { name: "copy" });
  const sound = await runStandinProcess(["scrub", "--data", data]);
  expect([sound.code, sound.stderr]).toEqual([0, ""]);
  expect(sound.stdout).toMatch(/^copy: no differences in \d+ rows up to event \d+\ndefault: no differences/);
  damage(`${data}/worlds/copy.sqlite`);
  const damaged = await runStandinProcess(["scrub", "--data", data, "--json"]);
  expect([damaged.code, damaged.stderr]).toEqual([1, "standin: 1 world with differences\n"]);
  const results = damaged.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(results).toMatchObject([
    { world: "copy", ok: false },
    { world: "default", ok: true, differences: [] },
  ]);
  expect(JSON.stringify(results[0].differences)).toContain("projects");
});

test("standin scrub rejects a directory that does not exist", async () => {
  const { code, stderr } = await runStandinProcess(["scrub", "--data", "/does/not/exist"]);
  expect([code, stderr]).toEqual([1, "standin: /does/not/exist does not exist\n"]);
});

test("--scrub-every finds a damaged file, logs and counts it, while requests and restores succeed", async () => {
  const data = testDirectory();
  const server = await startServer(data, [...MANUAL, "--scrub-every", "1s"]);
  await createProjectOn(server);
  const metric = async (name: string) =>
    Number(new RegExp(`^${name} (\\d+)$`, "m").exec((await server.sim("GET", "/metrics")).body)?.[1]);
  await vi.waitUntil(async () => (await metric("standin_worlds_scrubbed_total")) > 0, { timeout: 30_000 });
  expect(await metric("standin_scrub_failures_total")).toBe(0);
  expect((await server.sim("POST", "/snapshots", { name: "sound" })).status).toBe(201);
  for (let count = 0; count < 5; count += 1)
    expect((await server.sim("POST", "/snapshots/sound/restore")).status).toBe(200);
  await server.sim("POST", "/worlds", { name: "copy" });
  damage(`${data}/worlds/copy.sqlite`);
  await vi.waitUntil(async () => (await metric("standin_scrub_failures_total")) > 0, { timeout: 30_000 });
  await vi.waitFor(() => expect(server.stderr()).toMatch(/stored world copy does not match its journal/));
  expect((await server.api("GET", "/projects")).status).toBe(200);
  expect(await server.kill("SIGTERM")).toBe(0);
});
