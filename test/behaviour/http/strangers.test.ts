import { expect, test } from "vitest";
import { createApp } from "../../../src/app/create-app.ts";
import type { Rejection } from "../../support/answers/api-response.ts";
import { API_KEY, createDouble, type Double } from "../../support/double/double.ts";

const appOf = ({ worlds }: Double, options: { controlToken?: string; rateLimit?: boolean } = {}) => {
  const bugs: unknown[] = [];
  const time = { ms: 0 };
  const app = createApp({
    worlds,
    version: "test",
    rateLimit: options.rateLimit ?? false,
    hosts: [],
    controlToken: options.controlToken,
    steadyTime: () => time.ms,
    onBug: (error) => bugs.push(error),
  });
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await app.fetch(new Request(`http://localhost${path}`, init));
    const {
      "x-request-id": _,
      "x-neon-ret-request-id": ___,
      ...headers
    } = Object.fromEntries(response.headers);
    const { request_id: __, ...body } = JSON.parse((await response.text()) || "{}");
    return { status: response.status, headers, body };
  };
  return { app, bugs, time, call };
};

test.each([
  ["GET", "/api/v2/projects"],
  ["POST", "/api/v2/projects"],
  ["GET", "/api/v2/no/such/path"],
  ["GET", "/no/such/path"],
  ["GET", "/_sim/state"],
  ["GET", "/_sim/health"],
  ["GET", "/_sim/health/live"],
])("without key and token, %s %s does not tell which worlds exist", async (method, path) => {
  const double = await createDouble();
  expect((await double.sim("POST", "/worlds", { name: "side" })).status).toBe(201);
  const { call } = appOf(double, { controlToken: "t".repeat(20) });
  for (const headers of [{}, { Authorization: "Bearer wrong" }] as Record<string, string>[]) {
    const existing = await call(`/w/side${path}`, { method, headers });
    const missing = await call(`/w/nope${path}`, { method, headers });
    expect(existing.status).toBe(path.startsWith("/no/") ? 404 : 401);
    expect(missing).toEqual(JSON.parse(JSON.stringify(existing).replaceAll("/w/side", "/w/nope")));
  }
});

test("with a key of the default world, an unknown world is 404 and the others are named", async () => {
  const double = await createDouble();
  const { call } = appOf(double);
  const { status, body } = await call("/w/nope/api/v2/projects", {
    headers: { Authorization: `Bearer ${API_KEY}` },
  });
  expect([status, body.code]).toEqual([404, ""]);
  expect(body.message).toContain("default");
});

test("requests without a valid key have a rate limit per address, in all worlds together", async () => {
  const double = await createDouble();
  await double.sim("POST", "/worlds", { name: "side" });
  const { call, time } = appOf(double, { rateLimit: true });
  const paths = ["/api/v2/projects", "/w/side/api/v2/users/me", "/w/nope/api/v2/projects", "/api/v2/nope"];
  const statuses: number[] = [];
  for (let i = 0; i < 48; i += 1) statuses.push((await call(paths[i % 4] as string)).status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(40);
  expect(statuses.slice(40).every((status) => status === 429)).toBe(true);
  const valid = { headers: { Authorization: `Bearer ${API_KEY}` } };
  expect((await call("/api/v2/projects", valid)).status, "a valid key is not limited by others").toBe(200);
  time.ms += 999;
  expect((await call("/api/v2/projects")).status).toBe(429);
  time.ms += 1;
  expect((await call("/api/v2/projects")).status).toBe(401);
});

test("the body of a request without a valid key is not stored", async () => {
  const double = await createDouble();
  for (const key of ["wrong", API_KEY])
    await double.api("POST", "/projects", { project: { name: key } }, key);
  const { requests } = (await double.sim("GET", "/requests")).body;
  expect(requests.map(({ status, body }) => [status, body !== undefined])).toEqual([
    [401, false],
    [201, true],
  ]);
});

test.each(["/api/v2/projects", "/_sim/activity"])("an aborted upload to %s is not a bug", async (path) => {
  const { app, bugs } = appOf(await createDouble());
  for (const length of [{}, { "Content-Length": "500" }] as Record<string, string>[]) {
    const response = await app.fetch(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json", ...length },
        body: abortedBody(),
        duplex: "half",
      } as RequestInit),
    );
    expect(response.status).toBe(400);
    expect(((await response.json()) as Rejection).code).toBe("BAD_REQUEST");
  }
  expect(bugs).toEqual([]);
});

function abortedBody(): ReadableStream {
  let isBegun = false;
  return new ReadableStream({
    pull(controller) {
      if (isBegun) controller.error(new Error("aborted"));
      else controller.enqueue(new TextEncoder().encode('{"project":'));
      isBegun = true;
    },
  });
}

test.each([
  ["POST", "/projects", { project: { default_endpoint_settings: "$" } }],
  ["POST", "/projects", { project: { branch: { annotations: "$" } } }],
] as const)("%s %s rejects texts with the name __proto__", async (method, path, template) => {
  const double = await createDouble();
  const reserved = '{"__proto__":"on","pg_settings":{"__proto__":"on"}}';
  const body = JSON.stringify(template).replace('"$"', reserved);
  const { status, body: answer } = await double.api(method, path, body);
  expect([status, answer.code]).toEqual([400, "BAD_REQUEST"]);
  expect(answer.message).toContain('.__proto__: there is no field "__proto__"');
});

test.each([
  ['{"project":{"name":{"length":{"toString":1}}}}', "project.name.length.toString"],
  ['{"project":{"name":{"length":[{"\\u0074oString":1}]}}}', "project.name.length.0.toString"],
])("the body %s, whose length is no number, is rejected", async (text, field) => {
  const double = await createDouble();
  const { status, body } = await double.api("POST", "/projects", text);
  expect([status, body.message]).toEqual([400, `${field}: there is no field "toString"`]);
});

test("a compute's pg_settings.__proto__ and a parameter __proto__ are rejected like others", async () => {
  const double = await createDouble();
  const { body: created } = await double.api("POST", "/projects", { project: {} });
  await double.advance("1m");
  const path = `/projects/${created.project.id}/endpoints/${created.endpoints[0].id}`;
  for (const name of ["pg_settings", "pgbouncer_settings"]) {
    const { status, body } = await double.api(
      "PATCH",
      path,
      `{"endpoint":{"settings":{"${name}":{"__proto__":"on"}}}}`,
    );
    expect([status, body.message]).toEqual([
      400,
      `endpoint.settings.${name}.__proto__: there is no field "__proto__"`,
    ]);
  }
  for (const parameter of ["__proto__=1", "__proto__[x]=1", "constructor=1"]) {
    const { status, body } = await double.sim("GET", `/state?${parameter}`);
    const [name] = parameter.split("=");
    expect([status, body.message]).toEqual([400, expect.stringContaining(`there is no field "${name}"`)]);
  }
  for (const name of ["__proto__", "\\u005f_proto__", "__\\u0070roto__"])
    expect((await double.sim("PUT", "/clock", `{"mode":"manual","${name}":1}`)).status, name).toBe(400);
});

test("of two deletions of one world at once, one is 404", async () => {
  const double = await createDouble();
  await double.sim("POST", "/worlds", { name: "side" });
  const answers = await Promise.all([1, 2, 3].map(() => double.sim("DELETE", "/worlds/side")));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  expect((await double.sim("GET", "/worlds/side")).status).toBe(404);
});
