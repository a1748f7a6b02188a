import { expect, test } from "vitest";
import { parseSeedFile } from "../../../src/scenario/file/seed-file.ts";
import { API_KEY, createDouble, createProject } from "../../support/double.ts";

test.each([
  [{ database_name: "postgres" }, "DATABASE_NAME_NOT_ALLOWED"],
  [{ database_name: "template1" }, "DATABASE_NAME_NOT_ALLOWED"],
  [{ role_name: "postgres" }, "ROLE_NAME_NOT_ALLOWED"],
  [{ role_name: "pg_reader" }, "ROLE_NAME_NOT_ALLOWED"],
])("a project does not begin with %j, as no branch may have it later", async (branch, code) => {
  const double = await createDouble();
  const { status, body } = await double.api("POST", "/projects", { project: { branch } });
  expect([status, body.code]).toEqual([422, code]);
  expect((await double.api("GET", "/projects")).body.projects).toEqual([]);
});

test("a project begins with names that look like reserved ones and are not", async () => {
  const double = await createDouble();
  const branch = { database_name: "postgres2", role_name: "pgreader" };
  expect((await double.api("POST", "/projects", { project: { branch } })).status).toBe(201);
});

test("names in a file of a world have at most 63 bytes, whatever their letters", () => {
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

test("the password of a role that cannot log in is not told, and the reason is the role", async () => {
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
  const answer = (await response.json()) as { message?: string };
  return {
    status: response.status,
    message: answer.message,
    keys: (await double.api("GET", "/api_keys")).body.length as number,
  };
};
const bytes = (...values: number[]) =>
  new Uint8Array([...Buffer.from('{"key_name":"'), ...values, ...Buffer.from('"}')]);

test("text that is not UTF-8 is refused, and nothing is made", async () => {
  expect(await sent(bytes(0xff, 0xfe))).toEqual({
    status: 400,
    message: "the request body is not valid UTF-8",
    keys: 1,
  });
});

test("the character that stands for undecodable bytes may itself be sent", async () => {
  expect(await sent(bytes(0xef, 0xbf, 0xbd))).toMatchObject({ status: 200, keys: 2 });
});

test("a NUL is refused wherever it stands; a backslash before u0000 is none", async () => {
  expect(await sent('{"key_name":"a\\u0000b"}')).toMatchObject({
    status: 400,
    message: expect.stringContaining("NUL"),
    keys: 1,
  });
  expect(await sent('{"key_name":"a\\\\u0000b"}')).toMatchObject({ status: 200, keys: 2 });
  expect(await sent('{"key_name":"a\\\\\\u0000b"}')).toMatchObject({ status: 400, keys: 1 });
});

test("keys are in the journal of requests nowhere, wherever a client put them", async () => {
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
  "%s may name the one action that it strikes, and no other",
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

test("a limit that the world was given is not blamed on the plan", async () => {
  const double = await createDouble({ planLimits: { branches: 1 } });
  const { projectId } = await createProject(double);
  const { body } = await double.api("POST", `/projects/${projectId}/branches`, {});
  expect(body).toMatchObject({
    code: "BRANCHES_LIMIT_EXCEEDED",
    message: "branches limit exceeded: this world allows 1 branches in a project",
  });
});
