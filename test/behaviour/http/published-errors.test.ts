import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createApp } from "../../../src/app/create-app.ts";
import { MAX } from "../../../src/input-limits/limits.ts";
import { createAccount } from "../../support/double/compute.ts";
import { API_KEY, createDouble, createProject } from "../../support/double/double.ts";

const double = await createDouble();

type Call = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly key?: string;
};

/** What a client gets: the body without its request id, and what only a person reads. */
async function answer({ method, path, body, key = API_KEY }: Call) {
  const response = await double.fetch(
    new Request(`http://localhost/api/v2${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    }),
  );
  const { code, message } = (await response.json()) as { code: string; message: string };
  return {
    answered: [response.status, code, message],
    reason: response.headers.get("x-standin-code"),
    hint: response.headers.get("x-standin-hint"),
  };
}

test("what is not found has an empty code and a message without the id", async () => {
  const { projectId } = await createProject(double);
  expect(await answer({ method: "GET", path: "/projects/no-such-project" })).toEqual({
    answered: [404, "", "project not found"],
    reason: "PROJECT_NOT_FOUND",
    hint: 'there is no project "no-such-project"',
  });
  expect(await answer({ method: "GET", path: `/projects/${projectId}/branches/br-none-12345678` })).toEqual({
    answered: [404, "", "branch not found"],
    reason: "BRANCH_NOT_FOUND",
    hint: 'there is no branch "br-none-12345678"',
  });
  expect(await answer({ method: "GET", path: `/projects/${projectId}/endpoints/ep-none-12345678` })).toEqual({
    answered: [404, "", "endpoint not found"],
    reason: "ENDPOINT_NOT_FOUND",
    hint: 'there is no endpoint "ep-none-12345678"',
  });
});

test("an unknown key has an empty code and the platform's message", async () => {
  expect(await answer({ method: "GET", path: "/projects", key: "unknown" })).toEqual({
    answered: [401, "", "supplied credentials do not pass authentication"],
    reason: "UNAUTHORIZED",
    hint: "the API key is not valid or has been revoked",
  });
});

test("a request that cannot be decoded has the decoder's words, and the hint names each wrong field", async () => {
  const create = { method: "POST", path: "/projects" };
  const decode = "invalid request: decode application/json: decode ProjectCreateRequest: ";
  const wrong = { project: { pg_version: "16", store_passwords: "no" } };
  expect(await answer({ ...create, body: wrong })).toEqual({
    answered: [
      400,
      "",
      `${decode}callback: decode field "project": decode ProjectCreateRequestProject: callback: decode field "pg_version": alias: unexpected byte 34 '"' at 25`,
    ],
    reason: "BAD_REQUEST",
    hint: "project.pg_version: must be a number, not a string; project.store_passwords: must be true or false, not a string",
  });
  expect(await answer({ ...create, body: "{" })).toEqual({
    answered: [400, "", `${decode}'"' or "}" expected: unexpected EOF`],
    reason: "BAD_REQUEST",
    hint: expect.stringMatching(/^the request body is not valid JSON: /),
  });
  expect((await answer(create)).answered).toEqual([400, "", "invalid request: body required"]);
  expect(await answer({ method: "GET", path: "/projects?limit=0" })).toEqual({
    answered: [400, "", 'invalid request: query: "limit": int: value 0 less than 1'],
    reason: "BAD_REQUEST",
    hint: expect.stringMatching(/^limit: /),
  });
});

test("profile 2024 answers an empty body as it was recorded, and profile 2026 names the operation", async () => {
  const create = { method: "POST", path: "/projects", body: {} };
  const message = "invalid request: decode application/json: invalid: project (field required)";
  expect((await answer(create)).answered).toEqual([400, "", message]);
  const newer = await createDouble({ profile: "2026" });
  const messageOf = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await newer.fetch(
      new Request(`http://localhost/api/v2${path}`, { method, headers, ...text }),
    );
    return ((await response.json()) as { message: string }).message;
  };
  expect(await messageOf("POST", "/projects", {})).toBe(
    "invalid request: operation CreateProject: decode request: decode application/json: invalid: project (field required)",
  );
  expect(await messageOf("GET", "/projects?limit=x")).toBe(
    'invalid request: operation ListProjects: decode params: query: "limit": strconv.Atoi: parsing "x": invalid syntax',
  );
});

test("what decodes, but is not valid, keeps standin's words", async () => {
  const body = { project: { name: "x".repeat(257) } };
  expect(await answer({ method: "POST", path: "/projects", body })).toEqual({
    answered: [
      400,
      "",
      "invalid request: decode application/json: project.name: must have 1 to 256 characters",
    ],
    reason: "BAD_REQUEST",
    hint: null,
  });
});

test("a body of another type than JSON, and one too long to be read once more", async () => {
  const send = async (type: string, body: string) => {
    const headers = { Authorization: `Bearer ${API_KEY}`, "Content-Type": type };
    const request = new Request("http://localhost/api/v2/projects", { method: "POST", headers, body });
    return (await double.fetch(request)).json() as Promise<{ message: string }>;
  };
  expect((await send("text/plain", "{}")).message).toBe(
    "invalid request: unexpected Content-Type: text/plain",
  );
  const long = JSON.stringify({ project: { pg_version: "16" }, other: "x".repeat(MAX.decodedBody) });
  expect((await send("application/json", long)).message).toBe(
    "invalid request: decode application/json: project.pg_version: must be a number, not a string",
  );
});

test("a hint that quotes what a client sent has only characters of a header, and is cut", async () => {
  const { answered, hint } = await answer({ method: "POST", path: "/projects", body: "€" });
  expect(answered[0]).toBe(400);
  expect(hint).toMatch(/^the request body is not valid JSON: .*\\u20ac/);
  const ips = Array.from({ length: 20 }, () => ({ ["y".repeat(200)]: 1 }));
  const many = await answer({
    method: "POST",
    path: "/projects",
    body: { project: { settings: { allowed_ips: { ips } } } },
  });
  expect(many.hint?.length).toBeLessThanOrEqual(MAX.hintCharacters + 2);
});

test("a suspend of a compute that is starting is in some transitive state", async () => {
  const { projectId, endpointId } = await createProject(double);
  const suspend = { method: "POST", path: `/projects/${projectId}/endpoints/${endpointId}/suspend` };
  const inTransition = [423, "", "endpoint is in some transitive state, could not suspend"];
  await double.api("POST", `/projects/${projectId}/endpoints/${endpointId}/restart`);
  expect((await answer(suspend)).answered).toEqual(inTransition);
  await double.advance("10m");
  await double.api("POST", `/projects/${projectId}/endpoints/${endpointId}/start`);
  expect((await answer(suspend)).answered).toEqual(inTransition);
});

test("a snapshot of a branch that is being created needs its creation first", async () => {
  const { projectId } = await createProject(double);
  const { body } = await double.api("POST", `/projects/${projectId}/branches`, { branch: { name: "new" } });
  const path = `/projects/${projectId}/branches/${body.branch.id}/snapshot`;
  expect((await answer({ method: "POST", path })).answered).toEqual([422, "", "branch not ready yet"]);
});

test("limits keep their published codes, and the hint says where they come from", async () => {
  const { key } = await createAccount(double, { plan: "free" });
  const { projectId } = await createProject(double, {}, key);
  const branch = async (init_source?: string) => {
    const created = await answer({
      method: "POST",
      path: `/projects/${projectId}/branches`,
      body: { branch: { init_source } },
      key,
    });
    await double.advance("1m");
    return created;
  };
  for (let root = 1; root < 3; root += 1) expect((await branch("schema-only")).answered[0]).toBe(201);
  expect(await branch("schema-only")).toEqual({
    answered: [422, "ROOT_BRANCHES_LIMIT_EXCEEDED", "root branches limit exceeded"],
    reason: "ROOT_BRANCHES_LIMIT_EXCEEDED",
    hint: expect.stringMatching(/^the free plan allows 3 branches without a parent in a project/),
  });
  for (let child = 3; child < 10; child += 1) expect((await branch()).answered[0]).toBe(201);
  expect(await branch()).toEqual({
    answered: [422, "BRANCHES_LIMIT_EXCEEDED", "branches limit exceeded"],
    reason: "BRANCHES_LIMIT_EXCEEDED",
    hint: "the free plan allows 10 branches in a project",
  });
  const few = await createDouble({ planLimits: { projects: 1 } });
  await createProject(few);
  const another = await few.api("POST", "/projects", { project: {} });
  expect([another.status, another.body]).toMatchObject([
    422,
    {
      code: "PROJECTS_LIMIT_EXCEEDED",
      message: "user projects limit of 1 exceeded, got 1: this world allows 1 projects",
    },
  ]);
});

test.each([
  ["2024", "suspend interval changing is not allowed for your account"],
  ["2026", "modifying the suspend interval is not permitted on this account"],
] as const)("in profile %s, the free plan has no suspend interval of its own", async (profile, message) => {
  const world = await createDouble({ profile });
  const { key } = await createAccount(world, { plan: "free" });
  const { path } = await createProject(world, {}, key);
  const { status, body } = await world.api("PATCH", path, { endpoint: { suspend_timeout_seconds: 60 } }, key);
  expect([status, body.message]).toEqual([412, expect.stringContaining(`${message}: the free plan`)]);
});

test.each([
  ["hipaa", "HIPAA_NOT_ALLOWED"],
  ["enable_logical_replication", "LOGICAL_REPLICATION_NOT_ALLOWED"],
] as const)(
  "%s of a project cannot be switched off: 400, and the whole request is void",
  async (setting, reason) => {
    const { projectId } = await createProject(double, { name: "first", settings: { [setting]: true } });
    const path = `/projects/${projectId}`;
    const patch = (settings: object) =>
      answer({ method: "PATCH", path, body: { project: { name: "second", settings } } });
    const { body: before } = await double.api("GET", path);
    const message = `settings.${setting}: once enabled, it cannot be disabled`;
    expect(await patch({ [setting]: false })).toMatchObject({ answered: [400, "", message], reason });
    expect((await double.api("GET", path)).body).toEqual(before);
    expect((await patch({ [setting]: true })).answered[0]).toBe(200);
    expect((await patch({ quota: { active_time_seconds: 60 } })).answered[0]).toBe(200);
    const { name, settings } = (await double.api("GET", path)).body.project;
    expect([name, settings[setting]]).toEqual(["second", true]);
  },
);

test("a key set of an unknown provider is refused, and that of a known one is accepted", async () => {
  const { projectId } = await createProject(double);
  const path = `/projects/${projectId}/jwks`;
  const add = (jwks_url: string) =>
    answer({ method: "POST", path, body: { jwks_url, provider_name: "foo" } }).then(
      ({ answered }) => answered[0],
    );
  expect(await add("https://bar.com")).toBe(400);
  expect(await add("https://bar.com/?jwks.json")).toBe(400);
  expect(await add("https://jwks.example/other")).toBe(400);
  for (const url of [
    "https://api.stack-auth.com/api/v1/projects/1/.well-known/jwks.json",
    "https://www.googleapis.com/oauth2/v3/certs",
    "https://api.workos.com/sso/jwks/client_1",
    "https://id.example/realms/app/protocol/openid-connect/certs",
  ])
    expect([url, await add(url)]).toEqual([url, 201]);
  const { jwks } = (await double.api("GET", path)).body;
  expect(jwks.map(({ jwks_url }) => jwks_url)).not.toContain("https://bar.com");
  expect(jwks).toHaveLength(4);
});

test("an error of either API names its code, and its row on the page of errors where that is served", async () => {
  const page = readFileSync("docs/reference/errors.md", "utf8");
  const withPages = createApp({
    worlds: double.worlds,
    version: "test",
    rateLimit: false,
    hosts: [],
    controlToken: undefined,
    console: "on",
    onBug: (error) => {
      throw error;
    },
  });
  for (const [method, path, code] of [
    ["GET", "/api/v2/projects/none", "PROJECT_NOT_FOUND"],
    ["DELETE", "/_sim/snapshots/none", "SNAPSHOT_NOT_FOUND"],
    ["GET", "/w/none/api/v2/projects", "WORLD_NOT_FOUND"],
    ["GET", "/none", "UNKNOWN_PATH"],
  ] as const) {
    const headersOf = async (fetch: (request: Request) => Response | Promise<Response>) => {
      const headers = { Authorization: `Bearer ${API_KEY}` };
      return (await fetch(new Request(`http://localhost${path}`, { method, headers }))).headers;
    };
    const row = code.toLowerCase();
    expect(Object.fromEntries(await headersOf((request) => withPages.fetch(request)))).toMatchObject({
      "x-standin-code": code,
      link: `</docs/reference/errors.html#${row}>; rel="help"`,
    });
    expect(page).toContain(`<a id="${row}"></a>`);
    const withoutPages = await headersOf(double.fetch);
    expect([withoutPages.get("x-standin-code"), withoutPages.get("link")]).toEqual([code, null]);
  }
});
