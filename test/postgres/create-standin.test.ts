import { chmodSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { createStandin, type Standin, type StandinOptions } from "@standin/standin";
import { expect, onTestFinished, test, vi } from "vitest";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import { connectTo } from "../support/postgres/postgres.ts";
import { spawnCommand } from "../support/process/process.ts";
import { testDirectory } from "../support/server/running-server.ts";
import { processesIn } from "../support/store/data-files.ts";

async function create(options: StandinOptions = {}): Promise<Standin> {
  const sim = await createStandin({ operations: "immediate", postgres: true, ...options });
  onTestFinished(() => sim.close());
  return sim;
}

async function post<T>(sim: Standin, path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const response = await sim.fetch(`/api/v2${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(201);
  return (await response.json()) as T;
}

async function createProject(sim: Standin): Promise<{ projectId: string; endpointId: string }> {
  const { project, endpoints } = await post<{ project: { id: string }; endpoints: [{ id: string }] }>(
    sim,
    "/projects",
    { project: { name: "shop" } },
  );
  return { projectId: project.id, endpointId: endpoints[0].id };
}

async function stateOf(sim: Standin, endpointId: string): Promise<string | undefined> {
  return (await sim.endpoints.list()).find(({ endpoint_id }) => endpoint_id === endpointId)?.current_state;
}

const dataDirectories = () => readdirSync(tmpdir()).filter((name) => name.startsWith("standin-data-"));

/** Tests of other files that run at the same time have temporary files as well. */
function useOwnTemporaryFolder(): void {
  const folder = testDirectory();
  // Postgres runs as another user.
  chmodSync(folder, 0o711);
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test("a client connects to an in-process world, wakes its compute, and is disconnected by the suspend", async () => {
  useOwnTemporaryFolder();
  const sim = await create();
  const { endpointId } = await createProject(sim);
  await sim.advance("10m");
  expect(await stateOf(sim, endpointId)).toBe("idle");
  const client = await connectTo(await sim.connectionUri());
  expect(await stateOf(sim, endpointId)).toBe("active");
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  const lost = new Promise<unknown>((resolve) => client.once("error", resolve));
  await sim.advance("10m");
  expect(await lost).toMatchObject({ code: "57P01" });
  expect(await sim.invariants()).toMatchObject({ ok: true });
  expect(dataDirectories()).toHaveLength(1);
  await sim.close();
  expect(dataDirectories()).toEqual([]);
});

test("a URI names a branch by its name, a pooled host, a role, or the world of a fork", async () => {
  const sim = await create();
  const { projectId } = await createProject(sim);
  const { branch } = await post<{ branch: { id: string } }>(sim, `/projects/${projectId}/branches`, {
    branch: { name: "preview" },
    endpoints: [{ type: "read_write" }],
  });
  const onMain = await connectTo(await sim.connectionUri({ branch: "main" }));
  await onMain.query("create table only_on_main ()");
  const uri = await sim.connectionUri({ branch: "preview", pooled: true, role: "neondb_owner" });
  expect(uri).toBe(await sim.connectionUri({ branch: branch.id, pooled: true, database: "neondb" }));
  expect(decodeURIComponent(uri)).toMatch(/options=endpoint=ep-[a-z0-9-]+-pooler&sslmode=disable$/);
  const onPreview = await connectTo(uri);
  expect((await onPreview.query("select to_regclass('only_on_main') as found")).rows).toEqual([
    { found: null },
  ]);
  const fork = await sim.fork({ name: "other" });
  const inFork = await connectTo(await fork.connectionUri({ branch: "preview" }));
  expect((await inFork.query("select current_user as role")).rows).toEqual([{ role: "neondb_owner" }]);
  const onMainOfFork = await connectTo(await fork.connectionUri({ branch: "main" }));
  expect((await onMainOfFork.query("select to_regclass('only_on_main') as found")).rows).toEqual([
    { found: "only_on_main" },
  ]);
  await fork.close();
});

test("with a directory, committed rows exist when the world is opened again", async () => {
  const data = testDirectory();
  const first = await create({ data });
  await createProject(first);
  const client = await connectTo(await first.connectionUri());
  await client.query("create table numbers as select 7 as number");
  await first.close();
  const again = await create({ data });
  const reader = await connectTo(await again.connectionUri());
  expect((await reader.query("select number from numbers")).rows).toEqual([{ number: 7 }]);
});

test("an error names the missing option, the unknown branch, or the directory without Postgres", async () => {
  const without = await create({ postgres: false });
  await expect(without.connectionUri()).rejects.toMatchObject({
    name: "StandinError",
    code: "POSTGRES_DISABLED",
    message: "pass postgres: true to createStandin",
  });
  const sim = await create();
  await expect(sim.connectionUri()).rejects.toMatchObject({
    code: "BAD_REQUEST",
    message: "no project has a compute; create a project first",
  });
  const engineBin = testDirectory();
  useOwnTemporaryFolder();
  await expect(createStandin({ postgres: { engineBin } })).rejects.toMatchObject({
    name: "StandinError",
    code: "POSTGRES_NOT_FOUND",
    message: expect.stringContaining(`${engineBin} (--engine-bin) has no programs "postgres" and "initdb"`),
  });
  expect(dataDirectories()).toEqual([]);
  await expect(createStandin({ postgres: 5 as never })).rejects.toThrow(
    "postgres: must be true, false, or { engineBin: <directory>, engineVersion: exact or nearest, sqlClock: machine or world }",
  );
});

test.each([
  ["before the first client", ""],
  ["while Postgres starts", "connect().catch(() => undefined);"],
  [
    "in a query",
    `const client = await connect();
     await client.query("create table numbers as select generate_series(1, 1000)");
     client.query("select pg_sleep(600)").catch(() => undefined);`,
  ],
  [
    "with two branches of which one is a copy",
    `await (await connect()).query("create table numbers as select generate_series(1, 1000)");
     const { id } = (await get("/projects")).projects[0];
     await post("/projects/" + id + "/branches", { branch: { name: "copy" }, endpoints: [{ type: "read_write" }] });
     await (await connect({ branch: "copy" })).query("insert into numbers values (0)");`,
  ],
])("after SIGKILL of the process %s, neither a process nor a file is left", async (_when, work) => {
  const scratch = testDirectory();
  // As root, Postgres runs as another user.
  chmodSync(scratch, 0o711);
  const program = `
    import { createStandin } from "@standin/standin";
    import pg from "pg";
    const sim = await createStandin({ operations: "immediate", postgres: true });
    const headers = { "Content-Type": "application/json" };
    const get = async (path) => (await sim.fetch("/api/v2" + path)).json();
    const post = async (path, body) => {
      const answer = await sim.fetch("/api/v2" + path, { method: "POST", headers, body: JSON.stringify(body) });
      if (answer.status !== 201) throw new Error(await answer.text());
    };
    const connect = async (options) => {
      const client = new pg.Client(await sim.connectionUri(options));
      client.on("error", () => undefined);
      await client.connect();
      return client;
    };
    await post("/projects", { project: {} });
    ${work}
    console.log("ready");
    setInterval(() => undefined, 1_000);`;
  const command = [process.execPath, "--input-type=module", "-e", program];
  const running = spawnCommand(command, { TMPDIR: scratch });
  await running.waitForOutput(/ready/);
  // Postgres starts for the first client.
  if (work !== "")
    await expect.poll(() => processesIn(scratch).length, { timeout: 10_000 }).toBeGreaterThan(1);
  expect(readdirSync(scratch).length).toBeGreaterThan(0);
  await running.kill("SIGKILL");
  await expect
    .poll(() => [processesIn(scratch), readdirSync(scratch)], { timeout: 10_000 })
    .toEqual([[], []]);
});

test("clients of a version that is not installed are rejected, unless engineVersion is nearest", async () => {
  const [installation] = await findInstallations(undefined, engineUser());
  const { version = 0, binDirectory = "" } = installation ?? {};
  const sim = await create({ postgres: { engineBin: binDirectory } });
  const missing = version === 16 ? 15 : 16;
  await post(sim, "/projects", { project: { pg_version: missing } });
  await expect(connectTo(await sim.connectionUri())).rejects.toMatchObject({
    code: "53000",
    message: expect.stringContaining(
      `runs Postgres ${version} only (--engine-bin), and the project has ${missing}`,
    ),
  });
  const nearest = await create({ postgres: { engineBin: binDirectory, engineVersion: "nearest" } });
  await post(nearest, "/projects", { project: { pg_version: missing } });
  const { rows } = await (await connectTo(await nearest.connectionUri())).query("show server_version_num");
  expect(Math.floor(rows[0].server_version_num / 10_000)).toBe(version);
});

test("branches of one parent that are created in parallel have its data, each its own", async () => {
  const sim = await create({ operations: "timed", locks: "parallel-branches" });
  const { projectId } = await createProject(sim);
  await sim.advance("1m");
  const parent = await connectTo(await sim.connectionUri({ branch: "main" }));
  await parent.query("create table items as select 'of the parent' as name");
  const names = ["one", "two", "three", "four", "five"];
  await Promise.all(
    names.map((name) =>
      post(sim, `/projects/${projectId}/branches`, {
        branch: { name },
        endpoints: [{ type: "read_write" }],
      }),
    ),
  );
  await sim.advance("1m");
  const clients = await Promise.all(
    names.map(async (branch) => connectTo(await sim.connectionUri({ branch }))),
  );
  await Promise.all(
    clients.map((client, index) => client.query("insert into items values ($1)", [names[index]])),
  );
  const rows = await Promise.all(
    clients.map(async (client) => (await client.query("select name from items")).rows),
  );
  expect(rows).toEqual(names.map((name) => [{ name: "of the parent" }, { name }]));
});
