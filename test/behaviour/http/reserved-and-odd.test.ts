import { expect, test } from "vitest";
import { parseSeedFile } from "../../../src/scenario/file/seed-schema.ts";
import { withReason } from "../../support/answers/with-reason.ts";
import { API_KEY, createDouble, createProject } from "../../support/double/double.ts";

test.each([
  [{ database_name: "postgres" }, "DATABASE_NAME_NOT_ALLOWED"],
  [{ database_name: "template1" }, "DATABASE_NAME_NOT_ALLOWED"],
  [{ role_name: "postgres" }, "ROLE_NAME_NOT_ALLOWED"],
  [{ role_name: "pg_reader" }, "ROLE_NAME_NOT_ALLOWED"],
])("a project cannot be created with %j, which is not allowed later either", async (branch, code) => {
  const double = await createDouble();
  const { status, body } = await double.api("POST", "/projects", { project: { branch } });
  expect([status, body.code]).toEqual([422, code]);
  expect((await double.api("GET", "/projects")).body.projects).toEqual([]);
});

test("a project can be created with names that only resemble reserved ones", async () => {
  const double = await createDouble();
  const branch = { database_name: "postgres2", role_name: "pgreader" };
  expect((await double.api("POST", "/projects", { project: { branch } })).status).toBe(201);
});

test("names in a seed file have at most 63 bytes, whatever their characters", () => {
  const fileWith = (role: string) => () =>
    parseSeedFile(
      JSON.stringify({
        version: 1,
        accounts: [{ id: "acme", projects: [{ id: "shop", role, database: "shop" }] }],
      }),
      "w.json",
    );
  expect(fileWith(`${"é".repeat(31)}x`)).not.toThrow();
  expect(fileWith("é".repeat(32))).toThrow("must be at most 63 bytes long");
});

test("the password of a role that cannot log in is not returned, and the error names the role", async () => {
  const double = await createDouble();
  const { projectId, branchId } = await createProject(double);
  const roles = `/projects/${projectId}/branches/${branchId}/roles`;
  await double.api("POST", roles, { role: { name: "group", no_login: true } });
  const { status, body } = await double.api("GET", `${roles}/group/reveal_password`);
  expect([status, body.message]).toEqual([422, 'role "group" cannot log in and has no password']);
});

const sent = async (body: string | Uint8Array<ArrayBuffer>) => {
  const double = await createDouble();
  const headers = { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" };
  const response = await double.fetch(
    new Request("http://localhost/api/v2/api_keys", { method: "POST", headers, body }),
  );
  const responseBody = withReason(
    response.status,
    (name) => response.headers.get(name),
    (await response.json()) as { message?: string },
  );
  return {
    status: response.status,
    message: responseBody.message,
    keys: (await double.api("GET", "/api_keys")).body.length as number,
  };
};
const bytes = (...values: number[]) =>
  new Uint8Array([...Buffer.from('{"key_name":"'), ...values, ...Buffer.from('"}')]);

test("text that is not UTF-8 is rejected, and nothing is created", async () => {
  expect(await sent(bytes(0xff, 0xfe))).toEqual({
    status: 400,
    message: "the request body is not valid UTF-8",
    keys: 1,
  });
});

test("the replacement character itself is allowed", async () => {
  expect(await sent(bytes(0xef, 0xbf, 0xbd))).toMatchObject({ status: 200, keys: 2 });
});

test("a NUL is rejected anywhere; an escaped backslash before u0000 is allowed", async () => {
  expect(await sent('{"key_name":"a\\u0000b"}')).toMatchObject({
    status: 400,
    message: expect.stringContaining("NUL"),
    keys: 1,
  });
  expect(await sent('{"key_name":"a\\\\u0000b"}')).toMatchObject({ status: 200, keys: 2 });
  expect(await sent('{"key_name":"a\\\\\\u0000b"}')).toMatchObject({ status: 400, keys: 1 });
});

test("keys never appear in the request log, wherever a client puts them", async () => {
  const double = await createDouble();
  const { key } = (await double.api("POST", "/api_keys", { key_name: "ci" })).body;
  await double.api("GET", `/projects?search=${key}`);
  await double.api("GET", `/projects/${key}`);
  await double.api("POST", "/api_keys", { key_name: `my ${key.slice(0, 64)}` });
  await double.api("POST", "/projects", { project: { name: key } });
  await double.api("POST", "/projects", {
    project: { pwd: "hush", private_key: "hush", passphrase: "hush", bearer: "hush" },
  });
  const { requests } = (await double.sim("GET", "/requests")).body;
  expect(requests.length).toBeGreaterThanOrEqual(6);
  expect(JSON.stringify(requests)).not.toContain(key);
  expect(JSON.stringify(requests)).not.toContain("hush");
});

test.each(["start_fails", "start_slower"])(
  "%s can name only the action that it applies to",
  async (effect) => {
    const double = await createDouble();
    const put = (action: string) =>
      double.sim("PUT", "/faults/slow", {
        on: { action },
        effect: { [effect]: effect === "start_slower" ? { by: "1s" } : {} },
      });
    expect((await put("start_compute")).status).toBe(200);
    const { status, body } = await put("suspend_compute");
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining(`${effect} applies only to start_compute, not to suspend_compute`),
    ]);
  },
);

test("the error for a limit of the world does not name the plan", async () => {
  const double = await createDouble({ planLimits: { branches: 1 } });
  const { projectId } = await createProject(double);
  const { body } = await double.api("POST", `/projects/${projectId}/branches`, {});
  expect(body).toMatchObject({
    code: "BRANCHES_LIMIT_EXCEEDED",
    message: "branches limit exceeded: this world allows 1 branches in a project",
  });
});
