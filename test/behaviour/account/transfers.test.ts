import { expect, onTestFinished, test } from "vitest";
import type { ApiResponse, Rejection } from "../../support/answers/api-response.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { createAccount, createBranch, worldState } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";
import { createFileDouble } from "../../support/double/file-double.ts";

const document = loadPublicDocument();
const codeOf = ({ status, body }: ApiResponse<Rejection>) => [status, body.code];
const idsOf = async (double: Double, key?: string, query = "") =>
  (await double.api("GET", `/projects${query}`, undefined, key)).body.projects.map(({ id }) => id);

async function organizationOf(double: Double, key?: string): Promise<string> {
  return (await double.api("GET", "/users/me/organizations", undefined, key)).body.organizations[0].id;
}

async function requestTransfer(double: Double, projectId: string, body?: unknown): Promise<string> {
  const response = await double.api("POST", `/projects/${projectId}/transfer_requests`, body);
  expect(response.status).toBe(201);
  return `/projects/${projectId}/transfer_requests/${response.body.id}`;
}

test("a transfer request expires after a day or its ttl_seconds, at exactly that instant", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { key } = await createAccount(double);
  const { body } = await double.api("POST", `/projects/${projectId}/transfer_requests`);
  expect(body).toMatchObject({
    project_id: projectId,
    created_at: "2026-01-01T00:00:10Z",
    expires_at: "2026-01-02T00:00:10Z",
  });
  const minute = await requestTransfer(double, projectId, { ttl_seconds: 60 });
  const another = await requestTransfer(double, projectId, { ttl_seconds: 60 });
  await double.advance("60s");
  const before = await worldState(double);
  const late = await double.api("PUT", minute, undefined, key);
  expect(codeOf(late)).toEqual([404, "TRANSFER_REQUEST_NOT_FOUND"]);
  expect(late.body.message).toContain("expired");
  expect(await worldState(double)).toBe(before);
  const next = await requestTransfer(double, projectId, { ttl_seconds: 60 });
  await double.advance("59999ms");
  expect((await double.api("PUT", next, undefined, key)).status).toBe(204);
  expect(codeOf(await double.api("PUT", another, undefined, key))).toEqual([
    404,
    "TRANSFER_REQUEST_NOT_FOUND",
  ]);
  for (const ttl_seconds of [0, -1, 1.5, "60"]) {
    expect(
      (await double.api("POST", `/projects/${projectId}/transfer_requests`, { ttl_seconds }, key)).status,
    ).toBe(400);
  }
});

test("an accepted project with its content belongs to the new owner; the previous owner cannot find it", async () => {
  const stored = await createFileDouble();
  onTestFinished(stored.end);
  const double = stored.double();
  const { projectId, path } = await createProject(double, { name: "shop" });
  const { key } = await createAccount(double);
  const younger = await createProject(double, {}, key);
  const request = await requestTransfer(double, projectId);
  expect(await double.api("PUT", request, {}, key)).toMatchObject({ status: 204, body: "" });
  expect(codeOf(await double.api("GET", `/projects/${projectId}`))).toEqual([404, "PROJECT_NOT_FOUND"]);
  expect(await idsOf(double)).toEqual([]);
  // Lists are sorted oldest first, and pages list each project once.
  expect(await idsOf(double, key)).toEqual([projectId, younger.projectId]);
  const { body } = await double.api("GET", `/projects/${projectId}`, undefined, key);
  expect(body.project).toMatchObject({
    owner_id: await organizationOf(double, key),
    org_id: await organizationOf(double, key),
    name: "shop",
  });
  expect((await double.api("GET", path, undefined, key)).body.endpoint.current_state).toBe("active");
  expect((await double.api("POST", `${path}/restart`, undefined, key)).status).toBe(200);
  await double.advance("10s");
  const before = await worldState(double);
  const order = await idsOf(double, key, "?limit=1");
  await stored.reopen();
  expect(await worldState(stored.double())).toBe(before);
  expect(await idsOf(stored.double(), key, "?limit=1")).toEqual(order);
  expect((await stored.double().sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("guessing transfer requests does not reveal whether a project exists", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const other = await createProject(double);
  const { key } = await createAccount(double);
  const request = await requestTransfer(double, other.projectId);
  const requestId = request.split("/").at(-1);
  const guess = `/projects/${projectId}/transfer_requests/${requestId}`;
  const guessed = await double.api("PUT", guess, undefined, key);
  const unknown = await double.api("PUT", guess.replace(projectId, "none"), undefined, key);
  expect([guessed, unknown].map(codeOf)).toEqual([
    [404, "PROJECT_NOT_FOUND"],
    [404, "PROJECT_NOT_FOUND"],
  ]);
  expect(guessed.body.message.replace(projectId, "none")).toBe(unknown.body.message);
  // A caller who can see the project may learn that there is no such request.
  expect(codeOf(await double.api("PUT", guess))).toEqual([404, "TRANSFER_REQUEST_NOT_FOUND"]);
  expect((await double.api("PUT", request, undefined, "nobody")).status).toBe(401);
  expect(codeOf(await double.api("PUT", request))).toEqual([422, "TRANSFER_NOT_ALLOWED"]);
});

test("a request can be accepted for an organization in which the caller may create projects", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const member = await createAccount(double, { email: "member@standin.example" });
  const org = await createAccount(double, { name: "organization" });
  const orgId = await organizationOf(double, org.key);
  const request = await requestTransfer(double, projectId);
  const accept = () => double.api("PUT", request, { org_id: orgId }, member.key);
  expect(codeOf(await accept())).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
  const invitation = { invitations: [{ email: "member@standin.example", role: "viewer" }] };
  await double.api("POST", `/organizations/${orgId}/invitations`, invitation, org.key);
  expect(codeOf(await accept())).toEqual([403, "ACCESS_DENIED"]);
  const { members } = (
    await double.api("GET", `/organizations/${orgId}/members?sort_order=asc`, undefined, org.key)
  ).body;
  await double.api(
    "PATCH",
    `/organizations/${orgId}/members/${members.at(-1).member.id}`,
    { role: "member" },
    org.key,
  );
  expect((await accept()).status).toBe(204);
  expect([await idsOf(double, org.key), await idsOf(double, member.key)]).toEqual([[projectId], []]);
});

test("an account whose plan does not allow the content of the project gets 406 with all reasons", async () => {
  const double = await createDouble({ planLimits: { projects: 1 } });
  const { projectId, branchId } = await createProject(double);
  await double.api("POST", `/projects/${projectId}/endpoints`, {
    endpoint: { branch_id: branchId, type: "read_only" },
  });
  await double.advance("10s");
  const { key } = await createAccount(double, { plan: "free" });
  await createProject(double, {}, key);
  const request = await requestTransfer(double, projectId);
  const before = await worldState(double);
  const { status, body } = await double.api("PUT", request, undefined, key);
  expect(status).toBe(406);
  expect(body).toMatchObject({
    reasons: [{ code: "PROJECTS_LIMIT_EXCEEDED" }, { code: "PLAN_LIMIT_EXCEEDED" }],
  });
  expect(document.answerFaults("acceptProjectTransferRequest", status, body)).toEqual([]);
  expect(await worldState(double)).toBe(before);
});

test("a project that fits moves from a paid plan to a free one and then has its limits", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double, {
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 0.25,
  });
  const { key } = await createAccount(double, { plan: "free" });
  expect((await double.api("PUT", await requestTransfer(double, projectId), undefined, key)).status).toBe(
    204,
  );
  const larger = { endpoint: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 } };
  expect(codeOf(await double.api("PATCH", path, larger, key))).toEqual([422, "PLAN_LIMIT_EXCEEDED"]);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("a transfer ends a project's keys, VPC restrictions and transfer requests, but not its sharing", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const orgId = await organizationOf(double);
  const { body: scoped } = await double.api("POST", `/organizations/${orgId}/api_keys`, {
    key_name: "k",
    project_id: projectId,
  });
  await double.api("POST", `/organizations/${orgId}/vpc/region/aws-us-east-2/vpc_endpoints/vpce-1`, {
    label: "a",
  });
  await double.api("POST", `/projects/${projectId}/vpc_endpoints/vpce-1`, { label: "a" });
  await double.api("POST", `/projects/${projectId}/permissions`, { email: "guest@standin.example" });
  const guest = await createAccount(double, { email: "guest@standin.example" });
  const { key } = await createAccount(double);
  await double.api("PUT", await requestTransfer(double, projectId), undefined, key);
  expect((await double.api("GET", "/auth", undefined, scoped.key)).status).toBe(401);
  expect((await double.api("GET", `/projects/${projectId}/vpc_endpoints`, undefined, key)).body).toEqual({
    endpoints: [],
  });
  expect(await idsOf(double, guest.key, "/shared")).toEqual([projectId]);
  const { records } = (await double.sim("GET", "/state")).body;
  expect(records.map(({ kind }) => kind)).toEqual(["organizationVpcEndpoint", "projectPermission"]);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

/** Two accounts; the first is a member of the other's organization. */
async function createPair(double: Double, role = "member", plan = "paid") {
  const other = await createAccount(double, { plan });
  const orgId = await organizationOf(double, other.key);
  const { email } = (await double.api("GET", "/users/me")).body;
  await double.api(
    "POST",
    `/organizations/${orgId}/invitations`,
    { invitations: [{ email, role }] },
    other.key,
  );
  return { key: other.key, from: await organizationOf(double), to: orgId };
}

test.each(["organizations", "users"])(
  "an admin moves projects by /%s to an organization that he is a member of, all or none",
  async (by) => {
    const double = await createDouble();
    const one = await createProject(double);
    const two = await createProject(double);
    const { key, from, to } = await createPair(double);
    const path = by === "users" ? "/users/me/projects/transfer" : `/organizations/${from}/projects/transfer`;
    const move = (ids: string[], destination = to) =>
      double.api("POST", path, { destination_org_id: destination, project_ids: ids });
    const before = await worldState(double);
    expect(codeOf(await move([one.projectId, "none"]))).toEqual([404, "PROJECT_NOT_FOUND"]);
    expect(codeOf(await move([one.projectId], "org-none"))).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
    const refused = await move([one.projectId, two.projectId], from);
    expect([refused.status, refused.body]).toEqual([
      422,
      {
        projects: [one, two].map(({ projectId }) => ({ id: projectId, integration: "none" })),
      },
    ]);
    const operationId = by === "users" ? "transferProjectsFromUserToOrg" : "transferProjectsFromOrgToOrg";
    expect(document.answerFaults(operationId, refused.status, refused.body)).toEqual([]);
    expect((await move([])).status).toBe(400);
    expect((await move(Array.from({ length: 401 }, () => "a"))).status).toBe(400);
    expect(await worldState(double)).toBe(before);
    expect(await move([two.projectId, one.projectId, one.projectId])).toMatchObject({
      status: 200,
      body: {},
    });
    expect([await idsOf(double), await idsOf(double, key)]).toEqual([[], [one.projectId, two.projectId]]);
    expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  },
);

test("moving projects needs the admin role in the source and more than the viewer role in the destination", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const looking = await createPair(double, "viewer");
  const out = (source: string, destination: string, ids: string[]) =>
    double.api("POST", `/organizations/${source}/projects/transfer`, {
      destination_org_id: destination,
      project_ids: ids,
    });
  expect(codeOf(await out(looking.from, looking.to, [projectId]))).toEqual([403, "ACCESS_DENIED"]);
  const working = await createPair(double, "member");
  const theirs = await createProject(double, {}, working.key);
  expect(codeOf(await out(working.to, working.from, [theirs.projectId]))).toEqual([403, "ACCESS_DENIED"]);
  const ruling = await createPair(double, "admin");
  const ours = await createProject(double, {}, ruling.key);
  expect((await out(ruling.to, ruling.from, [ours.projectId])).status).toBe(200);
});

test("an organization whose limits do not allow the projects gets 406 with the limits", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double, {
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 2,
  });
  const { from, to } = await createPair(double, "member", "free");
  const { status, body } = await double.api("POST", `/organizations/${from}/projects/transfer`, {
    destination_org_id: to,
    project_ids: [projectId],
  });
  expect([status, body]).toEqual([
    406,
    { limits: [{ name: "subscription_type", expected: "launch", actual: "free_v2" }] },
  ]);
  expect(document.answerFaults("transferProjectsFromOrgToOrg", status, body)).toEqual([]);
});

test("a project moves only after its running operations have finished", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double);
  await createBranch(double, projectId);
  const { key } = await createAccount(double);
  const request = await requestTransfer(double, projectId);
  await double.api("POST", `${path}/restart`);
  expect(codeOf(await double.api("PUT", request, undefined, key))).toEqual([423, "OPERATIONS_IN_PROGRESS"]);
  await double.advance("10s");
  expect((await double.api("PUT", request, undefined, key)).status).toBe(204);
});
