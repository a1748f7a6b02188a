import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createStandin } from "../../../src/package/create-standin.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { type RunningServer, startServer, testDirectory } from "../../support/server/running-server.ts";

const MANUAL = ["--clock", "manual", "--seed", "1", "--start-at", "2026-01-01T00:00:00Z"];
const KEY = "k".repeat(64);
const JSON_TYPE = { "Content-Type": "application/json" };

const keysOf = async (server: RunningServer) =>
  (await server.sim("GET", "/api_keys")).body.api_keys.map(({ name }) => name);
const faultsOf = async (server: RunningServer) =>
  (await server.sim("GET", "/faults")).body.faults.map(({ name, seen, hits }) => ({ name, seen, hits }));

function serveIn(data: string, args: readonly string[] = []): Promise<RunningServer> {
  return startServer(data, args, { key: KEY, env: { STANDIN_API_KEY: KEY } });
}

test("over a socket, a dropped request has no effect, a lost response has its full effect, and neither breaks the server", async () => {
  const server = await serveIn(testDirectory(), MANUAL);
  const before = await keysOf(server);
  await server.sim("PUT", "/faults", [
    { name: "drop", on: { operation: "createApiKey" }, when: { first: 1 }, effect: "drop" },
    { name: "lose", on: { operation: "createApiKey" }, when: { first: 1 }, effect: "lose_response" },
  ]);
  await expect(server.api("POST", "/api_keys", { key_name: "dropped" })).rejects.toThrow(TypeError);
  expect(await keysOf(server)).toEqual(before);
  await expect(server.api("POST", "/api_keys", { key_name: "lost" })).rejects.toThrow("fetch failed");
  expect(await keysOf(server)).toEqual([...before, "lost"]);
  expect((await server.api("POST", "/api_keys", { key_name: "answered" })).status).toBe(200);
  expect(await keysOf(server)).toEqual([...before, "lost", "answered"]);
  expect(await faultsOf(server)).toEqual([
    { name: "drop", seen: 1, hits: 1 },
    { name: "lose", seen: 1, hits: 1 },
  ]);
  expect(server.stderr()).not.toMatch(/error|bug/i);
});

test("the effect of a lost response survives a kill, and so do the counters, the faults and the request log", async () => {
  const data = testDirectory();
  const server = await serveIn(data, MANUAL);
  await server.sim("PUT", "/faults", [
    { name: "lose", on: { operation: "createApiKey" }, when: { every: 2 }, effect: "lose_response" },
    {
      name: "half",
      on: { operation: "listProjects" },
      when: { probability: 0.5 },
      effect: { answer: { status: 503 } },
    },
  ]);
  await server.api("POST", "/api_keys", { key_name: "answered" });
  await expect(server.api("POST", "/api_keys", { key_name: "lost" })).rejects.toThrow();
  const statuses = async (at: RunningServer) => {
    const found: number[] = [];
    for (let time = 0; time < 10; time += 1) found.push((await at.api("GET", "/projects")).status);
    return found;
  };
  const struck = await statuses(server);
  const counts = await faultsOf(server);
  await server.kill("SIGKILL");
  const again = await serveIn(data);
  expect(await keysOf(again)).toEqual(["given key", "answered", "lost"]);
  expect(await faultsOf(again)).toEqual(counts);
  // A fault matched each of them, so each was committed.
  const { requests } = (await again.sim("GET", "/requests")).body;
  expect(requests.map(({ status }) => status)).toEqual([200, null, ...struck]);
  expect(requests[1]).toMatchObject({
    fault: "lose",
    body: { key_name: "lost" },
    answered: { id: expect.any(Number) },
  });
  const next = await statuses(again);
  await again.kill("SIGKILL");
  // As in a world that was not killed.
  const twin = await serveIn(testDirectory(), MANUAL);
  await twin.sim("PUT", "/faults", [
    {
      name: "half",
      on: { operation: "listProjects" },
      when: { probability: 0.5 },
      effect: { answer: { status: 503 } },
    },
  ]);
  expect([...(await statuses(twin)), ...(await statuses(twin))]).toEqual([...struck, ...next]);
});

test("read requests are stored within one second of wall-clock time, and --requests-limit bounds them", async () => {
  const data = testDirectory();
  const server = await serveIn(data, [...MANUAL, "--requests-limit", "3"]);
  for (let time = 0; time < 5; time += 1) await server.api("GET", "/regions");
  expect((await server.sim("GET", "/requests")).body.requests.map(({ number }) => number)).toEqual([3, 4, 5]);
  await server.kill("SIGKILL");
  const off = await serveIn(data, ["--requests-limit", "0"]);
  await off.api("GET", "/projects");
  expect((await off.sim("GET", "/requests")).body.requests.map(({ number }) => number)).toEqual([3, 4, 5]);
});

test("the command sets, lists and clears faults, with or without a server", async () => {
  const data = testDirectory();
  const file = join(data, "faults.yaml");
  writeFileSync(
    file,
    "- name: busy\n  on: { operation: createProject }\n  when: { every: 2 }\n  effect: { answer: { status: 423 } }\n- name: away\n  effect: drop\n",
  );
  const command = async (...args: string[]) => runStandin(["faults", ...args, "--data", data]);
  const server = await serveIn(data, MANUAL);
  const set = await command("set", file);
  expect(set).toMatchObject({ code: 0, stderr: "" });
  expect(set.stdout).toMatch(/^NAME +ON +WHEN +EFFECT +SEEN +HITS\nbusy +createProject +\{"every":2\}/);
  expect(JSON.parse((await command("list", "--json")).stdout)).toEqual(
    (await server.sim("GET", "/faults")).body,
  );
  await server.kill("SIGTERM");
  expect((await command("list")).stdout).toContain("away");
  expect((await command("clear", "away")).stdout).toBe("removed away\n");
  expect(JSON.parse((await command("list", "--json")).stdout).faults).toMatchObject([{ name: "busy" }]);
  expect(await command("clear", "bussy")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('did you mean "busy"?'),
  });
  expect((await command("clear")).stdout).toBe("removed all faults\n");
  expect((await command("list")).stdout).toContain("no faults");
  writeFileSync(file, "- name: x\n  effect: dorp\n");
  const misspelt = await command("set", file);
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "drop"?') });
  expect(misspelt.stderr).toContain(`standin: ${file}:2:11: `);
  expect(await command("set", join(data, "nowhere.yaml"))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("nowhere.yaml: does not exist"),
  });
});

test.each([false, 0] as const)(
  "in process, with port %s, a lost connection looks the same to fetch",
  async (port) => {
    const world = await createStandin({ port });
    try {
      const set = (faults: object[]) =>
        world.fetch(`${world.controlUrl}/faults`, {
          method: "PUT",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(faults),
        });
      expect(
        (await set([{ name: "f", on: { operation: "createApiKey" }, effect: "lose_response" }])).status,
      ).toBe(200);
      const create = () =>
        world.fetch("/api/v2/api_keys", { method: "POST", headers: JSON_TYPE, body: '{"key_name":"lost"}' });
      await expect(create()).rejects.toThrow(TypeError);
      await expect(create()).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
      if (port === 0) {
        const headers = { ...JSON_TYPE, Authorization: `Bearer ${world.apiKey}` };
        await expect(
          fetch(`${world.url}/api_keys`, { method: "POST", headers, body: '{"key_name":"lost"}' }),
        ).rejects.toThrow(TypeError);
      }
      const keys = (await (await world.fetch("/api/v2/api_keys")).json()) as { name: string }[];
      expect(keys.filter(({ name }) => name === "lost")).toHaveLength(port === 0 ? 3 : 2);
      // A 500 from a fault is not an internal error.
      await set([{ name: "f", effect: { answer: { status: 500 } } }]);
      expect((await world.fetch("/api/v2/projects")).status).toBe(500);
    } finally {
      await world.close();
    }
  },
);
