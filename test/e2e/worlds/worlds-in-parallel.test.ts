import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { createProjectOn, startServer, testDirectory } from "../../support/server/running-server.ts";
import { forkWorldOn, type WorldClient } from "../../support/server/worlds.ts";

const WORLDS = 200;

/** What each test file does in its world; returns the resulting state as text. */
async function live(world: WorldClient): Promise<string> {
  const { endpointId } = await createProjectOn(world, { name: "of this file" });
  await world.sim("POST", "/clock/advance", { by: "10m" });
  const { body } = await world.sim("POST", "/activity", {
    endpoint_id: endpointId,
    duration_ms: 250,
    source: "a test",
  });
  expect(body.activities).toMatchObject([{ outcome: "waits", woke: true }]);
  await world.sim("POST", "/clock/advance", { by: "10s" });
  return JSON.stringify((await world.sim("GET", "/state")).body);
}

/** The files of this directory that a process has open, if /proc is available. */
function openFiles(pid: number, directory: string): string[] {
  const path = `/proc/${pid}/fd`;
  if (!existsSync(path)) return [];
  const links = readdirSync(path).flatMap((descriptor) => {
    try {
      return [readlinkSync(`${path}/${descriptor}`)];
    } catch {
      // The file was closed meanwhile.
      return [];
    }
  });
  return links.filter((link) => link.startsWith(directory)).sort();
}

test(`${WORLDS} clients at once each create a world of their own, and delete it`, async () => {
  const data = testDirectory();
  const server = await startServer(data, [
    "--clock",
    "manual",
    "--start-at",
    "2026-01-01T00:00:00Z",
    "--seed",
    "1",
  ]);
  const { projectId } = await createProjectOn(server, { name: "prepared" });
  // A deleted world leaves no open file, and its state is the expected one for the others.
  const first = await forkWorldOn(server, { name: "first" });
  const expected = await live(first);
  await server.sim("DELETE", "/worlds/first");
  const before = JSON.stringify((await server.sim("GET", "/state")).body);
  const files = openFiles(server.ready.pid, data);
  if (existsSync("/proc/self/fd")) expect(files.join()).toContain("default.sqlite");

  const clients = Array.from({ length: WORLDS }, async (_, index) => {
    const name = `file-${index}`;
    const world = await forkWorldOn(server, { name });
    const state = await live(world);
    await world.api("POST", "/projects", { project: { name } });
    return { name, world, state };
  });
  const lived = await Promise.all(clients);
  expect(new Set(lived.map(({ state }) => state))).toEqual(new Set([expected]));
  await Promise.all(
    lived.map(async ({ name, world }) => {
      const { projects } = (await world.api("GET", "/projects")).body;
      expect(projects.map((project) => project.name)).toEqual(["prepared", "of this file", name]);
      expect((await world.sim("GET", "/clock")).body.now).toBe("2026-01-01T00:10:30.000Z");
      expect((await world.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
    }),
  );
  expect((await server.sim("GET", "/worlds")).body.worlds).toHaveLength(WORLDS + 1);
  expect(JSON.stringify((await server.sim("GET", "/state")).body)).toBe(before);

  await Promise.all(
    lived.map(async ({ name }) => expect((await server.sim("DELETE", `/worlds/${name}`)).status).toBe(200)),
  );
  expect((await server.sim("GET", "/worlds")).body.worlds.map(({ name }) => name)).toEqual(["default"]);
  expect(readdirSync(`${data}/worlds`).filter((file) => !file.startsWith("default.sqlite"))).toEqual([]);
  expect(openFiles(server.ready.pid, data)).toEqual(files);
  expect((await server.api("GET", `/projects/${projectId}`)).status).toBe(200);
});
