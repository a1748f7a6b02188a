import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnStandin } from "../../support/process/process.ts";
import {
  createProjectOn,
  journalOf,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const API_KEY = "given-key-of-these-tests-0123456789";

test("a server prints its ready line as JSON, on a free port, and its key only on the first start", async () => {
  const data = testDirectory();
  const first = await startServer(data);
  expect(first.ready).toEqual({
    event: "ready",
    pid: first.process.pid,
    api_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v2$/),
    control_url: first.ready.api_url.replace("/api/v2", "/_sim"),
    world: "default",
    clock: "real",
    now: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    console_url: first.ready.api_url.replace("/api/v2", "/"),
    postgres_url: expect.stringMatching(/^postgresql:\/\/127\.0\.0\.1:\d+$/),
    api_key: expect.stringMatching(/^[A-Za-z0-9]{64}$/),
  });
  expect(new URL(first.ready.api_url).port).not.toBe("0");
  expect((await first.api("GET", "/users/me")).status).toBe(200);
  await first.kill("SIGTERM");
  expect(first.stdout()).toMatch(/^\{.*\}\n$/);

  const second = await startServer(data, [], { key: first.ready.api_key as string });
  expect(Object.keys(second.ready)).toEqual([
    "event",
    "pid",
    "api_url",
    "control_url",
    "console_url",
    "postgres_url",
    "world",
    "clock",
    "now",
  ]);
  expect((await second.api("GET", "/users/me")).status).toBe(200);
});

test("a given key is valid from then on, is printed at each such start, and is created once", async () => {
  const data = testDirectory();
  const env = { STANDIN_API_KEY: API_KEY };
  for (const args of [[], ["--api-key", API_KEY], []]) {
    const server = await startServer(data, args, args.length === 0 ? { env } : {});
    expect(server.ready.api_key).toBe(API_KEY);
    expect((await server.api("GET", "/users/me")).status).toBe(200);
    expect((await server.api("GET", "/api_keys")).body).toHaveLength(1);
    await server.kill("SIGTERM");
  }
  const later = await startServer(data, ["--api-key", `another-${API_KEY}`]);
  expect((await later.api("GET", "/api_keys")).body).toHaveLength(2);
});

test("a given key that has been revoked stays invalid; each start with it warns and goes on", async () => {
  const data = testDirectory();
  const shape = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z"];
  const env = { STANDIN_API_KEY: "given" };
  const first = await startServer(data, shape, { env });
  const { api_keys } = (await first.sim("GET", "/api_keys")).body;
  await first.sim("DELETE", `/api_keys/${api_keys[0].id}`);
  await first.kill("SIGTERM");
  for (const args of [[], ["--api-key", "given"], []]) {
    const server = await startServer(data, args, args.length === 0 ? { env } : {});
    expect(server.stderr()).toContain(
      "the key of --api-key has been revoked in this world and stays invalid; use another one",
    );
    expect((await server.api("GET", "/users/me", undefined, "given")).status).toBe(401);
    await server.sim("POST", "/clock/advance", { by: "8d" });
    await server.kill("SIGTERM");
  }
});

test("without --json, the ready text has the URL, the key once, and three commands to try", async () => {
  const data = testDirectory();
  const serveForPeople = () => {
    const server = spawnStandin(["serve", "--data", data, "--port", "0", "--seed", "7"]);
    onTestFinished(async () => void (await server.kill("SIGKILL")));
    return server;
  };
  const first = serveForPeople();
  await first.waitForOutput(/clock advance.*\n/);
  const [, url] = /(http:\S+\/api\/v2)/.exec(first.stdout()) ?? [];
  const [, key] = /^ {2}(\w{64})$/m.exec(first.stdout()) ?? [];
  expect(first.stdout()).toContain("seed: 7");
  const response = await fetch(`${url}/projects`, { headers: { Authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  const commands = first
    .stdout()
    .split("\n")
    .filter((line) => /^ +(curl|\S+\/standin) /.test(line));
  expect(commands).toHaveLength(3);
  expect(commands[0]).toContain(`Bearer ${key}`);
  for (const command of commands.slice(1)) {
    const tried = await runStandin(command.trim().split(" ").slice(1));
    expect(tried, command).toMatchObject({ code: 0, stderr: "" });
  }
  await first.kill("SIGINT");

  const second = serveForPeople();
  await second.waitForOutput(/ready/);
  await second.kill("SIGINT");
  expect(second.stdout()).not.toContain(key);
});

test("a port in use is named, and the failed start loses nothing: the next one still prints the key", async () => {
  const port = new URL((await startServer(testDirectory())).ready.api_url).port;
  const data = testDirectory();
  const refused = await runStandin(["serve", "--data", data, "--port", port, "--json"]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
  expect(refused.stderr).toContain("--port");
  const server = await startServer(data);
  expect(server.ready.api_key).toMatch(/^\w{64}$/);
  expect((await server.api("GET", "/users/me")).status).toBe(200);
});

test("of many servers that start at once on a new directory, one serves it and the others report that it is in use", async () => {
  const data = testDirectory();
  const starts = Array.from({ length: 5 }, () =>
    spawnStandin(["serve", "--data", data, "--port", "0", "--json"]),
  );
  onTestFinished(async () => void (await Promise.all(starts.map((server) => server.kill("SIGKILL")))));
  const refused = new Set<unknown>();
  for (const server of starts) void server.ended.then(() => refused.add(server));
  await Promise.all(
    starts
      .map((server) => Promise.race([server.waitForOutput(/ready/), server.ended]))
      .map((start) => start.catch(() => undefined)),
  );
  const [serving, ...others] = starts.filter((server) => !refused.has(server));
  expect(others).toEqual([]);
  expect(serving?.stdout()).toContain('"api_key"');
  for (const server of starts.filter((other) => other !== serving)) {
    expect(await server.ended).toBe(1);
    expect(server.stderr()).toMatch(/^standin: .* is in use by another standin/);
  }
});

test("a data directory has one server at a time, and is free again when that one is killed", async () => {
  const data = testDirectory();
  const first = await startServer(data, ["--clock", "manual"]);
  await createProjectOn(first);
  const events = await journalOf(first);
  const second = await runStandin(["serve", "--data", data, "--port", "0", "--json"]);
  expect(second).toMatchObject({ code: 1, stdout: "" });
  expect(second.stderr).toMatch(/^standin: .* is in use by another standin/m);
  expect(second.stderr).toContain(data);
  expect(await journalOf(first)).toEqual(events);

  await first.kill("SIGKILL");
  const third = await startServer(data);
  expect(await journalOf(third)).toEqual(events);
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s stops a server with code 0 despite open streams, and the next start finds everything",
  async (signal) => {
    const data = testDirectory();
    const server = await startServer(data, ["--clock", "manual", "--seed", "3"]);
    await createProjectOn(server);
    await server.api("POST", "/api_keys", { key_name: "ci" });
    const state = (await server.sim("GET", "/state")).body;
    const events = await journalOf(server);
    const stream = await fetch(`${server.ready.control_url}/events/stream?since=0`);
    const waiting = server.sim("POST", "/wait", {
      until: { endpoint_id: state.endpoints[0].id, state: "idle" },
      timeout: "10m",
    });
    waiting.catch(() => undefined);
    expect(await server.kill(signal)).toBe(0);
    await stream.text().catch(() => undefined);

    const next = await startServer(data);
    expect((await next.sim("GET", "/state")).body).toEqual(state);
    expect(await journalOf(next)).toEqual(events);
    expect((await next.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  },
);

test("a reader of the ready line may stop the server at once: code 0, and no files left", async () => {
  const data = testDirectory();
  for (let round = 0; round < 5; round += 1) {
    const server = spawnStandin(["serve", "--data", data, "--port", "0", "--json"]);
    server.process.stdout?.once("data", () => server.process.kill("SIGTERM"));
    expect(await server.ended).toBe(0);
    expect(readdirSync(data)).not.toContain("server.json");
  }
});

test("a clean stop leaves one file of the world, which contains only the hash of its key", async () => {
  const data = testDirectory();
  const server = await startServer(data, ["--api-key", API_KEY]);
  const { body } = await server.api("POST", "/api_keys", { key_name: "ci" });
  await server.kill("SIGTERM");
  const file = readFileSync(join(data, "worlds", "default.sqlite")).toString("latin1");
  expect(file).not.toContain(API_KEY);
  expect(file).not.toContain(body.key);
  expect(() => statSync(join(data, "worlds", "default.sqlite-wal"))).toThrow("ENOENT");
});

test("the time and address of the last use of a key are stored", async () => {
  const data = testDirectory();
  const server = await startServer(data, ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z"]);
  expect((await server.sim("GET", "/api_keys")).body.api_keys).toMatchObject([
    { last_used_at: null, last_used_from_addr: "" },
  ]);
  await server.api("GET", "/projects");
  await server.kill("SIGTERM");
  const next = await startServer(data);
  const used = { last_used_at: "2026-01-01T00:00:00.000Z", last_used_from_addr: "127.0.0.1" };
  expect((await next.sim("GET", "/api_keys")).body.api_keys).toMatchObject([used]);
});

test("a file that is not a world file is named in the error and left unchanged", async () => {
  const data = testDirectory();
  const file = join(data, "worlds", "default.sqlite");
  mkdirSync(join(data, "worlds"));
  writeFileSync(file, "not a database, but long enough to be taken for one".repeat(100));
  const refused = await runStandin(["serve", "--data", data, "--port", "0"]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(
    /^standin: the file of world "default" is damaged \(file is not a database\); restore a snapshot of it: /,
  );
  expect(readFileSync(file, "utf8")).toContain("not a database");
});

test("a non-loopback address requires a control token", async () => {
  const data = testDirectory();
  for (const host of ["0.0.0.0", "::"]) {
    const refused = await runStandin(["serve", "--data", data, "--port", "0", "--host", host]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(new RegExp(`--host ${host}: .*STANDIN_CONTROL_TOKEN`));
  }
  expect(() => statSync(join(data, "worlds"))).toThrow("ENOENT");
  const server = await startServer(data, ["--host", "0.0.0.0"], {
    env: { STANDIN_CONTROL_TOKEN: "t0ken" },
    controlToken: "t0ken",
  });
  expect((await server.sim("GET", "/clock")).status).toBe(200);
});

test("on a non-loopback address, the control API accepts the token under every address of the machine", async (context) => {
  const address = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === "IPv4");
  if (address === undefined) return context.skip("this machine has no address beyond loopback");
  const server = await startServer(testDirectory(), ["--host", "0.0.0.0", "--control-token", "t0ken"]);
  const url = server.ready.control_url.replace("127.0.0.1", address.address);
  expect((await fetch(`${url}/clock`)).status).toBe(401);
  expect((await fetch(`${url}/clock`, { headers: { Authorization: "Bearer t0ken" } })).status).toBe(200);
});

test("keys and tokens never appear in the log, at any level", async () => {
  const data = testDirectory();
  const controlToken = "control-token-of-this-test";
  const args = ["--log-level", "debug", "--api-key", API_KEY, "--control-token", controlToken];
  const server = await startServer(data, args, { controlToken });
  const created = [
    await server.api("POST", "/api_keys", { key_name: "a" }),
    await server.sim("POST", "/api_keys", { key_name: "b" }),
  ];
  const account = await server.sim("POST", "/accounts", { name: "c", api_key: `account-${API_KEY}` });
  const { body: project } = await server.api("POST", "/projects", { project: {} });
  await server.api("GET", "/projects", undefined, `wrong-${API_KEY}`);
  await server.api("POST", "/api_keys", `{"key_name": "${API_KEY}"`);
  await server.sim("POST", "/accounts", { name: 5, api_key: `refused-${API_KEY}` });
  await server.sim("POST", "/accounts", { name: "c", api_key: `account-${API_KEY}` });
  await server.api("DELETE", `/api_keys/${created[0]?.body.id}`);
  await server.kill("SIGTERM");
  const log = server.stderr();
  expect(log).toContain('"path":"/api/v2/api_keys","status":200');
  for (const { msg, time, sim } of log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))) {
    expect({ msg, time, sim }).toEqual({
      msg: expect.any(String),
      time: expect.stringMatching(/Z$/),
      sim: expect.stringMatching(/Z$/),
    });
  }
  const secrets = [API_KEY, controlToken, account.body.api_key.key, ...created.map(({ body }) => body.key)];
  for (const secret of [...secrets, project.roles[0].password]) expect(log).not.toContain(secret);
});
