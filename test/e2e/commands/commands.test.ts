import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { runStandinProcess, spawnCommand, spawnStandin, waitForExit } from "../../support/process/process.ts";
import {
  createProjectOn,
  type RunningServer,
  serverClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

/** Runs a command that must succeed; returns its stdout. */
async function done(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runStandin(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

const json = async (args: readonly string[]) => JSON.parse(await done([...args, "--json"]));
const statusOf = async (server: RunningServer, key: string) =>
  (await server.api("GET", "/projects", undefined, key)).status;

test("keys are created, listed and revoked through the running server", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const secret = (await done(["keys", "create", "ci", "--data", data])).trim();
  expect(secret).toMatch(/^\w{64}$/);
  expect(await statusOf(server, secret)).toBe(200);
  const { api_keys } = await json(["keys", "list", "--data", data]);
  expect(api_keys.map(({ name }: { name: string }) => name)).toEqual(["first key", "ci"]);
  const table = await done(["keys", "list", "--data", data]);
  expect(table).toMatch(/^ID +NAME +ACCOUNT +CREATED +LAST USED\n1 +first key /);
  for (const key of [secret, server.ready.api_key as string]) expect(table).not.toContain(key);

  expect(await done(["keys", "revoke", "2", "--data", data])).toBe("revoked key 2 (ci)\n");
  expect(await statusOf(server, secret)).toBe(401);
  expect(await json(["keys", "revoke", "1", "--data", data])).toMatchObject({ id: 1, revoked: true });
  const { key } = await json(["keys", "create", "next", "--data", data]);
  expect(await statusOf(server, key)).toBe(200);
});

test("keys are created, listed and revoked without a server, also after one was killed", async () => {
  const data = testDirectory();
  const first = await startServer(data, MANUAL);
  await first.kill("SIGKILL");
  const created = await json(["keys", "create", "kept", "--data", data]);
  const other = (await done(["keys", "create", "dropped", "--data", data])).trim();
  expect(
    (await json(["keys", "list", "--data", data])).api_keys.map(({ name }: { name: string }) => name),
  ).toEqual(["first key", "kept", "dropped"]);
  await done(["keys", "revoke", "3", "--data", data]);
  const server = await startServer(data);
  expect(await statusOf(server, created.key)).toBe(200);
  expect(await statusOf(server, other)).toBe(401);
});

test("keys belong to the named account, or else to the first", async () => {
  const data = testDirectory();
  const server = await startServer(data);
  await server.sim("POST", "/accounts", { id: "second", name: "Second" });
  const key = (await done(["keys", "create", "theirs", "--account", "second", "--data", data])).trim();
  expect((await server.api("GET", "/users/me", undefined, key)).body.id).toBe("second");
  expect((await json(["keys", "list", "--account", "second", "--data", data])).api_keys).toHaveLength(2);
  const refused = await runStandin(["keys", "create", "x", "--account", "third", "--data", data]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/^standin: .*"third" not found/);
});

test("listing keys in a directory without a world creates none, so the first start still prints its key", async () => {
  const data = join(testDirectory(), "data");
  await runStandin(["keys", "list", "--data", data]);
  const server = await startServer(data, ["--seed", "9"]);
  expect(server.ready.api_key).toMatch(/^\w{64}$/);
});

test("status shows a compute as Active and later as Idle", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  expect(await done(["status", "--data", data])).toContain("no computes;");
  const { endpointId } = await createProjectOn(server, { name: "shop" });
  const active = await done(["status", "--data", data]);
  expect(active).toMatch(
    /^2026-01-01T00:00:10\.000Z\nENDPOINT +PROJECT +BRANCH +STATUS +SIZE +CONNECTIONS +SUSPENDS IN\n/,
  );
  expect(active).toMatch(new RegExp(`^${endpointId} .* shop +main +Active +0\\.25 CU +0 +4m 54s$`, "m"));
  expect(await json(["status", "--data", data])).toMatchObject({
    endpoints: [{ endpoint_id: endpointId, status: "Active", project_name: "shop", branch_name: "main" }],
  });
  await done(["clock", "advance", "5m", "--data", data]);
  expect(await done(["status", "--data", data])).toMatch(new RegExp(`^${endpointId} .* Idle +`, "m"));
  expect((await json(["status", "--data", data])).endpoints[0].status).toBe("Idle");
});

test("the clock is shown, advanced and set", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const clock = (...args: string[]) => done(["clock", ...args, "--data", data]);
  expect(await clock("show")).toBe("2026-01-01T00:00:00.000Z (manual), no work is due\n");
  expect(await clock()).toBe(await clock("show"));
  expect(await clock("advance", "--next")).toBe("no work is due\nclock: 2026-01-01T00:00:00.000Z\n");
  expect(await clock("advance", "0s")).toBe("clock: 2026-01-01T00:00:00.000Z\n");
  const { body } = await server.api("POST", "/projects", { project: {} });
  expect(await clock("show")).toBe(
    "2026-01-01T00:00:00.000Z (manual), next work due 2026-01-01T00:00:01.000Z\n",
  );
  const stepped = await clock("advance", "--next");
  expect(stepped).toMatch(/^2026-01-01T00:00:01\.000Z {2}OperationFinished/);
  expect(stepped).toMatch(/clock: 2026-01-01T00:00:01\.000Z\n$/);
  const slept = await clock("advance", "--to", "2026-01-01T01:00:00Z");
  expect(slept).toContain(`2026-01-01T00:05:04.000Z  ComputeSuspended  ${body.endpoints[0].id}`);
  expect(slept).toMatch(/clock: 2026-01-01T01:00:00\.000Z\n$/);
  const advanced = await json(["clock", "advance", "90s", "--data", data]);
  expect(advanced).toEqual({ now: "2026-01-01T01:01:30.000Z", events: [] });
  expect(await json(["clock", "set", "60x", "--data", data])).toMatchObject({ mode: "scaled", factor: 60 });
  expect(await clock("set", "real")).toMatch(/ \(real\), /);
  expect(await json(["clock", "set", "manual", "--data", data])).toMatchObject({ mode: "manual", factor: 0 });
});

test("env prints exports that give a shell access to the API", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const exports = await done(["env", "--data", data]);
  expect(exports.split("\n")).toHaveLength(3);
  const [, host = "", key = ""] =
    /^export NEON_API_HOST='(.*)'\nexport NEON_API_KEY='(.*)'\n$/.exec(exports) ?? [];
  expect(host).toBe(server.ready.api_url);
  expect(await statusOf(server, key)).toBe(200);
  const own = server.ready.api_key as string;
  expect(await json(["env", "--api-key", own, "--data", data])).toEqual({
    NEON_API_HOST: host,
    NEON_API_KEY: own,
  });
  expect((await json(["keys", "list", "--data", data])).api_keys).toHaveLength(2);
});

test("env reuses one key for each world of a data directory while the key is valid", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const keyOf = async (...args: string[]): Promise<string> =>
    (await json(["env", "--data", data, ...args])).NEON_API_KEY;
  const first = await keyOf();
  expect(await keyOf()).toBe(first);
  expect((await json(["keys", "list", "--data", data])).api_keys).toHaveLength(2);
  expect(statSync(join(data, "shell-keys.json")).mode & 0o777).toBe(0o600);
  await done(["worlds", "create", "fork", "--data", data]);
  expect(await keyOf("--world", "fork")).not.toBe(first);
  expect(await keyOf()).toBe(first);
  await done(["keys", "revoke", "2", "--data", data]);
  const second = await keyOf();
  expect(await statusOf(server, second)).toBe(200);
  expect(await keyOf("--url", server.ready.api_url)).not.toBe(second);
});

test("env creates a new key for a world that was restored, whose history may lack the previous one", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const keyOf = async (): Promise<string> => (await json(["env", "--data", data])).NEON_API_KEY;
  await done(["snapshots", "create", "before", "--data", data]);
  await keyOf();
  const { former_kept_as } = await json(["snapshots", "restore", "before", "--data", data]);
  await keyOf();
  await done(["snapshots", "restore", former_kept_as, "--data", data]);
  expect(await statusOf(server, await keyOf())).toBe(200);
});

test.each([[[]], [["--dta", "elsewhere"]], [["--world", "No World"]]])(
  "without a server, env %j makes the shell fail and never leaves the real platform selected",
  async (args) => {
    const data = testDirectory();
    const refused = await runStandin(["env", "--data", data, ...args]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/^standin: /);
    const script = join(data, "output.sh");
    writeFileSync(script, refused.stdout);
    const shell = async (commands: string) =>
      (await waitForExit(spawnCommand(["/bin/sh", "-c", commands], { OUTPUT: script, NEON_API_KEY: "real" })))
        .stdout;
    expect(await shell('set -e; eval "$(cat "$OUTPUT")"; echo continued')).toBe("");
    expect(await shell('eval "$(cat "$OUTPUT")" && echo continued')).toBe("");
    expect(await shell('eval "$(cat "$OUTPUT")"; echo "$NEON_API_HOST $NEON_API_KEY"')).toBe(
      "http://standin-is-not-running.invalid/api/v2 standin-is-not-running\n",
    );
  },
);

test("env --json without a server prints nothing to stdout", async () => {
  const refused = await runStandin(["env", "--json", "--data", testDirectory()]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("standin serve --data");
});

test("commands reach a server by its URL or its data directory, and send its control token", async () => {
  const data = testDirectory();
  const server = await startServer(data, [...MANUAL, "--control-token", "t0ken"], { controlToken: "t0ken" });
  const origin = new URL(server.ready.api_url).origin;
  expect(await done(["clock", "--data", data])).toContain("manual");
  for (const url of [origin, `${origin}/`, server.ready.api_url, server.ready.control_url]) {
    expect(await done(["clock", "show", "--url", url, "--control-token", "t0ken"])).toContain("manual");
  }
  const refused = await runStandin(["clock", "show", "--url", origin, "--control-token", "wrong"]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("control token");
});

test("wait exits when a server is ready, and with code 1 on timeout", async () => {
  const data = testDirectory();
  const late = await runStandin(["wait", "--data", data, "--timeout", "100ms"]);
  expect(late).toMatchObject({ code: 1, stdout: "" });
  expect(late.stderr).toContain("100 ms");
  const waiting = spawnStandin(["wait", "--data", data, "--timeout", "5m"]);
  onTestFinished(async () => void (await waiting.kill("SIGKILL")));
  await startServer(data);
  expect(await waiting.ended).toBe(0);
  expect(waiting.stdout()).toBe("ready\n");
  expect(await json(["wait", "--data", data])).toMatchObject({ status: "ready", world: "default" });
});

test("wait exits when a compute, an operation or a project reaches the requested state", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const { body } = await server.api("POST", "/projects", { project: {} });
  const conditions = [
    ["--project", body.project.id],
    ["--operation", body.operations[1].id],
    ["--endpoint", body.endpoints[0].id, "--state", "idle"],
  ];
  const waiting = conditions.map((condition) =>
    runStandinProcess(["wait", ...condition, "--data", data, "--timeout", "5m"]),
  );
  const early = await runStandin([
    "wait",
    "--endpoint",
    body.endpoints[0].id,
    "--state",
    "idle",
    "--data",
    data,
    "--timeout",
    "50ms",
  ]);
  expect(early).toMatchObject({ code: 1, stdout: "" });
  expect(early.stderr).toContain("timed out after 0.05 s");
  await serverClient(server.ready).sim("POST", "/clock/advance", { by: "1h" });
  for (const ended of await Promise.all(waiting))
    expect(ended).toEqual({ code: 0, stdout: "condition met\n", stderr: "" });
  expect(await json(["wait", "--project", body.project.id, "--data", data])).toMatchObject({
    until: { project_id: body.project.id },
  });
});
