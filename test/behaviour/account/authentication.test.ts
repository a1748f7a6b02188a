import { expect, test } from "vitest";
import type { AnyBody, ApiResponse } from "../../support/answers/api-response.ts";
import { withReason } from "../../support/answers/with-reason.ts";
import { worldState } from "../../support/double/compute.ts";
import { API_KEY, createDouble, createProject, type Double } from "../../support/double/double.ts";

/** Calls of all kinds: imitated operations, one that is not imitated, an unknown path and a wrong method. */
const CALLS: readonly string[] = [
  "GET /api_keys",
  "POST /api_keys",
  "DELETE /api_keys/1",
  "GET /projects",
  "POST /projects",
  "GET /projects/shared",
  "GET /projects/:project",
  "PATCH /projects/:project",
  "DELETE /projects/:project",
  "GET /projects/:project/connection_uri?database_name=neondb&role_name=neondb_owner",
  "GET /projects/:project/endpoints",
  "POST /projects/:project/endpoints",
  "GET /projects/:project/endpoints/:endpoint",
  "PATCH /projects/:project/endpoints/:endpoint",
  "DELETE /projects/:project/endpoints/:endpoint",
  "POST /projects/:project/endpoints/:endpoint/start",
  "POST /projects/:project/endpoints/:endpoint/suspend",
  "POST /projects/:project/endpoints/:endpoint/restart",
  "GET /projects/:project/branches",
  "POST /projects/:project/branches",
  "GET /projects/:project/branches/count",
  "GET /projects/:project/branches/:branch",
  "PATCH /projects/:project/branches/:branch",
  "DELETE /projects/:project/branches/:branch",
  "POST /projects/:project/branches/:branch/set_as_default",
  "GET /projects/:project/branches/:branch/endpoints",
  "GET /projects/:project/branches/:branch/roles",
  "GET /projects/:project/branches/:branch/roles/neondb_owner",
  "GET /projects/:project/branches/:branch/roles/neondb_owner/reveal_password",
  "GET /projects/:project/branches/:branch/databases",
  "GET /projects/:project/branches/:branch/databases/neondb",
  "GET /projects/:project/operations",
  "GET /projects/:project/operations/00000000-0000-4000-8000-000000000000",
  "GET /users/me",
  "GET /users/me/organizations",
  "GET /organizations/org-none",
  "GET /regions",
  "GET /auth",
  "GET /projects/:project/jwks",
  "GET /no/such/path",
  "PUT /projects",
];

type Headers = Record<string, string>;
type Caller = (call: string, headers: Headers, body?: string) => Promise<ApiResponse>;

async function createCaller(): Promise<{ double: Double; call: Caller }> {
  const double = await createDouble();
  const { projectId, branchId, endpointId } = await createProject(double);
  const call: Caller = async (text, headers, body) => {
    const [method = "", path = ""] = text.split(" ");
    const filled = path
      .replace(":project", projectId)
      .replace(":branch", branchId)
      .replace(":endpoint", endpointId);
    const init: RequestInit = {
      method,
      headers,
      ...(body === undefined || method === "GET" ? {} : { body }),
    };
    const response = await double.fetch(new Request(`http://localhost/api/v2${filled}`, init));
    return {
      status: response.status,
      headers: response.headers,
      body: withReason(
        response.status,
        (name) => response.headers.get(name),
        (await response.json()) as AnyBody,
      ),
    };
  };
  return { double, call };
}

/** Each call must get 401 and change nothing. */
const BAD: Readonly<Record<string, Headers>> = {
  "no Authorization header": {},
  "an empty one": { Authorization: "" },
  "one without a key": { Authorization: "Bearer" },
  "another scheme": { Authorization: `Basic ${API_KEY}` },
  "a bare key": { Authorization: API_KEY },
  "an unknown key": { Authorization: `Bearer ${"x".repeat(64)}` },
  "a key that is almost right": { Authorization: `Bearer ${API_KEY.slice(0, -1)}` },
  "a key with more behind it": { Authorization: `Bearer ${API_KEY} ${API_KEY}` },
  "a key in capitals": { Authorization: `Bearer ${API_KEY.toUpperCase()}` },
  "a very long key": { Authorization: `Bearer ${"x".repeat(50_000)}` },
};

test.each(Object.keys(BAD))("with %s, every request gets 401", async (name) => {
  const { double, call } = await createCaller();
  const before = await worldState(double);
  for (const text of CALLS) {
    const response = await call(text, BAD[name] ?? {});
    expect([text, response.status, response.body.code]).toEqual([text, 401, "UNAUTHORIZED"]);
    expect(Object.keys(response.body).sort()).toEqual(["code", "message", "request_id"]);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
  }
  expect(await worldState(double)).toBe(before);
});

test("with a revoked key, every request gets 401", async () => {
  const { double, call } = await createCaller();
  const { body } = await double.api("POST", "/api_keys", { key_name: "short-lived" });
  expect((await call("GET /projects", { Authorization: `Bearer ${body.key}` })).status).toBe(200);
  await double.api("DELETE", `/api_keys/${body.id}`);
  for (const text of CALLS) {
    expect([text, (await call(text, { Authorization: `Bearer ${body.key}` })).status]).toEqual([text, 401]);
  }
});

test("401 comes before all other errors of a request", async () => {
  const { call } = await createCaller();
  for (const text of CALLS) {
    const response = await call(text.replace(":project", "NO SUCH"), { "Content-Type": "text/html" }, "{");
    expect([text, response.status]).toEqual([text, 401]);
  }
});

test("with a valid key, none of these requests gets 401", async () => {
  const { call } = await createCaller();
  for (const text of CALLS.filter((candidate) => !candidate.startsWith("DELETE"))) {
    const response = await call(text, { Authorization: `Bearer ${API_KEY}` }, "{}");
    expect([text, response.status === 401]).toEqual([text, false]);
  }
});

test("the scheme is case-insensitive, and spaces around the key are ignored", async () => {
  const { call } = await createCaller();
  for (const header of [`bearer ${API_KEY}`, `BEARER ${API_KEY}`, `Bearer   ${API_KEY}  `]) {
    expect([header, (await call("GET /projects", { Authorization: header })).status]).toEqual([header, 200]);
  }
});

test("a 401 never repeats the key", async () => {
  const { call } = await createCaller();
  const secret = "secret".padEnd(64, "s");
  for (const header of [`Bearer ${secret}`, `Basic ${secret}`, secret]) {
    expect(JSON.stringify((await call("GET /projects", { Authorization: header })).body)).not.toContain(
      "secret",
    );
  }
});
