import { expect, onTestFinished, test } from "vitest";
import type { ApiResponse, Rejection } from "../../support/answers/api-response.ts";
import { createAccount, worldState } from "../../support/double/compute.ts";
import { API_KEY, createDouble, createProject, type Double } from "../../support/double/double.ts";
import { createFileDouble } from "../../support/double/file-double.ts";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";

async function organizationOf(double: Double, key = API_KEY): Promise<string> {
  return (await double.api("GET", "/users/me/organizations", undefined, key)).body.organizations[0].id;
}

/** Another account, which is a member of the first one's organization. */
async function createMember(double: Double, role: string, email = `${role}@standin.example`) {
  const orgId = await organizationOf(double);
  const account = await createAccount(double, { name: role, email });
  const { status } = await double.api("POST", `/organizations/${orgId}/invitations`, {
    invitations: [{ email, role }],
  });
  expect(status).toBe(200);
  const { members } = (await double.api("GET", `/organizations/${orgId}/members?sort_order=asc`)).body;
  return {
    ...account,
    orgId,
    memberId: members.at(-1).member.id as string,
    path: `/organizations/${orgId}/members/${members.at(-1).member.id}`,
  };
}

const codeOf = ({ status, body }: ApiResponse<Rejection>) => [status, body.code];

test("an account is the first member and an admin of its organization", async () => {
  const double = await createDouble();
  const orgId = await organizationOf(double);
  const me = (await double.api("GET", "/users/me")).body;
  const { members, pagination } = (await double.api("GET", `/organizations/${orgId}/members`)).body;
  expect(members).toEqual([
    {
      member: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        user_id: me.id,
        org_id: orgId,
        role: "admin",
        joined_at: "2026-01-01T00:00:00Z",
      },
      user: { email: me.email },
    },
  ]);
  expect(pagination).toEqual({ sort_by: "joined_at", sort_order: "desc" });
  expect((await double.api("GET", `/organizations/${orgId}/members/${members[0].member.id}`)).body).toEqual(
    members[0].member,
  );
});

test("an invited account joins at once, matched by email ignoring case; a second invitation is rejected", async () => {
  const double = await createDouble();
  const { orgId, accountId, key } = await createMember(double, "member");
  const { invitations } = (await double.api("GET", `/organizations/${orgId}/invitations`)).body;
  expect(invitations).toMatchObject([{ email: "member@standin.example", role: "member", org_id: orgId }]);
  const { organizations } = (await double.api("GET", "/users/me/organizations", undefined, key)).body;
  expect(organizations.map(({ id }) => id)).toEqual([await organizationOf(double, key), orgId]);
  const before = await worldState(double);
  for (const emails of [
    ["MEMBER@standin.example"],
    ["a@b.example", "A@b.example"],
    ["new@b.example", "member@standin.example"],
  ]) {
    const response = await double.api("POST", `/organizations/${orgId}/invitations`, {
      invitations: emails.map((email) => ({ email, role: "viewer" })),
    });
    expect(codeOf(response)).toEqual([409, "MEMBER_EXISTS"]);
    expect(response.body.message).toMatch(new RegExp(`^invitations\\.${emails.length - 1}\\.email`));
  }
  expect(await worldState(double)).toBe(before);
  expect(
    (await double.api("GET", `/organizations/${orgId}/members`)).body.members.map(
      ({ member }) => member.user_id,
    ),
  ).toContain(accountId);
});

test("an invited person without an account joins through the control API once the account exists", async () => {
  const double = await createDouble();
  const orgId = await organizationOf(double);
  const email = "later@standin.example";
  const { body } = await double.api("POST", `/organizations/${orgId}/invitations`, {
    invitations: [{ email, role: "viewer" }],
  });
  const accept = () =>
    double.sim("POST", `/organizations/${orgId}/invitations/${body.invitations[0].id}/accept`);
  expect(codeOf(await accept())).toEqual([404, "ACCOUNT_NOT_FOUND"]);
  const { key, accountId } = await createAccount(double, { email });
  expect((await double.api("GET", `/organizations/${orgId}`, undefined, key)).status).toBe(404);
  expect((await accept()).body).toMatchObject({
    member: { account_id: accountId, organization_id: orgId, role: "viewer" },
  });
  expect((await double.api("GET", `/organizations/${orgId}`, undefined, key)).status).toBe(200);
  expect(codeOf(await accept())).toEqual([409, "MEMBER_EXISTS"]);
  expect(codeOf(await double.sim("POST", `/organizations/${orgId}/invitations/${UNKNOWN}/accept`))).toEqual([
    404,
    "INVITATION_NOT_FOUND",
  ]);
  expect(codeOf(await double.sim("POST", `/organizations/org-none/invitations/${UNKNOWN}/accept`))).toEqual([
    404,
    "ORGANIZATION_NOT_FOUND",
  ]);
});

test("members see the projects of the organization that they name, and act under its plan", async () => {
  const double = await createDouble();
  const { projectId, path } = await createProject(double, { name: "shop" });
  const stranger = await createAccount(double, { plan: "free", email: "free@standin.example" });
  expect((await double.api("GET", `/projects/${projectId}`, undefined, stranger.key)).status).toBe(404);
  const orgId = await organizationOf(double);
  await double.api("POST", `/organizations/${orgId}/invitations`, {
    invitations: [{ email: "free@standin.example", role: "member" }],
  });
  const list = async (query: string) =>
    (await double.api("GET", `/projects${query}`, undefined, stranger.key)).body.projects.map(({ id }) => id);
  expect(await list("")).toEqual([]);
  expect(await list(`?org_id=${orgId}`)).toEqual([projectId]);
  const update = { endpoint: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2 } };
  expect((await double.api("PATCH", path, update, stranger.key)).status).toBe(200);
  const made = await double.api("POST", "/projects", { project: { org_id: orgId } }, stranger.key);
  expect([made.status, made.body.project.org_id]).toEqual([201, orgId]);
});

const MUTATIONS: readonly (readonly [
  string,
  (ids: { projectId: string; orgId: string; path: string }) => [string, string, unknown?],
])[] = [
  ["write", ({ projectId }) => ["PATCH", `/projects/${projectId}`, { project: { name: "renamed" } }]],
  ["write", ({ path }) => ["POST", `${path}/restart`]],
  ["create", ({ orgId }) => ["POST", "/projects", { project: { org_id: orgId } }]],
  [
    "create",
    ({ projectId }) => ["POST", `/projects/${projectId}/permissions`, { email: "guest@standin.example" }],
  ],
  ["admin", ({ projectId }) => ["DELETE", `/projects/${projectId}`]],
  ["admin", ({ projectId }) => ["POST", `/projects/${projectId}/transfer_requests`, {}]],
  ["admin", ({ orgId }) => ["POST", `/organizations/${orgId}/api_keys`, { key_name: "k" }]],
  ["admin", ({ orgId }) => ["GET", `/organizations/${orgId}/api_keys`]],
  [
    "admin",
    ({ orgId }) => ["PUT", `/organizations/${orgId}/billing/spending_limit`, { spending_limit_cents: 1 }],
  ],
  [
    "admin",
    ({ orgId }) => [
      "POST",
      `/organizations/${orgId}/invitations`,
      { invitations: [{ email: "x@y.example", role: "viewer" }] },
    ],
  ],
];

test.each([
  ["viewer", []],
  ["member", ["write", "create"]],
  ["editor", ["write", "create"]],
  ["admin", ["write", "create", "admin"]],
])("a %s may read and %j; other calls are denied and change nothing", async (role, may) => {
  for (const [need, request] of MUTATIONS) {
    const double = await createDouble();
    const { projectId, path } = await createProject(double);
    const { key, orgId } = await createMember(double, role);
    expect((await double.api("GET", path, undefined, key)).status).toBe(200);
    const before = await worldState(double);
    const [method, url, body] = request({ projectId, orgId, path });
    const response = await double.api(method, url, body, key);
    if (may.includes(need)) expect(response.status).toBeLessThan(300);
    else {
      expect([url, ...codeOf(response)]).toEqual([url, 403, "ACCESS_DENIED"]);
      expect(await worldState(double)).toBe(before);
    }
  }
});

test("a collaborator sees the organization and only its shared projects", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const other = await createProject(double);
  const { key, orgId } = await createMember(double, "collaborator");
  const list = async () =>
    (await double.api("GET", `/projects?org_id=${orgId}`, undefined, key)).body.projects.map(({ id }) => id);
  expect((await double.api("GET", `/organizations/${orgId}`, undefined, key)).status).toBe(200);
  expect(await list()).toEqual([]);
  expect((await double.api("GET", `/projects/${projectId}`, undefined, key)).status).toBe(404);
  const window = `org_id=${orgId}&granularity=hourly&from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z`;
  const consumption = async (path: string, more = "") =>
    (await double.api("GET", `/consumption_history/${path}?${window}${more}`, undefined, key)).body;
  const metrics = "&metrics=compute_unit_seconds";
  const consumed = async () => [
    (await consumption("projects")).projects.map((one) => one.project_id),
    (await consumption("v2/projects", metrics)).projects.map((one) => one.project_id),
    (await consumption("v2/branches", `${metrics}&project_ids=${projectId},${other.projectId}`)).branches.map(
      (one) => one.project_id,
    ),
  ];
  expect(await consumed()).toEqual([[], [], []]);
  await double.api("POST", `/projects/${projectId}/permissions`, { email: "collaborator@standin.example" });
  expect(await list()).toEqual([projectId]);
  expect(await consumed()).toEqual([[projectId], [projectId], [projectId]]);
  expect((await double.api("GET", `/projects/${projectId}`, undefined, key)).status).toBe(200);
  expect((await double.api("GET", `/projects/${other.projectId}`, undefined, key)).status).toBe(404);
});

test("a role change applies at once, and a removed member loses access", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { key, path, memberId } = await createMember(double, "viewer");
  const rename = () => double.api("PATCH", `/projects/${projectId}`, { project: { name: "n" } }, key);
  expect((await rename()).status).toBe(403);
  expect((await double.api("PATCH", path, { role: "editor" })).body).toMatchObject({
    id: memberId,
    role: "editor",
  });
  expect((await rename()).status).toBe(200);
  expect(codeOf(await double.api("DELETE", path, undefined, key))).toEqual([403, "ACCESS_DENIED"]);
  expect(await double.api("DELETE", path)).toMatchObject({ status: 200, body: {} });
  expect(codeOf(await rename())).toEqual([404, "PROJECT_NOT_FOUND"]);
  expect(codeOf(await double.api("DELETE", path))).toEqual([404, "MEMBER_NOT_FOUND"]);
  expect((await double.api("PATCH", path, { role: "king" })).status).toBe(400);
});

test("the owner of an organization always stays an admin", async () => {
  const double = await createDouble();
  const { key, orgId } = await createMember(double, "admin");
  const { members } = (await double.api("GET", `/organizations/${orgId}/members?sort_order=asc`)).body;
  const path = `/organizations/${orgId}/members/${members[0].member.id}`;
  const before = await worldState(double);
  for (const as of [API_KEY, key]) {
    expect(codeOf(await double.api("DELETE", path, undefined, as))).toEqual([
      422,
      "MEMBER_OWNS_ORGANIZATION",
    ]);
    expect(codeOf(await double.api("PATCH", path, { role: "member" }, as))).toEqual([
      422,
      "MEMBER_OWNS_ORGANIZATION",
    ]);
    expect((await double.api("PATCH", path, { role: "admin" }, as)).status).toBe(200);
  }
  expect(await worldState(double)).toBe(before);
});

test("a member cursor is valid only for its organization and its order", async () => {
  const double = await createDouble();
  const { key, orgId } = await createMember(double, "admin");
  const list = `/organizations/${orgId}/members`;
  const { pagination } = (await double.api("GET", `${list}?sort_by=email&limit=1`)).body;
  const statusOf = async (path: string) =>
    (await double.api("GET", `${path}cursor=${pagination.next}`, undefined, key)).status;
  expect(await statusOf(`${list}?`)).toBe(200);
  expect(await statusOf(`${list}?sort_by=role&`)).toBe(400);
  const { organizations } = (await double.api("GET", "/users/me/organizations", undefined, key)).body;
  const other = organizations.find(({ id }) => id !== orgId).id;
  expect(await statusOf(`/organizations/${other}/members?`)).toBe(400);
});

test("pages of members list each member once, for every sort key and direction", async () => {
  const double = await createDouble();
  const orgId = await organizationOf(double);
  const me = (await double.api("GET", "/users/me")).body;
  for (const name of ["c", "a", "b", "d"]) {
    await double.advance("1s");
    await createMember(double, name < "c" ? "viewer" : "member", `${name}@standin.example`);
  }
  /** First letters of the email addresses. */
  const walk = async (query: string) => {
    const names: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await double.api("GET", `/organizations/${orgId}/members?limit=2${query}${cursor}`);
      names.push(
        ...body.members.map(({ user, member }) => (member.user_id === me.id ? "me" : user.email.slice(0, 1))),
      );
      if (body.pagination.next === undefined) return names;
      cursor = `&cursor=${body.pagination.next}`;
    }
  };
  const others = async (query: string) => (await walk(query)).filter((name) => name !== "me").join("");
  expect(await walk("")).toEqual(["d", "b", "a", "c", "me"]);
  expect(await walk("&sort_order=asc")).toEqual(["me", "c", "a", "b", "d"]);
  expect(await others("&sort_by=email&sort_order=asc")).toBe("abcd");
  expect(await others("&sort_by=email")).toBe("dcba");
  // One admin, two members and two viewers: ties have a stated order too.
  expect(await others("&sort_by=role&sort_order=asc")).toMatch(/^(cd|dc)(ab|ba)$/);
  for (const query of ["limit=0", "limit=501", "sort_by=name", "cursor=x"]) {
    expect((await double.api("GET", `/organizations/${orgId}/members?${query}`)).status).toBe(400);
  }
});

test("a spending limit can be set, read and cleared repeatedly, on paid plans only", async () => {
  const double = await createDouble();
  const path = `/organizations/${await organizationOf(double)}/billing/spending_limit`;
  const limit = async () => (await double.api("GET", path)).body;
  expect(await limit()).toEqual({ spending_limit_cents: null });
  for (const cents of [1, 500]) {
    expect((await double.api("PUT", path, { spending_limit_cents: cents })).body).toEqual({
      spending_limit_cents: cents,
    });
    expect(await limit()).toEqual({ spending_limit_cents: cents });
  }
  for (const wrong of [0, null, -1, 1.5, "5"])
    expect((await double.api("PUT", path, { spending_limit_cents: wrong })).status).toBe(400);
  for (let times = 0; times < 2; times += 1)
    expect(await double.api("DELETE", path)).toMatchObject({ status: 200, body: {} });
  expect(await limit()).toEqual({ spending_limit_cents: null });
  const free = await createAccount(double, { plan: "free" });
  const theirs = `/organizations/${await organizationOf(double, free.key)}/billing/spending_limit`;
  for (const [method, body] of [["GET"], ["PUT", { spending_limit_cents: 5 }], ["DELETE"]] as const) {
    expect(codeOf(await double.api(method, theirs, body, free.key))).toEqual([422, "PLAN_LIMIT_EXCEEDED"]);
  }
});

test("members, invitations and spending limits survive a restart and a reset; projects do not survive a reset", async () => {
  const stored = await createFileDouble();
  onTestFinished(stored.end);
  const { projectId } = await createProject(stored.double());
  const { key, orgId } = await createMember(stored.double(), "editor");
  await stored
    .double()
    .api("PUT", `/organizations/${orgId}/billing/spending_limit`, { spending_limit_cents: 7 });
  await stored.double().api("POST", `/projects/${projectId}/permissions`, { email: "x@y.example" });
  const before = await worldState(stored.double());
  await stored.reopen();
  expect(await worldState(stored.double())).toBe(before);
  await stored.double().sim("POST", "/reset");
  const kinds = async () => (await stored.double().sim("GET", "/state")).body.records.map(({ kind }) => kind);
  expect(await kinds()).toEqual(["invitation", "member", "spendingLimit"]);
  expect((await stored.double().api("GET", `/organizations/${orgId}`, undefined, key)).status).toBe(200);
  expect((await stored.double().sim("GET", "/invariants")).body).toMatchObject({ ok: true });
  const after = await worldState(stored.double());
  await stored.reopen();
  expect(await worldState(stored.double())).toBe(after);
});
