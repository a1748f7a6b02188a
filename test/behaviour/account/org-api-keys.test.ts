import { expect, onTestFinished, test } from "vitest";
import type { ApiResponse, Rejection } from "../../support/answers/api-response.ts";
import { createAccount, worldState } from "../../support/double/compute.ts";
import { API_KEY, createDouble, createProject, type Double } from "../../support/double/double.ts";
import { createFileDouble } from "../../support/double/file-double.ts";

// S for the calls; D and A for what the keys may not do (see src/platform/rules/account/access.ts).

async function createKey(double: Double, project_id?: string, key = API_KEY) {
  const { organizations } = (await double.api("GET", "/users/me/organizations", undefined, key)).body;
  const orgId: string = organizations[0].id;
  const path = `/organizations/${orgId}/api_keys`;
  const { status, body } = await double.api(
    "POST",
    path,
    { key_name: "ci", ...(project_id && { project_id }) },
    key,
  );
  expect(status).toBe(200);
  return { orgId, path, id: body.id as number, secret: body.key as string, body };
}

const codeOf = ({ status, body }: ApiResponse<Rejection>) => [status, body.code];

test("the secret of an organization's key is shown once; the key works until it is revoked", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { path, id, secret, body } = await createKey(double);
  expect(body.key).toMatch(/^[A-Za-z0-9]{64}$/);
  expect(body).not.toHaveProperty("project_id");
  expect((await double.api("GET", `/projects/${projectId}`, undefined, secret)).status).toBe(200);
  const listed = await double.api("GET", path);
  expect(listed.body).toMatchObject([{ id, name: "ci", last_used_from_addr: "127.0.0.1" }]);
  expect(JSON.stringify([listed.body, (await double.sim("GET", "/state")).body])).not.toContain(secret);
  expect((await double.api("DELETE", `${path}/${id}`)).body).toMatchObject({ id, name: "ci", revoked: true });
  expect((await double.api("GET", "/projects", undefined, secret)).status).toBe(401);
  expect(codeOf(await double.api("DELETE", `${path}/${id}`))).toEqual([404, "API_KEY_NOT_FOUND"]);
  expect((await double.api("GET", path)).body).toEqual([]);
});

test("personal and organization keys are listed and revoked separately", async () => {
  const double = await createDouble();
  const { path, id } = await createKey(double);
  const [personal] = (await double.api("GET", "/api_keys")).body;
  expect((await double.api("GET", "/api_keys")).body.map((key) => key.id)).toEqual([personal.id]);
  expect(codeOf(await double.api("DELETE", `/api_keys/${id}`))).toEqual([404, "API_KEY_NOT_FOUND"]);
  expect(codeOf(await double.api("DELETE", `${path}/${personal.id}`))).toEqual([404, "API_KEY_NOT_FOUND"]);
  const { api_keys } = (await double.sim("GET", "/api_keys")).body;
  expect(api_keys.map((key) => key.id)).toEqual([personal.id, id]);
  expect((await double.sim("DELETE", `/api_keys/${id}`)).body).toMatchObject({ revoked: true });
});

test("an organization's key acts for the organization, not for a person", async () => {
  const double = await createDouble();
  const { orgId, secret } = await createKey(double);
  const as = (method: string, path: string, body?: unknown) => double.api(method, path, body, secret);
  expect((await as("GET", "/auth")).body).toEqual({ account_id: orgId, auth_method: "api_key_org" });
  expect((await double.api("GET", "/auth")).body.auth_method).toBe("api_key_user");
  expect((await as("GET", "/users/me/organizations")).body.organizations.map(({ id }) => id)).toEqual([
    orgId,
  ]);
  const made = await as("POST", "/projects", { project: {} });
  expect([made.status, made.body.project.org_id]).toEqual([201, orgId]);
  expect((await as("GET", "/projects")).body.projects).toHaveLength(1);
  await double.advance("10s");
  expect((await as("DELETE", `/projects/${made.body.project.id}`)).status).toBe(200);
  // D: only an admin with a personal key can create keys of an organization.
  expect(codeOf(await as("POST", `/organizations/${orgId}/api_keys`, { key_name: "next" }))).toEqual([
    403,
    "ACCESS_DENIED",
  ]);
  const before = await worldState(double);
  for (const [method, path, body] of [
    ["GET", "/users/me"],
    ["GET", "/api_keys"],
    ["POST", "/api_keys", { key_name: "k" }],
    ["DELETE", "/api_keys/1"],
    ["POST", "/users/me/projects/transfer", { destination_org_id: orgId, project_ids: ["a"] }],
  ] as const) {
    expect([path, ...codeOf(await as(method, path, body))]).toEqual([path, 403, "ACCESS_DENIED"]);
  }
  expect(await worldState(double)).toBe(before);
});

test("an organization's key sees neither shared projects nor other organizations of its creator", async () => {
  const double = await createDouble();
  const other = await createAccount(double, { email: "other@standin.example" });
  const theirs = await createProject(double, {}, other.key);
  const { email } = (await double.api("GET", "/users/me")).body;
  await double.api("POST", `/projects/${theirs.projectId}/permissions`, { email }, other.key);
  const { orgId } = await createKey(double, undefined, other.key);
  await double.api(
    "POST",
    `/organizations/${orgId}/invitations`,
    { invitations: [{ email, role: "admin" }] },
    other.key,
  );
  const { secret } = await createKey(double);
  for (const path of [
    `/projects/${theirs.projectId}`,
    `/organizations/${orgId}`,
    `/projects?org_id=${orgId}`,
  ]) {
    expect([path, (await double.api("GET", path)).status]).toEqual([path, 200]);
    expect([path, (await double.api("GET", path, undefined, secret)).status]).toEqual([path, 404]);
  }
  expect((await double.api("GET", "/projects/shared")).body.projects).toHaveLength(1);
  expect((await double.api("GET", "/projects/shared", undefined, secret)).body.projects).toEqual([]);
});

test("a project key gives access to its project only", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  const other = await createProject(double);
  const { orgId, secret, body } = await createKey(double, projectId);
  expect(body.project_id).toBe(projectId);
  const as = (method: string, url: string, sent?: unknown) => double.api(method, url, sent, secret);
  expect((await as("GET", "/auth")).body.auth_method).toBe("api_key_org");
  for (const query of ["", `?org_id=${orgId}`]) {
    expect((await as("GET", `/projects${query}`)).body.projects.map(({ id }) => id)).toEqual([projectId]);
  }
  expect((await as("PATCH", `/projects/${projectId}`, { project: { name: "n" } })).status).toBe(200);
  expect((await as("POST", `${path}/restart`)).status).toBe(200);
  await double.advance("10s");
  const before = await worldState(double);
  const unknown = await as("GET", "/projects/none");
  const hidden = await as("GET", `/projects/${other.projectId}`);
  expect(codeOf(hidden)).toEqual([404, "PROJECT_NOT_FOUND"]);
  expect(hidden.body.message.replace(other.projectId, "none")).toBe(unknown.body.message);
  for (const [method, url, sent] of [
    ["DELETE", `/projects/${projectId}`],
    ["POST", "/projects", { project: {} }],
    ["POST", "/projects", { project: { org_id: orgId } }],
    ["POST", `/projects/${projectId}/permissions`, { email: "x@y.example" }],
    ["POST", `/projects/${projectId}/transfer_requests`, {}],
    ["GET", `/organizations/${orgId}`],
    ["GET", `/organizations/${orgId}/members`],
    ["POST", `/organizations/${orgId}/api_keys`, { key_name: "k" }],
    ["GET", "/users/me"],
    ["GET", "/api_keys"],
  ] as const) {
    expect([url, ...codeOf(await as(method, url, sent))]).toEqual([url, 403, "ACCESS_DENIED"]);
  }
  expect((await as("GET", "/organizations/org-none")).status).toBe(404);
  expect(await worldState(double)).toBe(before);
});

test("only an admin can create a project key, and only for a project of the organization", async () => {
  const double = await createDouble();
  const other = await createAccount(double);
  const theirs = await createProject(double, {}, other.key);
  const { path } = await createKey(double);
  const before = await worldState(double);
  for (const project_id of [theirs.projectId, "none"]) {
    expect(codeOf(await double.api("POST", path, { key_name: "k", project_id }))).toEqual([
      404,
      "PROJECT_NOT_FOUND",
    ]);
  }
  for (const [method, url, body] of [
    ["GET", path],
    ["POST", path, { key_name: "k" }],
    ["DELETE", `${path}/1`],
  ] as const) {
    expect(codeOf(await double.api(method, url, body, other.key))).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
    expect((await double.api(method, url, body, "nobody")).status).toBe(401);
  }
  for (const key_name of ["", undefined, "x".repeat(65)])
    expect((await double.api("POST", path, { key_name })).status).toBe(400);
  expect(await worldState(double)).toBe(before);
});

test("an organization's key stays valid when its creator leaves", async () => {
  const double = await createDouble();
  const { orgId, path } = await createKey(double);
  const admin = await createAccount(double, { email: "admin@standin.example" });
  await double.api("POST", `/organizations/${orgId}/invitations`, {
    invitations: [{ email: "admin@standin.example", role: "admin" }],
  });
  const { body } = await double.api("POST", path, { key_name: "theirs" }, admin.key);
  expect(body.created_by).toBe(admin.accountId);
  const { members } = (await double.api("GET", `/organizations/${orgId}/members?sort_order=asc`)).body;
  await double.api("DELETE", `/organizations/${orgId}/members/${members.at(-1).member.id}`);
  expect((await double.api("GET", path, undefined, admin.key)).status).toBe(404);
  expect((await double.api("GET", `/organizations/${orgId}`, undefined, body.key)).status).toBe(200);
});

test("purging a project or resetting the world revokes the project's keys", async () => {
  const stored = await createFileDouble();
  onTestFinished(stored.end);
  const { projectId } = await createProject(stored.double());
  const scoped = await createKey(stored.double(), projectId);
  const whole = await createKey(stored.double());
  await stored.double().api("DELETE", `/projects/${projectId}`);
  await stored.double().advance("10s");
  expect(
    (await stored.double().api("GET", `/projects/${projectId}`, undefined, scoped.secret)).status,
  ).toBeGreaterThanOrEqual(401);
  await stored.double().advance("30d");
  const auth = async (secret: string) =>
    (await stored.double().api("GET", "/auth", undefined, secret)).status;
  expect([await auth(scoped.secret), await auth(whole.secret)]).toEqual([401, 200]);
  const again = await createProject(stored.double());
  const next = await createKey(stored.double(), again.projectId);
  await stored.double().sim("POST", "/reset");
  expect([await auth(next.secret), await auth(whole.secret)]).toEqual([401, 200]);
  expect((await stored.double().sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  const before = await worldState(stored.double());
  await stored.reopen();
  expect(await worldState(stored.double())).toBe(before);
  expect([await auth(next.secret), await auth(whole.secret)]).toEqual([401, 200]);
});
