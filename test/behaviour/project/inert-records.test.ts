import { expect, onTestFinished, test } from "vitest";
import type { ApiResponse, Rejection } from "../../support/answers/api-response.ts";
import { createAccount, createBranch, worldState } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";
import { createFileDouble } from "../../support/double/file-double.ts";
import { createStorageDouble } from "../../support/double/storage-double.ts";

const URL = "https://issuer.example/jwks.json";
const REGION = "aws-us-east-2";
const codeOf = ({ status, body }: ApiResponse<Rejection>) => [status, body.code];

async function organizationOf(double: Double, key?: string): Promise<string> {
  return (await double.api("GET", "/users/me/organizations", undefined, key)).body.organizations[0].id;
}

test("a JWKS is added for the default roles, listed, and deleted once", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const path = `/projects/${projectId}/jwks`;
  const { status, body } = await double.api("POST", path, { jwks_url: URL, provider_name: "issuer" });
  expect([status, body.operations]).toEqual([201, []]);
  expect(body.jwks).toMatchObject({
    project_id: projectId,
    jwks_url: URL,
    role_names: ["authenticator", "authenticated", "anonymous"],
  });
  expect(body.jwks).not.toHaveProperty("branch_id");
  expect((await double.api("GET", path)).body).toEqual({ jwks: [body.jwks] });
  expect((await double.api("DELETE", `${path}/${body.jwks.id}`)).body).toEqual(body.jwks);
  expect(codeOf(await double.api("DELETE", `${path}/${body.jwks.id}`))).toEqual([404, "JWKS_NOT_FOUND"]);
  expect((await double.api("GET", path)).body).toEqual({ jwks: [] });
});

test.each([
  [{ jwks_url: "http://issuer.example/jwks" }, "jwks_url"],
  [{ jwks_url: "issuer" }, "jwks_url"],
  [{ provider_name: undefined }, "provider_name"],
  [{ role_names: Array.from({ length: 11 }, (_, index) => `role${index}`) }, "role_names"],
  [{ branch_id: "Not_An_Id" }, "branch_id"],
])("a JWKS with %j is rejected with 400 and an error that names it", async (wrong, field) => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const response = await double.api("POST", `/projects/${projectId}/jwks`, {
    jwks_url: URL,
    provider_name: "issuer",
    ...wrong,
  });
  expect([response.status, response.body.message.startsWith(`${field}:`)]).toEqual([400, true]);
});

test("a JWKS names roles that are there, where their creation is to be skipped, and none that are reserved", async () => {
  const double = await createDouble();
  const { projectId, branchId } = await createProject(double);
  const add = (fields: object) =>
    double.api("POST", `/projects/${projectId}/jwks`, { jwks_url: URL, provider_name: "issuer", ...fields });
  const skipping = { skip_role_creation: true };
  const unknown = await add({ role_names: ["neondb_owner", "nobody"], ...skipping });
  expect([codeOf(unknown), unknown.body.message]).toEqual([
    [404, "ROLE_NOT_FOUND"],
    'role_names.1: role "nobody" not found',
  ]);
  expect(
    (await add({ role_names: ["neondb_owner"], branch_id: branchId, ...skipping })).body.jwks.role_names,
  ).toEqual(["neondb_owner"]);
  expect((await add({ role_names: ["nobody"] })).status).toBe(201);
  expect(codeOf(await add({ role_names: ["pg_monitor"] }))).toEqual([422, "ROLE_NAME_NOT_ALLOWED"]);
  expect((await double.api("GET", `/projects/${projectId}/jwks`)).body.jwks).toHaveLength(2);
});

test("deleting a branch deletes its JWKS, but not a JWKS for all branches", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { branchId } = await createBranch(double, projectId);
  const path = `/projects/${projectId}/jwks`;
  for (const branch_id of [undefined, branchId])
    await double.api("POST", path, { jwks_url: URL, provider_name: "issuer", branch_id });
  await double.api("DELETE", `/projects/${projectId}/branches/${branchId}`);
  await double.advance("30d");
  expect((await double.api("GET", path)).body.jwks.map((jwks) => jwks.branch_id)).toEqual([undefined]);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("preload libraries depend on the project's version of Postgres", async () => {
  const double = await createDouble();
  const namesOf = async (pg_version: number) => {
    const { projectId } = await createProject(double, { pg_version });
    const { body } = await double.api("GET", `/projects/${projectId}/available_preload_libraries`);
    return body.libraries.map((library) => library.library_name);
  };
  expect(await namesOf(17)).toContain("pg_search");
  expect(await namesOf(16)).not.toContain("pg_search");
});

test("a project or compute can preload only libraries of the project's version of Postgres", async () => {
  const double = await createDouble();
  const { projectId, branchId, path } = await createProject(double, { pg_version: 16 });
  const enabling = (...enabled_libraries: string[]) => ({
    settings: { preload_libraries: { enabled_libraries } },
  });
  const before = await worldState(double);
  const refused = [
    await double.api("POST", "/projects", { project: enabling("no_such_library") }),
    await double.api("POST", "/projects", { project: { pg_version: 16, ...enabling("pg_search") } }),
    await double.api("PATCH", `/projects/${projectId}`, { project: enabling("pg_cron", "pg_search") }),
    await double.api("PATCH", path, { endpoint: enabling("pg_search") }),
    await double.api("POST", `/projects/${projectId}/endpoints`, {
      endpoint: { branch_id: branchId, type: "read_only", ...enabling("pg_search") },
    }),
    await double.api("POST", `/projects/${projectId}/branches`, {
      branch: {},
      endpoints: [{ type: "read_write", ...enabling("pg_search") }],
    }),
  ];
  for (const response of refused) expect(codeOf(response)).toEqual([422, "PRELOAD_LIBRARY_NOT_AVAILABLE"]);
  expect(refused[2]?.body.message).toMatch(
    /^settings\.preload_libraries\.enabled_libraries: "pg_search" .*Postgres 16; available are .*pg_cron/,
  );
  expect(await worldState(double)).toBe(before);
  const { body } = await double.api("PATCH", `/projects/${projectId}`, {
    project: enabling("pg_cron", "anon"),
  });
  expect(body.project.settings.preload_libraries).toEqual({ enabled_libraries: ["pg_cron", "anon"] });
  expect((await double.api("PATCH", path, { endpoint: enabling("pg_cron") })).status).toBe(200);
  expect(
    (await double.api("POST", "/projects", { project: { pg_version: 17, ...enabling("pg_search") } })).status,
  ).toBe(201);
});

test("a project is shared with an email address, ignoring case and before the account exists, until it is revoked", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const path = `/projects/${projectId}/permissions`;
  const { status, body } = await double.api("POST", path, { email: "Guest@standin.example" });
  expect([status, body.granted_to_email]).toEqual([200, "Guest@standin.example"]);
  const { key } = await createAccount(double, { email: "guest@standin.example" });
  const shared = async () =>
    (await double.api("GET", "/projects/shared", undefined, key)).body.projects.map(({ id }) => id);
  const own = async () => (await double.api("GET", "/projects", undefined, key)).body.projects;
  expect([await shared(), await own()]).toEqual([[projectId], []]);
  expect((await double.api("PATCH", `/projects/${projectId}`, { project: { name: "n" } }, key)).status).toBe(
    200,
  );
  const before = await worldState(double);
  for (const [method, url, sent] of [
    ["DELETE", `/projects/${projectId}`],
    ["POST", path, { email: "x@y.example" }],
    ["DELETE", `${path}/${body.id}`],
  ] as const) {
    expect(codeOf(await double.api(method, url, sent, key))).toEqual([403, "ACCESS_DENIED"]);
  }
  const orgId = await organizationOf(double);
  expect((await double.api("GET", `/organizations/${orgId}`, undefined, key)).status).toBe(404);
  expect((await double.api("GET", `/projects?org_id=${orgId}`, undefined, key)).status).toBe(404);
  for (const email of ["GUEST@standin.example", (await double.api("GET", "/users/me")).body.email]) {
    expect(codeOf(await double.api("POST", path, { email }))).toEqual([409, "PERMISSION_EXISTS"]);
  }
  expect((await double.api("POST", path, { email: "nobody" })).status).toBe(400);
  expect(await worldState(double)).toBe(before);
  expect((await double.api("DELETE", `${path}/${body.id}`)).body).toMatchObject({
    id: body.id,
    revoked_at: "2026-01-01T00:00:10Z",
  });
  expect([
    await shared(),
    (await double.api("GET", `/projects/${projectId}`, undefined, key)).status,
  ]).toEqual([[], 404]);
  expect((await double.api("GET", path)).body).toEqual({ project_permissions: [] });
});

test("shared projects are listed in pages, oldest first, without deleted ones", async () => {
  const double = await createDouble();
  const ids: string[] = [];
  for (let number = 0; number < 3; number += 1) {
    const { projectId } = await createProject(double);
    ids.push(projectId);
    await double.api("POST", `/projects/${projectId}/permissions`, { email: "guest@standin.example" });
  }
  const { key } = await createAccount(double, { email: "guest@standin.example" });
  const page = async (query: string) =>
    (await double.api("GET", `/projects/shared?limit=2${query}`, undefined, key)).body;
  const first = await page("");
  const second = await page(`&cursor=${first.pagination.cursor}`);
  expect([...first.projects, ...second.projects].map(({ id }) => id)).toEqual(ids);
  await double.api("DELETE", `/projects/${ids[0]}`);
  expect((await page("")).projects.map(({ id }) => id)).toEqual(ids.slice(1));
});

test("a project can be restricted only to a VPC endpoint of its organization; removing the endpoint ends it", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const orgId = await organizationOf(double);
  const ofProject = `/projects/${projectId}/vpc_endpoints`;
  const ofRegion = `/organizations/${orgId}/vpc/region/${REGION}/vpc_endpoints`;
  expect(codeOf(await double.api("POST", `${ofProject}/vpce-1`, { label: "a" }))).toEqual([
    422,
    "VPC_ENDPOINT_NOT_ALLOWED",
  ]);
  for (const label of ["a", "b"]) {
    expect(await double.api("POST", `${ofRegion}/vpce-1`, { label })).toMatchObject({
      status: 200,
      body: "",
    });
    expect((await double.api("POST", `${ofProject}/vpce-1`, { label })).status).toBe(200);
  }
  expect((await double.api("GET", ofProject)).body).toEqual({
    endpoints: [{ vpc_endpoint_id: "vpce-1", label: "b" }],
  });
  expect((await double.api("GET", `/organizations/${orgId}/vpc/vpc_endpoints`)).body).toEqual({
    endpoints: [{ vpc_endpoint_id: "vpce-1", label: "b", region_id: REGION }],
  });
  expect((await double.api("GET", `${ofRegion}/vpce-1`)).body).toEqual({
    ...{ vpc_endpoint_id: "vpce-1", label: "b", state: "accepted" },
    ...{ num_restricted_projects: 1, example_restricted_projects: [projectId] },
  });
  expect((await double.api("DELETE", `${ofRegion}/vpce-1`)).status).toBe(200);
  expect((await double.api("GET", ofProject)).body).toEqual({ endpoints: [] });
  expect((await double.api("GET", ofRegion)).body).toEqual({ endpoints: [] });
  expect(codeOf(await double.api("DELETE", `${ofRegion}/vpce-1`))).toEqual([404, "VPC_ENDPOINT_NOT_FOUND"]);
  expect(codeOf(await double.api("DELETE", `${ofProject}/vpce-1`))).toEqual([404, "VPC_ENDPOINT_NOT_FOUND"]);
  expect(codeOf(await double.api("POST", `${ofRegion}/vpce-1`, { label: "again" }))).toEqual([
    422,
    "VPC_ENDPOINT_NOT_ALLOWED",
  ]);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("a VPC endpoint needs a known region, not on Azure, and a label", async () => {
  const double = await createDouble();
  const orgId = await organizationOf(double);
  const assign = (region: string, body: unknown = { label: "a" }) =>
    double.api("POST", `/organizations/${orgId}/vpc/region/${region}/vpc_endpoints/vpce-1`, body);
  expect(codeOf(await assign("aws-nowhere-1"))).toEqual([404, "REGION_NOT_FOUND"]);
  expect(codeOf(await assign("azure-eastus2"))).toEqual([422, "REGION_NOT_SUPPORTED"]);
  expect((await assign(REGION, {})).status).toBe(400);
  expect((await assign(REGION, { label: 7 })).status).toBe(400);
});

test("removing a VPC endpoint also removes the restrictions of deleted projects", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const ofRegion = `/organizations/${await organizationOf(double)}/vpc/region/${REGION}/vpc_endpoints/vpce-1`;
  await double.api("POST", ofRegion, { label: "a" });
  await double.api("POST", `/projects/${projectId}/vpc_endpoints/vpce-1`, { label: "a" });
  await double.api("DELETE", `/projects/${projectId}`);
  await double.advance("10s");
  await double.api("DELETE", ofRegion);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true, violations: [] });
});

test("settings records survive a restart, follow from the history, and are deleted with their project", async () => {
  const stored = await createFileDouble();
  onTestFinished(stored.end);
  const { projectId } = await createProject(stored.double());
  const orgId = await organizationOf(stored.double());
  const post = (path: string, body: unknown) => stored.double().api("POST", path, body);
  await post(`/projects/${projectId}/jwks`, { jwks_url: URL, provider_name: "issuer" });
  await post(`/projects/${projectId}/permissions`, { email: "x@y.example" });
  await post(`/organizations/${orgId}/vpc/region/${REGION}/vpc_endpoints/vpce-1`, { label: "a" });
  await post(`/projects/${projectId}/vpc_endpoints/vpce-1`, { label: "a" });
  await post(`/projects/${projectId}/transfer_requests`, { ttl_seconds: 60 });
  const before = await worldState(stored.double());
  expect(JSON.parse(before).records.map(({ kind }: { kind: string }) => kind)).toEqual([
    "jwks",
    "projectPermission",
    "organizationVpcEndpoint",
    "projectVpcEndpoint",
    "transferRequest",
  ]);
  await stored.reopen();
  expect(await worldState(stored.double())).toBe(before);
  await stored.double().api("DELETE", `/projects/${projectId}`);
  await stored.double().advance("30d");
  const after = await worldState(stored.double());
  expect(JSON.parse(after).records.map(({ kind }: { kind: string }) => kind)).toEqual([
    "organizationVpcEndpoint",
  ]);
  await stored.reopen();
  expect(await worldState(stored.double())).toBe(after);
  expect((await stored.double().sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("the same seed gives the same ids, whatever else was drawn before", async () => {
  const idOf = async (before: (double: Double, projectId: string) => Promise<unknown>) => {
    const double = await createDouble({ seed: 7 });
    const { projectId } = await createProject(double);
    await before(double, projectId);
    return (await double.api("POST", `/projects/${projectId}/jwks`, { jwks_url: URL, provider_name: "a" }))
      .body.jwks.id;
  };
  expect(await idOf(async () => undefined)).toBe(
    await idOf((double, projectId) => createBranch(double, projectId)),
  );
});

/** Causes every event of settings records and transfers. */
async function liveThrough(double: Double): Promise<void> {
  const { projectId } = await createProject(double);
  const kept = await createProject(double);
  const orgId = await organizationOf(double);
  const { key } = await createAccount(double, { email: "guest@standin.example" });
  const send = async (method: string, path: string, body?: unknown, as?: string) => {
    const response = await double.api(method, path, body, as);
    expect(response.status).toBeLessThan(300);
    return response.body;
  };
  const ofRegion = `/organizations/${orgId}/vpc/region/${REGION}/vpc_endpoints/vpce-1`;
  for (const label of ["a", "b"]) await send("POST", ofRegion, { label });
  await send("POST", `/projects/${projectId}/vpc_endpoints/vpce-1`, { label: "a" });
  await send("POST", `/projects/${kept.projectId}/jwks`, { jwks_url: URL, provider_name: "issuer" });
  await send("POST", `/organizations/${orgId}/invitations`, {
    invitations: [{ email: "guest@standin.example", role: "viewer" }],
  });
  const { members } = await send("GET", `/organizations/${orgId}/members?sort_order=asc`);
  await send("PATCH", `/organizations/${orgId}/members/${members[1].member.id}`, { role: "editor" });
  for (const project_id of [undefined, projectId, kept.projectId]) {
    await send("POST", `/organizations/${orgId}/api_keys`, { key_name: "k", project_id });
  }
  const request = await send("POST", `/projects/${projectId}/transfer_requests`);
  await send("PUT", `/projects/${projectId}/transfer_requests/${request.id}`, undefined, key);
  await send("DELETE", `/projects/${kept.projectId}`);
  await double.advance("30d");
  await double.sim("POST", "/reset");
  const next = await createProject(double);
  await send("POST", `/projects/${next.projectId}/jwks`, { jwks_url: URL, provider_name: "issuer" });
}

test.each(["in memory", "in files"] as const)(
  "history folds to the same records, projects and keys, %s",
  async (kind) => {
    const shelved = await createStorageDouble(kind);
    onTestFinished(shelved.end);
    await liveThrough(shelved.double());
    const reported = await worldState(shelved.double());
    const { seq } = JSON.parse(reported);
    expect(
      (await shelved.double().sim("POST", "/worlds", { name: "fork", from: "default" })).status,
    ).toBeLessThan(300);
    const fork = JSON.parse(await worldState(shelved.world("fork")));
    expect(fork.records).toEqual(JSON.parse(reported).records);
    expect([fork.projects, fork.api_keys, fork.seq]).toEqual([
      JSON.parse(reported).projects,
      JSON.parse(reported).api_keys,
      seq,
    ]);
    if (kind === "in memory") return;
    await shelved.reopen();
    expect(await worldState(shelved.double())).toBe(reported);
    expect(await shelved.verify("default")).toMatchObject([{ ok: true, differences: [] }]);
  },
);

test("replaying the history gives the same world", async () => {
  const one = await createDouble();
  await liveThrough(one);
  const other = await createDouble();
  await liveThrough(other);
  expect(await worldState(other)).toBe(await worldState(one));
});
