import { expect, test } from "vitest";
import { createAccount, createBranch, worldState } from "../../support/double/compute.ts";
import { API_KEY, createDouble, createProject } from "../../support/double/double.ts";

async function createTwo() {
  const double = await createDouble();
  const mine = await createProject(double);
  const branch = await createBranch(double, mine.projectId, [{ type: "read_only" }]);
  const other = await createAccount(double, { name: "other", email: "other@standin.example" });
  return { double, ...mine, childId: branch.branchId, other };
}

test("another account cannot see any resource of the first one: each call gets 404 and changes nothing", async () => {
  const { double, projectId, branchId, childId, endpointId, path, created, other } = await createTwo();
  const before = await worldState(double);
  const project = `/projects/${projectId}`;
  const calls: readonly (readonly [string, string, unknown?])[] = [
    ["GET", project],
    ["PATCH", project, { project: { name: "taken over" } }],
    ["DELETE", project],
    ["GET", `${project}/endpoints`],
    ["POST", `${project}/endpoints`, { endpoint: { branch_id: branchId, type: "read_only" } }],
    ["GET", path],
    ["PATCH", path, { endpoint: { name: "taken over" } }],
    ["DELETE", path],
    ["POST", `${path}/start`],
    ["POST", `${path}/suspend`],
    ["POST", `${path}/restart`],
    ["GET", `${project}/branches`],
    ["POST", `${project}/branches`, {}],
    ["GET", `${project}/branches/count`],
    ["GET", `${project}/branches/${branchId}`],
    ["PATCH", `${project}/branches/${branchId}`, { branch: { name: "taken over" } }],
    ["DELETE", `${project}/branches/${childId}`],
    ["POST", `${project}/branches/${childId}/set_as_default`],
    ["GET", `${project}/branches/${branchId}/endpoints`],
    ["GET", `${project}/branches/${branchId}/roles`],
    ["GET", `${project}/branches/${branchId}/databases`],
    ["GET", `${project}/operations`],
    ["GET", `${project}/operations/${created.operations[0].id}`],
    ["GET", `${project}/connection_uri?database_name=neondb&role_name=neondb_owner`],
  ];
  for (const [method, call, body] of calls) {
    const response = await double.api(method, call, body, other.key);
    expect([method, call, response.status, response.body.code]).toEqual([
      method,
      call,
      404,
      "PROJECT_NOT_FOUND",
    ]);
  }
  expect(await worldState(double)).toBe(before);
  expect((await double.api("GET", "/projects", undefined, other.key)).body.projects).toEqual([]);
  expect(endpointId).toBeDefined();
});

test("a resource of another account and one that never existed get the same answer", async () => {
  const { double, projectId, other } = await createTwo();
  const foreign = await double.api("GET", `/projects/${projectId}`, undefined, other.key);
  const unknown = await double.api("GET", "/projects/never-there", undefined, other.key);
  expect(foreign.status).toBe(unknown.status);
  expect(foreign.body.message.replace(projectId, "never-there")).toBe(unknown.body.message);
});

test("a branch, an endpoint and an operation of another account are not found through an own project", async () => {
  const { double, branchId, endpointId, created, other } = await createTwo();
  const own = await createProject(double, {}, other.key);
  for (const path of [
    `branches/${branchId}`,
    `endpoints/${endpointId}`,
    `operations/${created.operations[0].id}`,
  ]) {
    expect((await double.api("GET", `/projects/${own.projectId}/${path}`, undefined, other.key)).status).toBe(
      404,
    );
  }
});

test("running operations of one account do not lock another account", async () => {
  const { double, path, other } = await createTwo();
  const own = await createProject(double, {}, other.key);
  await double.api("POST", `${path}/restart`);
  expect((await double.api("POST", `${own.path}/restart`, undefined, other.key)).status).toBe(200);
});

test("an account shows its user and the limits of its plan", async () => {
  const { double, other } = await createTwo();
  const { status, body } = await double.api("GET", "/users/me", undefined, other.key);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: other.accountId,
    name: "other",
    email: "other@standin.example",
    plan: "launch",
    branches_limit: 5_000,
    max_autoscaling_limit: 10,
  });
  const free = await createAccount(double, { plan: "free" });
  expect((await double.api("GET", "/users/me", undefined, free.key)).body).toMatchObject({
    plan: "free_v2",
    projects_limit: 100,
    branches_limit: 10,
    max_autoscaling_limit: 0.25,
  });
});

test.each([
  ["2024", "launch", "free_v2"],
  ["2026", "launch_v3", "free_v3"],
] as const)("plans have their names of profile %s", async (profile, paid, free) => {
  const double = await createDouble({ profile });
  for (const [plan, name] of [
    ["paid", paid],
    ["free", free],
  ] as const) {
    const { key, accountId } = await createAccount(double, { plan });
    const { body: me } = await double.api("GET", "/users/me", undefined, key);
    expect(me).toMatchObject({
      plan: name,
      billing_account: { subscription_type: name, email: me.email, quota_reset_at_last: expect.any(String) },
      auth_accounts: [{ email: me.email, login: me.email, provider: "keycloak" }],
    });
    expect(me.id).toBe(accountId);
  }
});

test("only the answer to a request for one project has its owner", async () => {
  const double = await createDouble();
  const created = await double.api("POST", "/projects", { project: { name: "shop" } });
  const path = `/projects/${created.body.project.id}`;
  const read = await double.api("GET", path);
  expect(read.body.project.owner).toMatchObject({ branches_limit: 5_000, subscription_type: "launch" });
  const others = [
    created.body.project,
    (await double.api("GET", "/projects")).body.projects[0],
    (await double.api("PATCH", path, { project: { name: "shop-2" } })).body.project,
    (await double.api("DELETE", path)).body.project,
  ];
  for (const project of others) {
    expect(project.owner_id).toBe(read.body.project.owner_id);
    expect(project).not.toHaveProperty("owner");
  }
});

test("an account has one organization and does not see others", async () => {
  const { double, other } = await createTwo();
  const organizationOf = async (key: string) =>
    (await double.api("GET", "/users/me/organizations", undefined, key)).body.organizations;
  const [mine] = await organizationOf(API_KEY);
  const [theirs] = await organizationOf(other.key);
  expect(await organizationOf(API_KEY)).toHaveLength(1);
  expect(mine.id).not.toBe(theirs.id);
  expect((await double.api("GET", `/organizations/${mine.id}`)).body).toEqual(mine);
  const foreign = await double.api("GET", `/organizations/${theirs.id}`);
  expect([foreign.status, foreign.body.code]).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
  expect((await double.api("GET", `/projects?org_id=${theirs.id}`)).status).toBe(404);
  expect((await double.api("GET", `/projects?org_id=${mine.id}`)).body.projects).toHaveLength(1);
});

test("GET /auth names the account of the key", async () => {
  const { double, other } = await createTwo();
  expect((await double.api("GET", "/auth", undefined, other.key)).body).toMatchObject({
    account_id: other.accountId,
  });
});

test("the control API creates accounts with a plan, an id, and a given or generated key", async () => {
  const double = await createDouble();
  const given = "given-".padEnd(64, "g");
  const { status, body } = await double.sim("POST", "/accounts", {
    id: "acme",
    name: "Acme",
    plan: "free",
    key_name: "ops",
    api_key: given,
  });
  expect(status).toBe(201);
  expect(body.account).toMatchObject({
    id: "acme",
    name: "Acme",
    plan: "free",
    created_at: "2026-01-01T00:00:00.000Z",
  });
  expect(body.api_key).toMatchObject({ key: given, name: "ops", account_id: "acme" });
  expect((await double.api("GET", "/users/me", undefined, given)).body.id).toBe("acme");
  const again = await double.sim("POST", "/accounts", { id: "acme", name: "Acme" });
  expect([again.status, again.body.code]).toEqual([409, "ID_EXISTS"]);
  const reused = await double.sim("POST", "/accounts", { name: "Another", api_key: given });
  expect([reused.status, reused.body.code]).toEqual([409, "API_KEY_EXISTS"]);
  expect((await double.sim("GET", "/accounts")).body.accounts).toHaveLength(2);
});

test.each([
  [{}, "name"],
  [{ name: "" }, "name"],
  [{ name: "a", plan: "enterprise" }, "plan"],
  [{ name: "a", email: "nobody" }, "email"],
  [{ name: "a", api_key: "two words" }, "api_key"],
  [{ name: "a", api_key: "with space".padEnd(64, "s") }, "api_key"],
])("an account with %j is rejected with an error that names %s", async (account, field) => {
  const double = await createDouble();
  const { status, body } = await double.sim("POST", "/accounts", account);
  expect([status, body.message]).toEqual([400, expect.stringContaining(field)]);
  expect((await double.sim("GET", "/accounts")).body.accounts).toHaveLength(1);
});

test("the control API creates, lists and revokes the keys of an account", async () => {
  const double = await createDouble();
  const other = await createAccount(double);
  const made = (await double.sim("POST", "/api_keys", { key_name: "second", account_id: other.accountId }))
    .body;
  expect((await double.api("GET", "/projects", undefined, made.key)).status).toBe(200);
  const listed = (await double.sim("GET", `/api_keys?account_id=${other.accountId}`)).body.api_keys;
  expect(listed.map((key) => key.id)).toEqual([other.keyId, made.id]);
  expect((await double.sim("DELETE", `/api_keys/${made.id}`)).body).toMatchObject({
    id: made.id,
    revoked: true,
  });
  expect((await double.api("GET", "/projects", undefined, made.key)).status).toBe(401);
  expect((await double.sim("DELETE", `/api_keys/${made.id}`)).status).toBe(404);
  expect((await double.sim("POST", "/api_keys", { key_name: "x", account_id: "nobody" })).status).toBe(404);
});
