import { expect, test } from "vitest";
import { PUBLIC_OPERATIONS } from "../../../src/platform-api/coverage/public-operations.ts";
import type { Rejection } from "../../support/answers/api-response.ts";
import { withReason } from "../../support/answers/with-reason.ts";
import { createBranch, worldState } from "../../support/double/compute.ts";
import { API_KEY, createDouble, createProject, type Double } from "../../support/double/double.ts";

const raw = (double: Double, method: string, path: string, init: RequestInit = {}) =>
  double.fetch(
    new Request(`http://localhost${path}`, {
      method,
      ...init,
      headers: { Authorization: `Bearer ${API_KEY}`, ...(init.headers as object) },
    }),
  );

test("every error has request_id, code and message, with the id of the request", async () => {
  const double = await createDouble();
  const { path, projectId } = await createProject(double);
  await double.api("POST", `${path}/restart`);
  const responses = [
    await double.api("GET", "/projects", undefined, "unknown"),
    await double.api("GET", "/projects/none"),
    await double.api("GET", "/no/such/path"),
    await double.api("GET", `/projects/${projectId}/branches/br-none/ai_gateway`),
    await double.api("POST", "/projects", "{"),
    await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 11 } }),
    await double.api("POST", `${path}/suspend`),
  ];
  expect(responses.map(({ status }) => status)).toEqual([401, 404, 404, 501, 400, 422, 423]);
  for (const { headers, body } of responses) {
    expect(Object.keys(body).sort()).toEqual(["code", "message", "request_id"]);
    for (const value of Object.values(body)) expect(value).toEqual(expect.stringMatching(/./));
    expect(headers.get("x-request-id")).toBe(body.request_id);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
  }
});

test("X-Request-ID comes from the request if it is valid, otherwise a new one is generated", async () => {
  const double = await createDouble();
  const idOf = async (given?: string) => {
    const response = await raw(
      double,
      "GET",
      "/api/v2/projects",
      given === undefined ? {} : { headers: { "X-Request-ID": given } },
    );
    return response.headers.get("x-request-id") ?? "";
  };
  expect(await idOf("my-request-1")).toBe("my-request-1");
  expect(await idOf("i".repeat(128))).toBe("i".repeat(128));
  expect(await idOf("i".repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idOf("with space")).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idOf()).not.toBe(await idOf());
});

test("an unknown path is 404, with a hint if /api/v2 is missing or repeated", async () => {
  const double = await createDouble();
  const messageOf = async (path: string) => {
    const response = await raw(double, "GET", path);
    const body = withReason(
      response.status,
      (name) => response.headers.get(name),
      (await response.json()) as Rejection,
    );
    return [response.status, body.code, body.message];
  };
  expect(await messageOf("/api/v2/nothing/here")).toEqual([
    404,
    "UNKNOWN_PATH",
    expect.stringContaining("/nothing/here"),
  ]);
  expect(await messageOf("/projects")).toEqual([
    404,
    "UNKNOWN_PATH",
    expect.stringContaining("/api/v2/projects"),
  ]);
  expect(await messageOf("/api/v2/api/v2/projects")).toEqual([
    404,
    "UNKNOWN_PATH",
    expect.stringContaining("twice"),
  ]);
  expect(await messageOf("/")).toEqual([404, "UNKNOWN_PATH", expect.stringContaining("/api/v2")]);
});

test("a known path with another method is 405 and lists the allowed methods", async () => {
  const double = await createDouble();
  const { status, headers, body } = await double.api("PUT", "/projects");
  expect([status, body.code]).toEqual([405, "METHOD_NOT_ALLOWED"]);
  expect(headers.get("allow")?.split(", ").sort()).toEqual(["GET", "POST"]);
});

test("a trailing slash on a known path is never 405", async () => {
  const double = await createDouble();
  for (const path of ["/projects/", "/api_keys/", "/projects/shared/"]) {
    const { status, body } = await double.api("GET", path);
    expect([path, status === 200 || status === 404, body.message ?? ""]).toEqual([
      path,
      true,
      expect.not.stringContaining("GET is not allowed"),
    ]);
  }
});

test("every operation of the public API is answered; one that is not imitated is 501 with its name", async () => {
  const double = await createDouble();
  const missing: string[] = [];
  for (const { method, path, operationId } of PUBLIC_OPERATIONS) {
    const filled = path.replaceAll(/\{\w+\}/g, "none");
    const { status, body } = await double.api(
      method,
      filled,
      method === "GET" || method === "DELETE" ? undefined : {},
    );
    expect([operationId, status === 405 || body.code === "UNKNOWN_PATH"]).toEqual([operationId, false]);
    if (status !== 501) continue;
    expect([body.code, body.message.includes(operationId)]).toEqual(["NOT_IMITATED", true]);
    missing.push(operationId);
  }
  const imitated = PUBLIC_OPERATIONS.map(({ operationId }) => operationId).filter(
    (operationId) => !missing.includes(operationId),
  );
  for (const operationId of [
    "listProjects",
    "createProject",
    "listProjectEndpoints",
    "createApiKey",
    "restartProjectEndpoint",
  ]) {
    expect(imitated).toContain(operationId);
  }
});

test("a 501 names the operation, and where the list of imitated operations is", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects/auth/transfer_ownership", {});
  expect(body.message).toBe(
    "transferNeonAuthProviderProject (POST /projects/auth/transfer_ownership) is not imitated; GET /_sim/coverage lists the operations that are",
  );
});

const BODIES: readonly (readonly [string, string])[] = [
  ["malformed JSON", "{"],
  ["trailing rubbish", '{"key_name":"a"} x'],
  ["nothing", ""],
  ["null", "null"],
  ["a list", "[]"],
  ["a text", '"key_name"'],
  ["a number", "7"],
];

test.each(BODIES)("a body of %s is rejected with 400", async (_, text) => {
  const double = await createDouble();
  const before = await worldState(double);
  const response = await raw(double, "POST", "/api/v2/api_keys", {
    body: text,
    headers: { "Content-Type": "application/json" },
  });
  const body = withReason(
    response.status,
    (name) => response.headers.get(name),
    (await response.json()) as Rejection,
  );
  expect([response.status, body.code]).toEqual([400, "BAD_REQUEST"]);
  expect(await worldState(double)).toBe(before);
});

test("a body of another content type is rejected; one with a charset or without a type is read", async () => {
  const double = await createDouble();
  const statusOf = async (type: string | undefined) => {
    const headers = type === undefined ? {} : { "Content-Type": type };
    const body = new TextEncoder().encode('{"key_name":"typed"}');
    return (await raw(double, "POST", "/api/v2/api_keys", { body, headers })).status;
  };
  expect(await statusOf("text/html")).toBe(400);
  expect(await statusOf("application/jsonp")).toBe(400);
  expect(await statusOf("application/json; charset=utf-8")).toBe(200);
  expect(await statusOf("APPLICATION/JSON")).toBe(200);
  expect(await statusOf(undefined)).toBe(200);
});

test("a body above 1 MiB is 413 and changes nothing", async () => {
  const double = await createDouble();
  const before = await worldState(double);
  const bodyOf = (bytes: number) => {
    const frame = JSON.stringify({ key_name: "" }).length;
    return JSON.stringify({ key_name: "k".repeat(bytes - frame) });
  };
  expect((await double.api("POST", "/api_keys", bodyOf(1024 * 1024 + 1))).status).toBe(413);
  expect((await double.api("POST", "/api_keys", bodyOf(1024 * 1024))).status).toBe(400);
  expect(await worldState(double)).toBe(before);
});

test("all invalid fields are reported at once", async () => {
  const double = await createDouble();
  const { body } = await double.api("POST", "/projects", {
    project: { name: 7, pg_version: "new", store_passwords: "no" },
  });
  for (const field of ["project.name", "project.pg_version", "project.store_passwords"])
    expect(body.message).toContain(field);
});

test("success is 201 for creation and 200 otherwise", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, path } = await createProject(double);
  const { branchId } = await createBranch(double, projectId);
  const statusOf = async (method: string, call: string, body?: unknown) =>
    (await double.api(method, call, body)).status;
  expect(await statusOf("POST", "/projects", { project: {} })).toBe(201);
  expect(await statusOf("POST", `/projects/${projectId}/branches`, {})).toBe(201);
  expect(
    await statusOf("POST", `/projects/${projectId}/endpoints`, {
      endpoint: { branch_id: branchId, type: "read_write" },
    }),
  ).toBe(201);
  expect(await statusOf("POST", "/api_keys", { key_name: "one" })).toBe(200);
  expect(await statusOf("PATCH", path, { endpoint: {} })).toBe(200);
  for (const verb of ["suspend", "start", "restart"])
    expect(await statusOf("POST", `${path}/${verb}`)).toBe(200);
  expect(await statusOf("DELETE", path)).toBe(200);
  expect(await statusOf("GET", "/projects")).toBe(200);
});
