import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import {
  createProjectOn,
  journalOf,
  type RunningServer,
  type ServerClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";
import { clientOfWorld, forkWorldOn } from "../../support/server/worlds.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

/** Runs a command that must succeed; returns its stdout. */
async function done(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runStandin(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

const json = async (args: readonly string[]) => JSON.parse(await done([...args, "--json"]));

/** Raw responses of the server. */
async function stateText({ ready }: Pick<RunningServer, "ready">, query = ""): Promise<string> {
  return (await fetch(`${ready.control_url}/state${query}`)).text();
}

/**
 * A server with a project whose compute was suspended and started again; stopped if the test wants no server.
 */
async function startWithProject(data: string, args: readonly string[] = []) {
  const server = await startServer(data, [...MANUAL, ...args]);
  const project = await createProjectOn(server, { name: "shop" });
  await server.sim("POST", "/clock/advance", { by: "10m" });
  await server.sim("POST", "/activity", { endpoint_id: project.endpointId, source: "checkout" });
  await server.sim("POST", "/clock/advance", { by: "10s" });
  return { server, ...project };
}

/** With and without a running server; the output is the same. */
const SERVED = [true, false] as const;

test.each(SERVED)("snapshots are created, listed, restored and deleted; with a server %s", async (served) => {
  const data = testDirectory();
  const { server } = await startWithProject(data);
  const key = server.ready.api_key as string;
  if (!served) await server.kill("SIGKILL");
  const snapshots = (...args: string[]) => done(["snapshots", ...args, "--data", data]);
  expect(await snapshots("list")).toBe("no snapshots; take one with: standin snapshots create <name>\n");
  expect(await snapshots("create", "before")).toMatch(
    /^created snapshot before at event \d+, 2026-01-01T00:10:20\.000Z \(\d+ bytes\)\n$/,
  );
  await done(["keys", "create", "later", "--data", data]);
  const table = (await snapshots("list")).split("\n");
  expect(table[0]).toMatch(/^NAME +KIND +CREATED +WORLD CLOCK +EVENT +BYTES$/);
  expect(table[1]).toMatch(/^before +manual +\d{4}-\S+Z +2026-01-01T00:10:20\.000Z +\d+ +\d+$/);
  const { snapshots: listed } = await json(["snapshots", "list", "--data", data]);
  expect(listed).toMatchObject([
    { name: "before", kind: "manual", now: "2026-01-01T00:10:20.000Z", history_id: expect.any(String) },
  ]);
  expect(readdirSync(join(data, "snapshots/default"))).toEqual(["before.sqlite"]);

  const restored = await snapshots("restore", "before");
  const [, backup = ""] =
    /^restored snapshot before; the previous state is stored as snapshot (auto-before-restore-\d{8}t\d{6}z)\n$/.exec(
      restored,
    ) ?? [];
  expect(backup).not.toBe("");
  expect((await json(["keys", "list", "--data", data])).api_keys).toHaveLength(1);
  expect(await json(["snapshots", "restore", backup, "--data", data])).toMatchObject({
    restored: backup,
    former_kept_as: expect.stringMatching(/^auto-/),
  });
  expect((await json(["keys", "list", "--data", data])).api_keys).toHaveLength(2);
  expect(await snapshots("delete", "before")).toBe("deleted snapshot before\n");
  expect(
    (await json(["snapshots", "list", "--data", data])).snapshots.map(({ kind }: { kind: string }) => kind),
  ).toEqual(["automatic", "automatic"]);
  const again = served ? server : await startServer(data, [], { key });
  expect((await again.api("GET", "/projects", undefined, key)).body.projects).toMatchObject([
    { name: "shop" },
  ]);
});

test.each(SERVED)("each world has its own snapshots; with a server %s", async (served) => {
  const data = testDirectory();
  const { server } = await startWithProject(data);
  await forkWorldOn(server, { name: "copy" });
  if (!served) await server.kill("SIGTERM");
  await done(["snapshots", "create", "kept", "--world", "copy", "--data", data]);
  expect((await json(["snapshots", "list", "--data", data])).snapshots).toEqual([]);
  expect((await json(["snapshots", "list", "--world", "copy", "--data", data])).snapshots).toMatchObject([
    { name: "kept" },
  ]);
  expect(await done(["snapshots", "restore", "kept", "--world", "copy", "--data", data])).toContain(
    "restored snapshot kept",
  );
});

test.each(SERVED)("worlds are forked, listed and deleted; with a server %s", async (served) => {
  const data = testDirectory();
  const { server, projectId } = await startWithProject(data);
  const key = server.ready.api_key as string;
  if (!served) await server.kill("SIGTERM");
  const worlds = (...args: string[]) => done(["worlds", ...args, "--data", data]);
  expect(await worlds("create", "pull-request-7")).toMatch(
    /^created world pull-request-7 at event \d+, 2026-01-01T00:10:20\.000Z; API path: \/w\/pull-request-7\/api\/v2\n$/,
  );
  expect(await worlds("create", "earlier", "--at", "2026-01-01T00:05:00Z")).toContain(
    "at event 13, 2026-01-01T00:05:00.000Z",
  );
  const second = await json([
    "worlds",
    "create",
    "of-a-fork",
    "--world",
    "earlier",
    "--at",
    "4",
    "--seed",
    "8",
    "--data",
    data,
  ]);
  expect(second).toMatchObject({ name: "of-a-fork", from: "earlier", now: "2026-01-01T00:00:00.000Z" });
  for (const clock of ["real", "60x", "manual"]) await worlds("create", `on-${clock}`, "--clock", clock);
  const lines = (await worlds("list")).split("\n");
  expect(lines[0]).toMatch(/^NAME +CLOCK +EVENT +BYTES +PATH$/);
  const names = ["default", "earlier", "of-a-fork", "on-60x", "on-manual", "on-real", "pull-request-7"];
  expect(lines.slice(1, -1).map((line) => [line.split(/ +/)[0], line.split(/ +/).at(-1)])).toEqual(
    names.map((name) => [name, name === "default" ? "/" : `/w/${name}`]),
  );
  expect(
    (await json(["worlds", "list", "--data", data])).worlds.map(({ name }: { name: string }) => name),
  ).toEqual(names);
  expect(await worlds("delete", "of-a-fork")).toBe("deleted world of-a-fork\n");
  expect(await json(["worlds", "delete", "on-real", "--data", data])).toEqual({
    name: "on-real",
    deleted: true,
  });

  const running = served ? server : await startServer(data, [], { key });
  const client = async (name: string) =>
    clientOfWorld(running, (await running.sim("GET", `/worlds/${name}`)).body.world, key);
  expect((await (await client("pull-request-7")).api("GET", `/projects/${projectId}`)).status).toBe(200);
  expect((await (await client("on-60x")).sim("GET", "/clock")).body).toMatchObject({
    mode: "scaled",
    factor: 60,
  });
  expect((await (await client("earlier")).sim("GET", "/clock")).body).toMatchObject({
    mode: "manual",
    now: "2026-01-01T00:05:00.000Z",
  });
  expect((await running.sim("GET", "/worlds/of-a-fork")).status).toBe(404);
});

test("status, clock, keys and env use the named world and no other", async () => {
  const data = testDirectory();
  const { server, endpointId, path } = await startWithProject(data);
  const world = await forkWorldOn(server, { name: "copy" });
  const target = ["--world", "copy", "--data", data];
  expect(await done(["clock", "advance", "10m", ...target])).toContain(`ComputeSuspended  ${endpointId}`);
  expect(await done(["clock", "show", ...target])).toBe(
    "2026-01-01T00:20:20.000Z (manual), no work is due\n",
  );
  expect(await done(["clock", "show", "--data", data])).toMatch(/^2026-01-01T00:10:20\.000Z /);
  expect(await done(["status", ...target])).toMatch(new RegExp(`^${endpointId} .* Idle +`, "m"));
  expect(await done(["status", "--data", data])).toMatch(new RegExp(`^${endpointId} .* Active +`, "m"));
  await done(["clock", "set", "60x", ...target]);
  expect((await world.sim("GET", "/clock")).body.mode).toBe("scaled");
  expect((await server.sim("GET", "/clock")).body.mode).toBe("manual");
  expect(await done(["wait", "--endpoint", endpointId, "--state", "idle", ...target])).toBe(
    "condition met\n",
  );

  const secret = (await done(["keys", "create", "ci", ...target])).trim();
  expect((await world.api("GET", path, undefined, secret)).status).toBe(200);
  expect((await server.api("GET", path, undefined, secret)).status).toBe(401);
  expect(
    (await json(["keys", "list", ...target])).api_keys.map(({ name }: { name: string }) => name),
  ).toEqual(["first key", "ci"]);
  expect(
    (await json(["keys", "list", "--data", data])).api_keys.map(({ name }: { name: string }) => name),
  ).toEqual(["first key"]);
  expect(await done(["keys", "revoke", "2", ...target])).toBe("revoked key 2 (ci)\n");

  const exports = await json(["env", ...target]);
  expect(exports.NEON_API_HOST).toBe(world.api_url);
  expect(
    (
      await fetch(`${exports.NEON_API_HOST}/projects`, {
        headers: { Authorization: `Bearer ${exports.NEON_API_KEY}` },
      })
    ).status,
  ).toBe(200);
  const { origin } = new URL(server.ready.api_url);
  for (const url of [`${origin}/w/copy`, world.api_url, world.control_url]) {
    expect(await done(["clock", "show", "--url", url])).toContain("(60x)");
  }
  expect(await done(["clock", "show", "--url", origin, "--world", "copy"])).toContain("(60x)");
});

test("keys of a world without a server are created in its file", async () => {
  const data = testDirectory();
  const { server, path } = await startWithProject(data);
  await forkWorldOn(server, { name: "copy" });
  await server.kill("SIGKILL");
  const secret = (await done(["keys", "create", "ci", "--world", "copy", "--data", data])).trim();
  const restarted = await startServer(data, [], { key: secret });
  const world = clientOfWorld(restarted, (await restarted.sim("GET", "/worlds/copy")).body.world, secret);
  expect((await world.api("GET", path)).status).toBe(200);
  expect((await restarted.api("GET", path)).status).toBe(401);
});

test.each(SERVED)(
  "explain prints the reasons and the events behind them, now and at a point; with a server %s",
  async (served) => {
    const data = testDirectory();
    const { server, endpointId, projectId } = await startWithProject(data);
    const world = await forkWorldOn(server, { name: "copy" });
    await world.sim("POST", "/clock/advance", { by: "1h" });
    const { operations } = (await server.api("GET", `/projects/${projectId}/operations`)).body;
    const explanation = (await server.sim("GET", `/explain/endpoints/${endpointId}`)).body;
    if (!served) await server.kill("SIGTERM");
    const text = await done(["explain", endpointId, "--data", data]);
    const lines = text.split("\n");
    expect(lines[0]).toBe("as of 2026-01-01T00:10:20.000Z:");
    expect(lines.filter((line) => line.startsWith("- "))).toEqual(
      explanation.reasons.map(
        ({ text: said, events }) => `- ${said}${events.length === 0 ? "" : ` [${events.join(", ")}]`}`,
      ),
    );
    expect(text).toContain('by a client\'s query from "checkout" that found the compute idle');
    for (const { seq, at, type } of explanation.events) expect(lines).toContain(`  ${seq}  ${at}  ${type}`);
    expect(await json(["explain", endpointId, "--data", data])).toEqual(explanation);
    for (const point of ["2026-01-01T00:10:00Z", "2026-01-01T02:10:00+02:00"]) {
      expect(await done(["explain", endpointId, "--at", point, "--data", data])).toMatch(
        /^as of 2026-01-01T00:10:00\.000Z:\n- ep-\S+ has been idle since 2026-01-01T00:05:04\.000Z/,
      );
    }
    expect((await json(["explain", endpointId, "--at", "13", "--data", data])).state).toBe("active");
    expect(await done(["explain", endpointId, "--world", "copy", "--data", data])).toContain(
      "has been idle since 2026-01-01T00:15:13.000Z",
    );
    const operation = await json(["explain", operations[0].id, "--data", data]);
    expect(operation).toMatchObject({
      operation_id: operations[0].id,
      action: "start_compute",
      status: "finished",
    });
  },
);

test.each(SERVED)(
  "replay prints the same world as the server, at any point; with a server %s",
  async (served) => {
    const data = testDirectory();
    const { server, endpointId } = await startWithProject(data);
    const world = await forkWorldOn(server, { name: "copy" });
    await world.sim("POST", "/clock/advance", { by: "1h" });
    await server.sim("POST", "/snapshots", { name: "kept" });
    const points = ["13", "17", "2026-01-01T00:00:02Z", "2026-01-01T00:05:04Z", "2026-01-01T00:10:13.5Z"];
    const expected = new Map<string, string>();
    for (const point of points) expected.set(point, await stateText(server, `?at=${point}`));
    const [head, other] = [
      await stateText(server),
      await stateText({ ready: { ...server.ready, control_url: world.control_url } }),
    ];
    if (!served) await server.kill("SIGKILL");

    expect(await done(["replay", data, "--json"])).toBe(`${head}\n`);
    expect(await done(["replay", data, "--world", "copy", "--json"])).toBe(`${other}\n`);
    for (const point of points)
      expect(await done(["replay", data, "--until", point, "--json"])).toBe(`${expected.get(point)}\n`);
    for (const file of [join(data, "worlds/default.sqlite"), join(data, "snapshots/default/kept.sqlite")]) {
      expect(await done(["replay", file, "--json"])).toBe(`${head}\n`);
    }
    const active = await done(["replay", data, "--until", "2026-01-01T00:05:00Z"]);
    expect(active).toMatch(
      /^2026-01-01T00:05:00\.000Z, after event 13 \(seed 1, profile 2024, plan paid\)\n/,
    );
    expect(active).toMatch(/^ENDPOINT +PROJECT +BRANCH +STATE +SIZE +UPDATED$/m);
    expect(active).toMatch(
      new RegExp(`^${endpointId} .* active +0\\.25 CU +2026-01-01T00:00:04\\.000Z$`, "m"),
    );
    const idle = await done(["replay", data, "--until", "2026-01-01T00:06:00Z"]);
    expect(idle).toMatch(new RegExp(`^${endpointId} .* idle +2026-01-01T00:05:04\\.000Z$`, "m"));
    expect(await done(["replay", data, "--until", "3"])).not.toContain("ENDPOINT");
  },
);

test("replay, verify and export find the data directory like the other commands", async () => {
  const data = testDirectory();
  const { server } = await startWithProject(data);
  await server.kill("SIGTERM");
  const variable = { STANDIN_DATA: data };
  for (const [index, command] of (["replay", "verify", "export"] as const).entries()) {
    const out = (name: string) =>
      command === "export" ? ["--out", join(data, `${name}-${index}.sqlite`)] : [];
    const shown = (text: string) => text.replace(/^wrote \S+/, "");
    const expected = shown(await done([command, data, ...out("of-dir")]));
    expect(shown(await done([command, "--data", data, ...out("of-flag")]))).toBe(expected);
    const { code, stdout } = await runStandin([command, ...out("of-variable")], variable);
    expect({ code, stdout: shown(stdout) }).toEqual({ code: 0, stdout: expected });
    // The argument takes precedence.
    expect(
      (await runStandin([command, join(data, "nothing"), ...out("of-nothing")], variable)).stderr,
    ).toMatch(/nothing does not exist$/m);
  }
});

test("replay, verify and export only read: the files stay byte-identical", async () => {
  const data = testDirectory();
  const { server } = await startWithProject(data);
  await server.sim("POST", "/snapshots", { name: "kept" });
  await server.kill("SIGTERM");
  const [world, snapshot] = [
    join(data, "worlds/default.sqlite"),
    join(data, "snapshots/default/kept.sqlite"),
  ];
  const before = [readFileSync(world), readFileSync(snapshot)];
  for (const path of [data, snapshot]) {
    await done(["replay", path]);
    await done(["verify", path]);
    await done(["export", path, "--out", join(testDirectory(), "export.sqlite")]);
  }
  expect([readFileSync(world), readFileSync(snapshot)]).toEqual(before);
  expect(readdirSync(join(data, "snapshots/default"))).toEqual(["kept.sqlite"]);
  // The auxiliary files that a reader leaves next to a world file are empty.
  for (const file of readdirSync(join(data, "worlds")))
    if (file.endsWith("-wal")) expect(statSync(join(data, "worlds", file)).size).toBe(0);
});

test.each(SERVED)(
  "verify passes for a world, a second world and a snapshot; with a server %s",
  async (served) => {
    const data = testDirectory();
    const { server } = await startWithProject(data);
    const { seq } = (await server.sim("GET", "/health")).body.history;
    const world = await forkWorldOn(server, { name: "copy" });
    await createProjectOn(world);
    const { body: health } = await world.sim("GET", "/health");
    await server.sim("POST", "/snapshots", { name: "kept" });
    if (!served) await server.kill("SIGKILL");
    const sound =
      /^replayed (\d+) events from the beginning; checked (\d+) rows, 0 checkpoints, (\d+) invariants\n$/;
    const [, events, rows, invariants] = sound.exec(await done(["verify", data])) ?? [];
    expect(Number(events)).toBe(seq);
    for (const count of [rows, invariants]) expect(Number(count)).toBeGreaterThan(5);
    expect(await json(["verify", data])).toEqual({
      ok: true,
      from: 0,
      to: seq,
      rows: Number(rows),
      checkpoints: 0,
      invariants: Number(invariants),
      differences: [],
      data: { references: 0, clusters: 0, pages: 0 },
    });
    expect(await json(["verify", data, "--world", "copy"])).toMatchObject({
      ok: true,
      to: health.history.seq,
    });
    expect(await done(["verify", join(data, "snapshots/default/kept.sqlite")])).toMatch(sound);
  },
);

test("compact reports when it retains no events", async () => {
  const data = testDirectory();
  const { server } = await startWithProject(data);
  await server.sim("POST", "/clock/advance", { by: "1h" });
  expect(await done(["compact", "--keep", "1s", "--data", data])).toMatch(
    /^no events are retained \(\d+ bytes\)\n$/,
  );
});

test.each(SERVED)("compact deletes history up to the printed event; with a server %s", async (served) => {
  const data = testDirectory();
  const { server, endpointId } = await startWithProject(data);
  const key = server.ready.api_key as string;
  await server.sim("POST", "/clock/advance", { by: "1h" });
  await forkWorldOn(server, { name: "copy" });
  const state = await stateText(server);
  const { seq } = (await server.sim("GET", "/health")).body.history;
  if (!served) await server.kill("SIGTERM");
  expect(await done(["compact", "--keep", "30d", "--data", data])).toBe(
    `history now covers events 1 to ${seq} (${(await json(["compact", "--keep", "30d", "--data", data])).size_bytes} bytes)\n`,
  );
  const compacted = await json(["compact", "--keep", "1h", "--data", data]);
  expect(compacted).toMatchObject({ seq, forgotten_seq: expect.any(Number) });
  expect(compacted.forgotten_seq).toBeGreaterThan(13);
  expect(await done(["verify", data])).toContain(
    `replayed ${seq - compacted.forgotten_seq} events from the checkpoint at event ${compacted.forgotten_seq};`,
  );
  expect(await done(["replay", data, "--json"])).toBe(`${state}\n`);
  const early = await runStandin(["replay", data, "--until", "13"]);
  expect(early).toMatchObject({ code: 1, stdout: "" });
  expect(early.stderr).toMatch(/^standin: --until: history before event \d+ was truncated/);
  expect((await json(["compact", "--keep", "1h", "--world", "copy", "--data", data])).forgotten_seq).toBe(
    compacted.forgotten_seq,
  );
  expect(await done(["explain", endpointId, "--data", data])).toContain(
    "has been idle since 2026-01-01T00:15:13.000Z",
  );
  const running = served ? server : await startServer(data, [], { key });
  expect(await stateText(running)).toBe(state);
});

/** The journal, except for the fields that an export removes. */
async function storyOf(client: Pick<ServerClient, "sim">): Promise<unknown[]> {
  return (await journalOf(client)).map(({ api_key, ...event }) => ({
    ...event,
    api_key: api_key && { ...api_key, hash: "" },
  }));
}

test.each(SERVED)(
  "a history is exported and imported elsewhere without its secrets; with a server %s",
  async (served) => {
    const data = testDirectory();
    const { server, projectId, branchId, endpointId } = await startWithProject(data);
    const key = server.ready.api_key as string;
    const reveal = `/projects/${projectId}/branches/${branchId}/roles/neondb_owner/reveal_password`;
    const { password } = (await server.api("GET", reveal)).body;
    const [story, state] = [await storyOf(server), await stateText(server)];
    if (!served) await server.kill("SIGKILL");
    const file = join(testDirectory(), "bug-4711.sqlite");
    expect(await done(["export", data, "--out", file])).toMatch(
      new RegExp(`^wrote ${file} \\(\\d+ bytes\\)\n$`),
    );
    const bytes = readFileSync(file).toString("latin1");
    for (const secret of [key, password]) expect(bytes).not.toContain(secret);
    expect(await json(["verify", file])).toMatchObject({ ok: true });
    expect(await done(["replay", file, "--json"])).toBe(`${state}\n`);

    const elsewhere = join(testDirectory(), "bug");
    expect(await done(["import", file, "--data", elsewhere])).toBe(
      `imported world "default" into ${elsewhere} at event ${story.length}; list its keys with: standin keys list --data ${elsewhere}\n`,
    );
    const fresh = (await done(["keys", "create", "me", "--data", elsewhere])).trim();
    const imported = await startServer(elsewhere, [], { key: fresh });
    expect((await storyOf(imported)).slice(0, -1)).toEqual(story);
    expect((await imported.api("GET", "/projects", undefined, key)).status).toBe(401);
    expect((await imported.api("GET", "/projects")).body.projects).toMatchObject([
      { id: projectId, name: "shop" },
    ]);
    expect((await imported.api("GET", reveal)).status).not.toBe(200);
    expect((await imported.sim("GET", `/explain/endpoints/${endpointId}`)).body.state).toBe("active");
    await imported.sim("POST", "/clock/advance", { by: "1h" });
    expect((await imported.sim("GET", "/invariants")).body.ok).toBe(true);
  },
);

test("a second world and a snapshot are exported and imported under another name", async () => {
  const data = testDirectory();
  const { server } = await startWithProject(data);
  const key = server.ready.api_key as string;
  const world = await forkWorldOn(server, { name: "copy" });
  await createProjectOn(world, { name: "only in the copy" });
  await server.sim("POST", "/snapshots", { name: "kept" });
  const file = join(testDirectory(), "copy.sqlite");
  const { size_bytes } = await json(["export", data, "--world", "copy", "--out", file]);
  expect(size_bytes).toBe(readFileSync(file).length);
  await server.kill("SIGTERM");
  expect(await json(["import", file, "--data", data, "--world", "brought"])).toMatchObject({
    world: "brought",
    seq: expect.any(Number),
  });
  await done([
    "import",
    join(data, "snapshots/default/kept.sqlite"),
    "--data",
    data,
    "--world",
    "of-a-snapshot",
  ]);
  const restarted = await startServer(data, [], { key });
  const { worlds } = (await restarted.sim("GET", "/worlds")).body;
  expect(worlds.map(({ name }) => name)).toEqual(["brought", "copy", "default", "of-a-snapshot"]);
  // Keys of a snapshot still work; keys of an export do not.
  const snapshot = clientOfWorld(restarted, worlds[3], key);
  expect((await snapshot.api("GET", "/projects")).body.projects).toMatchObject([{ name: "shop" }]);
  const brought = clientOfWorld(restarted, worlds[0], key);
  expect((await brought.api("GET", "/projects")).status).toBe(401);
  expect((await brought.sim("GET", "/state")).body.projects.map(({ name }) => name)).toEqual([
    "shop",
    "only in the copy",
  ]);
});
