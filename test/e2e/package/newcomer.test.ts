import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnCommand, waitForExit } from "../../support/process/process.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** The public command-line client, with the output of `standin env` in its environment. */
async function neonctl(env: Record<string, string>, ...args: string[]) {
  const program = join(ROOT, "node_modules", ".bin", "neonctl");
  const home = testDirectory();
  // The server is local; the client must not contact other hosts.
  const alone = { HOME: home, XDG_CONFIG_HOME: home, CI: "1", NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };
  const { code, stdout, stderr } = await waitForExit(
    spawnCommand([program, ...args, "--output", "json", "--no-analytics"], { ...env, ...alone }),
  );
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

test("a newcomer creates a project with the public client, sees its compute suspend and start, kills the server and finds everything", async () => {
  const data = testDirectory();
  const server = await startServer(data, [
    "--clock",
    "manual",
    "--seed",
    "7",
    "--start-at",
    "2026-01-01T00:00:00Z",
  ]);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runStandin([...args, "--data", data]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  const exports = await run("env");
  const env = Object.fromEntries(
    [...exports.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]),
  );
  const { project } = await neonctl(env, "projects", "create", "--name", "shop");
  await run("clock", "advance", "10s");
  expect(await run("status")).toContain("Active");
  await run("clock", "advance", "5m");
  expect(await run("status")).toContain("Idle");
  const { endpoint_id } = JSON.parse(await run("status", "--json")).endpoints[0];
  const { body } = await server.sim("POST", "/activity", { endpoint_id, kind: "query", duration_ms: 250 });
  expect(body.activities).toMatchObject([{ outcome: "waits", woke: true, waited_ms: 3_000 }]);
  await run("clock", "advance", "3s");
  expect(await run("status")).toContain("Active");
  await server.kill("SIGKILL");

  const again = await startServer(data);
  const projects = await neonctl({ ...env, NEON_API_HOST: again.ready.api_url }, "projects", "list");
  expect(projects.projects.map(({ id, name }: { id: string; name: string }) => ({ id, name }))).toEqual([
    { id: project.id, name: "shop" },
  ]);
  expect(await run("status")).toContain("Active");
  expect((await again.sim("GET", "/clock")).body.now).toBe("2026-01-01T00:05:13.000Z");
});

test("the example of docs/reference/seed-file.md creates the resources that it lists", async () => {
  const [, example = ""] =
    /^```yaml\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, "docs/reference/seed-file.md"), "utf8")) ?? [];
  const [, key = ""] = /key: ([\w-]{16,})/.exec(example) ?? [];
  const directory = testDirectory();
  const file = join(directory, "world.yaml");
  writeFileSync(file, example);
  writeFileSync(join(directory, "schema.sql"), "create table items (id int);");
  const server = await startServer(testDirectory(), ["--seed-file", file], { key });
  const { projects } = (await server.api("GET", "/projects")).body;
  expect(projects).toHaveLength(1);
  const { endpoints } = (await server.api("GET", `/projects/${projects[0].id}/endpoints`)).body;
  for (const { id, current_state } of endpoints) {
    expect(example).toContain(`id: ${id}`);
    expect(current_state).toBe("active");
  }
  expect((await server.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});
