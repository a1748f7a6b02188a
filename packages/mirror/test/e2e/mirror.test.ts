import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runStandin } from "../../../../test/support/process/in-process-command.ts";
import { spawnStandin } from "../../../../test/support/process/process.ts";
import { startRewritingProxy } from "../../../../test/support/server/rewriting-proxy.ts";
import {
  type RunningServer,
  type ServerClient,
  serverClient,
  startServer,
  testDirectory,
} from "../../../../test/support/server/running-server.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z"];

/**
 * An account with a project with settings, a protected child, a grandchild and a replica, and a default
 * project.
 */
async function origin(): Promise<RunningServer> {
  const server = await startServer(testDirectory(), [
    ...MANUAL,
    "--seed",
    "1",
    "--profile",
    "2026",
    "--operations",
    "immediate",
  ]);
  const api = async (method: string, path: string, body?: unknown) => {
    const response = await server.api(method, path, body);
    expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
    return response.body;
  };
  const { project, branch, endpoints } = await api("POST", "/projects", {
    project: {
      name: "shop",
      region_id: "aws-eu-central-1",
      pg_version: 16,
      history_retention_seconds: 3_600,
      settings: { enable_logical_replication: true, allowed_ips: { ips: ["192.0.2.1"] } },
      default_endpoint_settings: {
        autoscaling_limit_min_cu: 1,
        autoscaling_limit_max_cu: 2,
        suspend_timeout_seconds: 600,
      },
      branch: { name: "prod", role_name: "clerk", database_name: "orders" },
    },
  });
  const path = `/projects/${project.id}`;
  await api("PATCH", `${path}/endpoints/${endpoints[0].id}`, {
    endpoint: {
      autoscaling_limit_min_cu: 0.5,
      autoscaling_limit_max_cu: 4,
      settings: { pg_settings: { work_mem: "8MB" } },
    },
  });
  const child = await api("POST", `${path}/branches`, {
    branch: { name: "preview", protected: true },
    endpoints: [{ type: "read_write" }],
  });
  await api("POST", `${path}/branches`, { branch: { name: "deep", parent_id: child.branch.id } });
  // Changes of a parent after the branch point do not reach its children, and deletions in a child do not
  // reach its parent.
  await api("POST", `${path}/branches/${branch.id}/databases`, {
    database: { name: "later", owner_name: "clerk" },
  });
  await api("POST", `${path}/branches/${child.branch.id}/roles`, {
    role: { name: "readers", no_login: true },
  });
  await api("DELETE", `${path}/branches/${child.branch.id}/databases/orders`);
  await api("POST", `${path}/endpoints`, {
    endpoint: { branch_id: branch.id, type: "read_only", suspend_timeout_seconds: -1 },
  });
  await api("POST", "/projects", { project: { name: "mill" } });
  return server;
}

/** The contents of an account as text without ids and times, in an order that does not depend on them. */
async function inventoryOf(client: ServerClient, key?: string) {
  const get = async (path: string) => (await client.api("GET", path, undefined, key)).body;
  const { projects } = await get("/projects?limit=400");
  return Promise.all([
    ...projects.map(async ({ id }) => {
      const { project } = await get(`/projects/${id}`);
      const { branches } = await get(`/projects/${id}/branches`);
      const { endpoints } = await get(`/projects/${id}/endpoints`);
      // Only profile 2024 has it.
      const { primary_branch_only: _, ...allowedIps } = project.settings.allowed_ips as Record<
        string,
        unknown
      >;
      const nameOf = (branchId: string) => branches.find((branch) => branch.id === branchId)?.name;
      return {
        name: project.name,
        region: project.region_id,
        pgVersion: project.pg_version,
        retention: project.history_retention_seconds,
        settings: { ...project.settings, allowed_ips: allowedIps },
        defaults: project.default_endpoint_settings,
        branches: await Promise.all(
          [...branches]
            .toSorted((a, b) => a.name.localeCompare(b.name))
            .map(async (branch) => ({
              ...{
                name: branch.name,
                parent: nameOf(branch.parent_id),
                isDefault: branch.default,
                protected: branch.protected,
              },
              roles: (await get(`/projects/${id}/branches/${branch.id}/roles`)).roles.map(
                ({ name, authentication_method }) => [name, authentication_method],
              ),
              databases: (await get(`/projects/${id}/branches/${branch.id}/databases`)).databases.map(
                ({ name }) => name,
              ),
            })),
        ),
        endpoints: endpoints
          .map((one) => ({
            ...{
              branch: nameOf(one.branch_id),
              type: one.type,
              settings: one.settings,
              suspend: one.suspend_timeout_seconds,
            },
            ...{
              min: one.autoscaling_limit_min_cu,
              max: one.autoscaling_limit_max_cu,
              disabled: one.disabled,
            },
          }))
          .toSorted((a, b) => `${a.branch} ${a.type}`.localeCompare(`${b.branch} ${b.type}`)),
      };
    }),
  ]);
}

type Inventory = Awaited<ReturnType<typeof inventoryOf>>[number];

const keyOf = (server: RunningServer) => server.ready.api_key as string;

function mirror(url: string, key: string, args: readonly string[]) {
  return runStandin(["mirror", "--from", url, ...args], { STANDIN_FROM_KEY: key });
}

test("a running server gets the same inventory, also on a manual clock; the origin receives only GET requests", async () => {
  const from = await origin();
  // A request runs what is due: here the operations of the last project.
  await from.sim("GET", "/state");
  const before = (await from.sim("GET", "/health")).body.history.seq;
  const seen = await startRewritingProxy(from.ready.api_url, () => undefined);
  const data = testDirectory();
  const to = await startServer(data, [...MANUAL, "--seed", "2", "--profile", "2024"]);
  const { code, stdout, stderr } = await mirror(seen.url, keyOf(from), ["--data", data, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const all = { projects: 2, branches: 4, endpoints: 4 };
  const { found, world, left_out } = JSON.parse(stdout);
  expect({ found, made: world.made, left_out }).toEqual({ found: all, made: all, left_out: [] });
  const inventory = await inventoryOf(to);
  expect(inventory).toEqual(await inventoryOf(from));
  expect(inventory[0]).toMatchObject({
    name: "shop",
    branches: [{ name: "deep", parent: "preview" }, { name: "preview" }, { name: "prod" }],
  });
  for (const [id, made] of Object.entries(world.ids)) expect(made).not.toBe(id);
  expect(new Set(seen.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  expect((await from.sim("GET", "/health")).body.history.seq).toBe(before);
  expect((await to.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  expect((await to.sim("GET", "/api_keys")).body.api_keys).toHaveLength(1);
  for (const secret of [keyOf(from), keyOf(to)]) expect(stdout).not.toContain(secret);
});

test("the named world gets the inventory in the account of the given key; the second time, existing projects are skipped", async () => {
  const from = await origin();
  const data = testDirectory();
  const to = await startServer(data, [...MANUAL, "--operations", "immediate"]);
  await runStandin(["worlds", "create", "copy", "--data", data]);
  const base = new URL(to.ready.api_url).origin;
  const copy = serverClient({
    ...to.ready,
    api_url: `${base}/w/copy/api/v2`,
    control_url: `${base}/w/copy/_sim`,
  });
  const { api_key } = (await copy.sim("POST", "/accounts", { id: "second", name: "Second" })).body;
  const args = ["--data", data, "--world", "copy", "--key", api_key.key];
  expect((await mirror(from.ready.api_url, keyOf(from), args)).code).toBe(0);
  expect(await inventoryOf(copy, api_key.key)).toEqual(await inventoryOf(from));
  expect((await to.api("GET", "/projects")).body.projects).toEqual([]);
  const again = await mirror(from.ready.api_url, keyOf(from), args);
  expect(again.code).toBe(0);
  expect(again.stdout).toMatch(
    /^skipped project shop \(.*\): the world already has a project of this name$/m,
  );
  expect((await copy.api("GET", "/projects", undefined, api_key.key)).body.projects).toHaveLength(2);
});

test("a size and a setting that standin lacks are skipped individually and reported", async () => {
  const from = await origin();
  const changed = await startRewritingProxy(from.ready.api_url, ({ path, body }) => {
    if (/^\/projects\/[^/]+$/.test(path)) body.project.settings.audit_log_level = "loud";
    if (!/^\/projects\/[^/]+\/endpoints$/.test(path)) return;
    for (const endpoint of body.endpoints) {
      if (endpoint.type === "read_only")
        Object.assign(endpoint, { autoscaling_limit_min_cu: 12, autoscaling_limit_max_cu: 14 });
    }
  });
  const data = testDirectory();
  const to = await startServer(data, [...MANUAL, "--operations", "immediate"]);
  const { code, stdout } = await mirror(changed.url, keyOf(from), ["--data", data]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^skipped project shop \(.*\), endpoint ep-.*: 12 to 14 CU: .*12 CU is not a compute size/m,
  );
  expect(stdout).toMatch(/^skipped project mill \(.*\): settings\.audit_log_level: .*audit_log_level/m);
  const [shop] = await inventoryOf(to);
  expect(shop).toMatchObject({
    settings: { allowed_ips: { ips: ["192.0.2.1"] } },
    endpoints: [{}, { type: "read_only", suspend: -1 }, {}],
  });
});

test("a default branch that is a child, a branch without a compute and a disabled compute are copied", async () => {
  const from = await origin();
  const [shop, mill] = (await from.api("GET", "/projects")).body.projects;
  const [endpoint] = (await from.api("GET", `/projects/${mill.id}/endpoints`)).body.endpoints;
  expect((await from.api("DELETE", `/projects/${mill.id}/endpoints/${endpoint.id}`)).status).toBe(200);
  const { branches } = (await from.api("GET", `/projects/${shop.id}/branches`)).body;
  const preview = branches.find(({ name }) => name === "preview");
  expect((await from.api("POST", `/projects/${shop.id}/branches/${preview.id}/set_as_default`)).status).toBe(
    200,
  );
  const { endpoints } = (await from.api("GET", `/projects/${shop.id}/branches/${preview.id}/endpoints`)).body;
  const disabled = await from.api("PATCH", `/projects/${shop.id}/endpoints/${endpoints[0].id}`, {
    endpoint: { disabled: true },
  });
  expect(disabled.status).toBe(200);
  const data = testDirectory();
  const to = await startServer(data, MANUAL);
  const out = join(testDirectory(), "world.yaml");
  const { code, stdout } = await mirror(from.ready.api_url, keyOf(from), [
    "--data",
    data,
    "--out",
    out,
    "--json",
  ]);
  expect(code).toBe(0);
  expect(await inventoryOf(to)).toEqual(await inventoryOf(from));
  const { world, file } = JSON.parse(stdout);
  expect(world.left_out).toEqual([]);
  expect(file.left_out.map(({ what }: { what: string }) => what)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/project shop .* branch preview: default branch$/),
      expect.stringMatching(/project mill .* branch main: no primary compute$/),
    ]),
  );
  expect((await startServer(testDirectory(), [...MANUAL, "--seed-file", out])).ready.event).toBe("ready");
});

test("a schema-only branch becomes a branch without a parent; a seed file reports that it cannot hold it", async () => {
  const there = await startServer(testDirectory(), [...MANUAL, "--seed", "1", "--operations", "immediate"]);
  const { project } = (await there.api("POST", "/projects", { project: { name: "shop" } })).body;
  await there.api("POST", `/projects/${project.id}/branches`, {
    branch: { name: "bare", init_source: "schema-only" },
  });
  const data = testDirectory();
  const here = await startServer(data, [...MANUAL, "--seed", "2", "--operations", "immediate"]);
  const env = { STANDIN_FROM_KEY: there.ready.api_key as string };
  const mirrored = await runStandin(["mirror", "--from", there.ready.api_url, "--data", data], env);
  expect({ code: mirrored.code, said: mirrored.stdout.includes("skipped") }).toEqual({
    code: 0,
    said: false,
  });
  const [copy] = (await here.api("GET", "/projects")).body.projects;
  const { branches } = (
    await here.api("GET", `/projects/${copy.id}/branches?sort_by=created_at&sort_order=asc`)
  ).body;
  expect(branches.map(({ name, parent_id, init_source }) => [name, parent_id, init_source])).toEqual([
    ["main", undefined, "parent-data"],
    ["bare", undefined, "schema-only"],
  ]);
  const file = await runStandin(["mirror", "--from", there.ready.api_url, "--out", "-"], env);
  expect(file.stderr + file.stdout).toContain("branch bare: no parent: a seed file has no field for it");
});

test("an unknown region, version or size is skipped for a server and for a file; the rest is copied", async () => {
  const from = await origin();
  const strange = await startRewritingProxy(from.ready.api_url, ({ path, body }) => {
    if (/^\/projects\/[^/]+$/.test(path))
      Object.assign(body.project, { region_id: "aws-mars-1", pg_version: 99 });
    if (!/^\/projects\/[^/]+\/endpoints$/.test(path)) return;
    for (const endpoint of body.endpoints)
      Object.assign(endpoint, { autoscaling_limit_min_cu: 0.3, autoscaling_limit_max_cu: 99 });
  });
  const data = testDirectory();
  const to = await startServer(data, [...MANUAL, "--operations", "immediate"]);
  const out = join(testDirectory(), "world.yaml");
  const { code, stdout } = await mirror(strange.url, keyOf(from), ["--data", data, "--out", out, "--json"]);
  expect(code).toBe(0);
  const { world, file } = JSON.parse(stdout);
  expect(world.made).toEqual({ projects: 2, branches: 4, endpoints: 4 });
  for (const { left_out } of [world, file]) {
    const said = left_out.map(({ what }: { what: string }) => what).join("\n");
    for (const part of [
      /^project mill .*aws-mars-1$/m,
      /^project mill .* 99$/m,
      /^project mill .*endpoint ep-.*: 0\.3 to 99 CU$/m,
    ])
      expect(said).toMatch(part);
  }
  expect((await to.api("GET", "/projects")).body.projects.map(({ region_id }) => region_id)).toEqual([
    "aws-us-east-2",
    "aws-us-east-2",
  ]);
  expect((await startServer(testDirectory(), [...MANUAL, "--seed-file", out])).ready.event).toBe("ready");
});

test("a seed file retains the ids, is valid, contains no secret, and reports what it cannot hold", async () => {
  const from = await origin();
  const out = join(testDirectory(), "world.yaml");
  const { code, stdout, stderr } = await mirror(from.ready.api_url, keyOf(from), ["--out", out]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`use it with: standin serve --seed-file ${out}\n`);
  expect(stdout).toMatch(
    /^skipped project shop \(.*\): settings\.enable_logical_replication: a seed file has no field for it$/m,
  );
  for (const what of [
    "branch prod: database later",
    "branch preview: role readers",
    "branch preview: no database orders",
  ])
    expect(stdout).toMatch(new RegExp(`^skipped project shop \\(.*\\): ${what}: `, "m"));
  const text = readFileSync(out, "utf8");
  for (const secret of [keyOf(from), "password", "npg_"]) expect(text).not.toContain(secret);
  const to = await startServer(testDirectory(), [...MANUAL, "--seed-file", out]);
  const ids = async (client: ServerClient) => {
    const { projects } = (await client.api("GET", "/projects")).body;
    const inside = await Promise.all([
      ...projects.map(async ({ id }) => [
        ...(await client.api("GET", `/projects/${id}/branches`)).body.branches.map(
          (one) => `${one.id} of ${one.parent_id}`,
        ),
        ...(await client.api("GET", `/projects/${id}/endpoints`)).body.endpoints.map(
          (one) => `${one.id} on ${one.branch_id}`,
        ),
      ]),
    ]);
    return [projects.map(({ id }) => id), inside.flat().toSorted()];
  };
  const key = (
    await to.sim("POST", "/api_keys", {
      key_name: "mine",
      account_id: (await from.api("GET", "/users/me")).body.id,
    })
  ).body.key;
  expect(await ids(serverClient(to.ready, key))).toEqual(await ids(from));
  const named = ({ branches, endpoints }: Inventory) => ({
    branches: branches.map(({ roles: _, databases: __, ...branch }) => branch),
    endpoints: endpoints.map(({ settings: _, ...endpoint }) => endpoint),
  });
  expect((await inventoryOf(to, key)).map(named)).toEqual((await inventoryOf(from)).map(named));
});

test("--out - writes the file to stdout, and a dry run changes and writes nothing", async () => {
  const from = await origin();
  const shown = await mirror(from.ready.api_url, keyOf(from), ["--out", "-"]);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/^version: 1\naccounts:\n/);
  expect(shown.stderr).toMatch(/2 projects, 4 branches, 4 computes/);
  const data = testDirectory();
  const to = await startServer(data, MANUAL);
  const out = join(testDirectory(), "world.yaml");
  const dry = await mirror(from.ready.api_url, keyOf(from), ["--data", data, "--out", out, "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, stderr: "" });
  expect(dry.stdout).toContain("dry run: nothing was changed");
  expect(existsSync(out)).toBe(false);
  expect((await to.api("GET", "/projects")).body.projects).toEqual([]);
  expect((await to.sim("GET", "/api_keys")).body.api_keys).toHaveLength(1);
});

test("lists are read page by page, and 429 is retried", async () => {
  const from = await origin();
  let refusals = 0;
  const slow = await startRewritingProxy(
    from.ready.api_url,
    (passing) => {
      if (refusals === 3 || !passing.path.includes("/endpoints")) return;
      refusals += 1;
      Object.assign(passing, {
        status: 429,
        body: { code: "TOO_MANY_REQUESTS", message: "later" },
        headers: { "Retry-After": "0" },
      });
    },
    (path) => path.replace(/limit=\d+/, "limit=1"),
  );
  const { code, stdout } = await mirror(slow.url, keyOf(from), ["--dry-run", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).found).toEqual({ projects: 2, branches: 4, endpoints: 4 });
  expect(slow.requests.filter(({ path }) => /^\/projects\?.*cursor=/.test(path))).toHaveLength(2);
  expect(refusals).toBe(3);
});

test("Ctrl-C stops between two requests: code 1, no partial file, no remaining key", async () => {
  const from = await origin();
  const data = testDirectory();
  const out = join(testDirectory(), "world.yaml");
  const to = await startServer(data, MANUAL);
  let reached = () => {};
  const hanging = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const held = await startRewritingProxy(from.ready.api_url, (passing) => {
    if (!passing.path.endsWith("/endpoints")) return;
    passing.isHeld = true;
    reached();
  });
  const launched = spawnStandin(["mirror", "--from", held.url, "--data", data, "--out", out], {
    STANDIN_FROM_KEY: keyOf(from),
  });
  onTestFinished(async () => void (await launched.kill("SIGKILL")));
  await hanging;
  expect(await launched.kill("SIGINT")).toBe(130);
  expect(launched.stderr()).toBe("standin: interrupted\n");
  expect(launched.stdout()).toBe("");
  expect(existsSync(out)).toBe(false);
  expect((await to.sim("GET", "/api_keys")).body.api_keys).toHaveLength(1);
});

test("Ctrl-C while projects are created reports the progress and revokes the temporary key", async () => {
  const from = await origin();
  const data = testDirectory();
  // Its operations do not finish during the test.
  const to = await startServer(data, ["--clock", "real", "--start-delay", "1h"]);
  const launched = spawnStandin(["mirror", "--from", from.ready.api_url, "--data", data], {
    STANDIN_FROM_KEY: keyOf(from),
  });
  onTestFinished(async () => void (await launched.kill("SIGKILL")));
  while ((await to.api("GET", "/projects")).body.projects.length === 0);
  expect(await launched.kill("SIGINT")).toBe(130);
  expect(launched.stderr()).toBe(
    "standin: interrupted: 0 of 2 projects were copied; the next one is incomplete\n",
  );
  expect((await to.sim("GET", "/api_keys")).body.api_keys).toHaveLength(1);
});

test("every failure to run is reported: code 2 for the command line, else code 1", async () => {
  const from = await origin();
  const url = from.ready.api_url;
  const data = testDirectory();
  const there = join(data, "there.yaml");
  writeFileSync(there, "mine");
  const cases = [
    [await mirror("https://example.com", "key", []), 2, /must end in \/api\/v2/],
    [await mirror(url, "", []), 2, /--from-key/],
    [
      await mirror(url, keyOf(from), ["--data", data]),
      1,
      /no server is running at .*, or write a seed file with --out/,
    ],
    [
      await mirror("http://127.0.0.1:1/api/v2", "key-of-nobody", ["--dry-run"]),
      1,
      /no server answers at http/,
    ],
    [await mirror(url, "not-a-key-of-theirs", ["--dry-run"]), 1, /STANDIN_FROM_KEY/],
    [await mirror(url, keyOf(from), ["--out", join(data, "no", "world.yaml")]), 1, /cannot write the file/],
    [
      await mirror("http://127.0.0.1:1/api/v2", "key-of-nobody", ["--out", there]),
      1,
      /there\.yaml already exists; choose another file/,
    ],
  ] as const;
  for (const [{ code, stdout, stderr }, expected, message] of cases) {
    expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ {4}at |not-a-key-of-theirs/m);
  }
  expect(readFileSync(there, "utf8")).toBe("mine");
});
