import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { journalOf, startServer, testDirectory } from "../../support/server/running-server.ts";

const KEY = "known-key-of-the-shop-0123456789";
const OTHER_KEY = "known-key-of-another-0123456789";
const WORLD = `version: 1
accounts:
  - id: shop
    name: The shop
    email: shop@example.com
    keys:
      - { name: ci, key: ${KEY} }
    projects:
      - id: storefront-1
        name: storefront
        pg_version: 17
        database: orders
        role: clerk
        branches:
          - id: br-main-1
            name: main
            protected: true
            endpoints:
              - { id: ep-main-1, autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 600 }
              - { id: ep-replica-1, type: read_only }
          - id: br-preview-1
            name: preview
            endpoints: [{ id: ep-preview-1 }]
          - { id: br-deep-1, name: deep, parent: br-preview-1 }
  - id: other
    plan: free
    keys: [{ name: own, key: ${OTHER_KEY} }]
`;

function worldFile(text: string): string {
  const path = join(testDirectory(), "world.yaml");
  writeFileSync(path, text);
  return path;
}

test("a seed file creates accounts, known keys, projects, branches and computes with pinned ids, ready to use", async () => {
  const server = await startServer(testDirectory(), ["--clock", "manual", "--seed-file", worldFile(WORLD)], {
    key: KEY,
  });
  expect(server.ready).not.toHaveProperty("api_key");
  const me = (await server.api("GET", "/users/me")).body;
  expect(me).toMatchObject({ id: "shop", name: "The shop", email: "shop@example.com" });
  expect((await server.api("GET", "/projects")).body.projects).toMatchObject([
    { id: "storefront-1", name: "storefront", pg_version: 17 },
  ]);
  const { branches } = (
    await server.api("GET", "/projects/storefront-1/branches?sort_by=name&sort_order=asc")
  ).body;
  expect(
    branches.map(({ id, name, parent_id, ...branch }) => [
      id,
      name,
      parent_id,
      branch.default,
      branch.protected,
    ]),
  ).toEqual([
    ["br-deep-1", "deep", "br-preview-1", false, false],
    ["br-main-1", "main", undefined, true, true],
    ["br-preview-1", "preview", "br-main-1", false, false],
  ]);
  const { endpoints } = (await server.api("GET", "/projects/storefront-1/endpoints")).body;
  expect(
    endpoints.map(({ id, branch_id, type, current_state }) => [id, branch_id, type, current_state]),
  ).toEqual([
    ["ep-main-1", "br-main-1", "read_write", "active"],
    ["ep-replica-1", "br-main-1", "read_only", "active"],
    ["ep-preview-1", "br-preview-1", "read_write", "active"],
  ]);
  expect(endpoints[0]).toMatchObject({
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 2,
    suspend_timeout_seconds: 600,
  });
  const { roles } = (await server.api("GET", "/projects/storefront-1/branches/br-main-1/roles")).body;
  expect(roles.map(({ name }) => name)).toEqual(["clerk"]);
  const { body: restart } = await server.api("POST", "/projects/storefront-1/endpoints/ep-main-1/restart");
  expect(restart.endpoint.id).toBe("ep-main-1");
  expect((await server.api("GET", "/projects", undefined, OTHER_KEY)).body.projects).toEqual([]);
  expect((await server.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("applying a seed file again creates only what is new, and keeps what was changed", async () => {
  const data = testDirectory();
  const args = ["--clock", "manual", "--seed-file", worldFile(WORLD)];
  const first = await startServer(data, args, { key: KEY });
  await first.api("PATCH", "/projects/storefront-1", { project: { name: "renamed" } });
  const events = await journalOf(first);
  await first.kill("SIGTERM");
  const second = await startServer(data, args, { key: KEY });
  expect(await journalOf(second)).toEqual(events);
  await second.kill("SIGTERM");

  const more = WORLD.replace("  - id: other", "      - { id: storefront-2 }\n  - id: other");
  const third = await startServer(data, ["--seed-file", worldFile(more)], { key: KEY });
  const { projects } = (await third.api("GET", "/projects")).body;
  expect(projects.map(({ id, name }) => `${id} ${name}`).sort()).toEqual([
    "storefront-1 renamed",
    "storefront-2 storefront-2",
  ]);
  const added = (await journalOf(third, events.length))
    .filter(({ type }) => /Created$/.test(type))
    .map(({ type }) => type);
  expect(added).toEqual(["ProjectCreated", "BranchCreated", "ComputeCreated"]);
});

test("deleted resources are created again on the next start, with the same ids; a revoked key stays revoked", async () => {
  const data = testDirectory();
  const args = [
    "--clock",
    "manual",
    "--seed-file",
    worldFile(WORLD.replace("protected: true", "protected: false")),
  ];
  const first = await startServer(data, args, { key: KEY });
  const branches = await first.api("GET", "/projects/storefront-1/branches");
  expect((await first.api("DELETE", "/projects/storefront-1")).status).toBe(200);
  await first.sim("POST", "/clock/advance", { by: "1m" });
  await first.kill("SIGTERM");
  const second = await startServer(data, args, { key: KEY });
  const ids = ({ body }: typeof branches) => body.branches.map(({ id }) => id).sort();
  expect(ids(await second.api("GET", "/projects/storefront-1/branches"))).toEqual(ids(branches));
  expect((await second.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  await second.api("DELETE", "/api_keys/1");
  await second.kill("SIGTERM");
  const third = await startServer(data, args, { key: KEY });
  expect((await third.api("GET", "/projects")).status).toBe(401);
});

test("with a seed file without keys, the first start creates and prints a key", async () => {
  const server = await startServer(testDirectory(), [
    "--seed-file",
    worldFile("version: 1\naccounts: [{ id: shop }]\n"),
  ]);
  expect(server.ready.api_key).toMatch(/^\w{64}$/);
  expect((await server.api("GET", "/users/me")).body.id).toBe("shop");
});

test.each([
  [
    "an unknown field",
    WORLD.replace("pg_version: 17", "postgres: 17"),
    /:11:9: .*projects\.storefront\.postgres: unknown key; the known keys are id, name, /,
  ],
  [
    "a value that is not allowed",
    WORLD.replace("pg_version: 17", "pg_version: 9"),
    /:11:21: .*pg_version: .*14/,
  ],
  [
    "an id of the wrong form",
    WORLD.replace("ep-main-1", "main-1"),
    /:19:23: .*endpoints\.1\.id: must start with ep-/,
  ],
  ["a key that no header can carry", WORLD.replace(KEY, '"two words"'), /:7:26: .*keys\.ci\.key: .*spaces/],
  ["the same key twice", WORLD.replace(OTHER_KEY, KEY), /:27:30: .*keys\.own\.key: /],
  [
    "the same id twice",
    WORLD.replace("ep-preview-1", "ep-main-1"),
    /:23:31: .*endpoints\.1\.id: .*ep-main-1/,
  ],
  [
    "a parent defined later",
    WORLD.replace("name: preview", "name: preview\n            parent: br-deep-1"),
    /:23:21: .*parent: .*br-deep-1/,
  ],
  ["a missing name", WORLD.replace("            name: main\n", ""), /:15:13: .*branches\.1\.name/],
  ["invalid YAML", WORLD.replace("keys:\n", "keys: [\n"), /:\d+:\d+: /],
  ["no content", "", /:1:1: /],
])("a seed file with %s is rejected with line and column, and nothing is created", async (_, text, place) => {
  const data = join(testDirectory(), "data");
  const path = worldFile(text);
  const refused = await runStandin(["serve", "--data", data, "--port", "0", "--seed-file", path]);
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(`${path}:`);
  expect(refused.stderr).toMatch(place);
  expect(refused.stderr).not.toContain(KEY);
  expect((await runStandin(["status", "--data", data])).code).toBe(1);
});

test.each([
  ["an unknown size", WORLD.replace("max_cu: 2", "max_cu: 99"), /storefront-1.*99/],
  [
    "two primary computes on one branch",
    WORLD.replace(", type: read_only", ""),
    /ep-replica-1.*already exists/,
  ],
  ["more than the plan allows", WORLD.replace("name: The shop", "plan: free"), /storefront-1.*free plan/],
])(
  "a seed file with %s is rejected by the rules of the platform, and nothing is created",
  async (_, text, reason) => {
    const data = testDirectory();
    const refused = await runStandin([
      "serve",
      "--data",
      data,
      "--port",
      "0",
      "--seed-file",
      worldFile(text),
    ]);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(reason);
    const server = await startServer(data);
    expect(server.ready.api_key).toMatch(/^\w{64}$/);
    expect((await server.sim("GET", "/accounts")).body.accounts.map(({ name }) => name)).toEqual(["standin"]);
  },
);

test("all mistakes of a seed file are reported at once", async () => {
  const path = worldFile(
    WORLD.replace("pg_version: 17", "pg_version: 9")
      .replace("ep-main-1", "main-1")
      .replace("plan: free", "plan: gold"),
  );
  const { stderr } = await runStandin([
    "serve",
    "--data",
    testDirectory(),
    "--port",
    "0",
    "--seed-file",
    path,
  ]);
  expect([...stderr.matchAll(/world\.yaml:(\d+):\d+: /g)].map(([, line]) => line)).toEqual([
    "11",
    "19",
    "26",
  ]);
});

test("a missing seed file is named in the error", async () => {
  const path = join(testDirectory(), "none.yaml");
  const refused = await runStandin(["serve", "--data", testDirectory(), "--port", "0", "--seed-file", path]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(path);
});

test("a key of the seed file that has been revoked stays invalid, and the file is applied without it", async () => {
  const data = testDirectory();
  const args = ["--clock", "manual", "--seed-file", worldFile(WORLD)];
  const first = await startServer(data, args, { key: KEY });
  const { api_keys } = (await first.sim("GET", "/api_keys?account_id=shop")).body;
  await first.sim("DELETE", `/api_keys/${api_keys[0].id}`);
  await first.sim("POST", "/clock/advance", { by: "8d" });
  await first.kill("SIGTERM");
  const second = await startServer(data, args, { key: OTHER_KEY });
  expect((await second.api("GET", "/users/me", undefined, KEY)).status).toBe(401);
  expect((await second.api("GET", "/users/me")).body).toMatchObject({ id: "other" });
});
