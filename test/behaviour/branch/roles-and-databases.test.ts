import { expect, test } from "vitest";
import type { ApiResponse } from "../../support/answers/api-response.ts";
import {
  computeState,
  createBranch,
  describeOperations,
  suspendCompute,
  updateCompute,
  worldState,
} from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

async function createShop(project: Record<string, unknown> = {}) {
  const double = await createDouble();
  const { projectId, branchId, path: endpoint } = await createProject(double, project);
  const path = `/projects/${projectId}/branches/${branchId}`;
  return { double, projectId, branchId, endpoint, path };
}

/** Sends a request and waits for its operations. */
async function done(double: Double, method: string, path: string, body?: unknown): Promise<ApiResponse> {
  const response = await double.api(method, path, body);
  await double.advance("10s");
  return response;
}

const createRole = (double: Double, path: string, name: string, fields = {}) =>
  done(double, "POST", `${path}/roles`, { role: { name, ...fields } });
const createDatabase = (double: Double, path: string, name: string, owner_name = "neondb_owner") =>
  done(double, "POST", `${path}/databases`, { database: { name, owner_name } });
const codeOf = ({ status, body }: ApiResponse) => [status, body.code];

test("a new role has a password, which is shown at creation and can be revealed later", async () => {
  const { double, branchId, path } = await createShop();
  const { status, body } = await double.api("POST", `${path}/roles`, { role: { name: "alice" } });
  expect(status).toBe(201);
  expect(body.role).toMatchObject({
    branch_id: branchId,
    name: "alice",
    password: expect.stringMatching(/^npg_/),
    protected: false,
  });
  expect(describeOperations(body)).toEqual(["apply_config running"]);
  await double.advance("10s");
  expect((await double.api("GET", `${path}/roles/alice/reveal_password`)).body.password).toBe(
    body.role.password,
  );
  expect((await double.api("GET", `${path}/roles/alice`)).body.role).not.toHaveProperty("password");
});

test("a role that cannot log in has no password", async () => {
  const { double, path } = await createShop();
  const { body } = await createRole(double, path, "readers", { no_login: true });
  expect(body.role).not.toHaveProperty("password");
  expect(codeOf(await double.api("GET", `${path}/roles/readers/reveal_password`))).toEqual([
    422,
    "ROLE_HAS_NO_PASSWORD",
  ]);
  expect(codeOf(await double.api("POST", `${path}/roles/readers/reset_password`))).toEqual([
    422,
    "ROLE_HAS_NO_PASSWORD",
  ]);
});

test("a password reset replaces the password in all connection URIs", async () => {
  const { double, projectId, path } = await createShop();
  const uri = async () =>
    new URL(
      (
        await double.api(
          "GET",
          `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner`,
        )
      ).body.uri,
    ).password;
  const previous = await uri();
  const { status, body } = await done(double, "POST", `${path}/roles/neondb_owner/reset_password`);
  expect([status, describeOperations(body)]).toEqual([200, ["apply_config running"]]);
  expect(body.role.password).not.toBe(previous);
  expect(await uri()).toBe(body.role.password);
  expect((await double.api("GET", `${path}/roles/neondb_owner/reveal_password`)).body.password).toBe(
    body.role.password,
  );
});

test("without stored passwords, the password of a new or reset role is shown only once", async () => {
  const { double, path } = await createShop({ store_passwords: false });
  expect((await createRole(double, path, "alice")).body.role.password).toMatch(/^npg_/);
  expect((await done(double, "POST", `${path}/roles/alice/reset_password`)).body.role.password).toMatch(
    /^npg_/,
  );
  expect(codeOf(await double.api("GET", `${path}/roles/alice/reveal_password`))).toEqual([
    412,
    "PASSWORDS_NOT_STORED",
  ]);
});

test("deleting a role returns it as it was; a role that owns a database cannot be deleted", async () => {
  const { double, path } = await createShop();
  await createRole(double, path, "alice");
  await createDatabase(double, path, "shop", "alice");
  const refused = await double.api("DELETE", `${path}/roles/alice`);
  expect(codeOf(refused)).toEqual([422, "ROLE_OWNS_DATABASE"]);
  expect(refused.body.message).toContain('"shop"');
  await done(double, "PATCH", `${path}/databases/shop`, { database: { owner_name: "neondb_owner" } });
  const { status, body } = await done(double, "DELETE", `${path}/roles/alice`);
  expect([status, body.role.name]).toEqual([200, "alice"]);
  expect(codeOf(await double.api("GET", `${path}/roles/alice`))).toEqual([404, "ROLE_NOT_FOUND"]);
});

test("a database is owned by a role of its branch; it can change its owner and its name", async () => {
  const { double, branchId, path } = await createShop();
  await createRole(double, path, "alice");
  const { status, body } = await createDatabase(double, path, "shop", "alice");
  expect([status, describeOperations(body)]).toEqual([201, ["apply_config running"]]);
  expect(body.database).toMatchObject({ branch_id: branchId, name: "shop", owner_name: "alice" });
  const changed = await done(double, "PATCH", `${path}/databases/shop`, {
    database: { name: "store", owner_name: "neondb_owner" },
  });
  expect(changed.body.database).toMatchObject({
    id: body.database.id,
    name: "store",
    owner_name: "neondb_owner",
  });
  expect(codeOf(await double.api("GET", `${path}/databases/shop`))).toEqual([404, "DATABASE_NOT_FOUND"]);
  const deleted = await done(double, "DELETE", `${path}/databases/store`);
  expect([deleted.status, deleted.body.database.name]).toEqual([200, "store"]);
  expect(
    (await double.api("GET", `${path}/databases`)).body.databases.map(({ name }: { name: string }) => name),
  ).toEqual(["neondb"]);
});

test.each<[string, string, string, unknown, unknown[]]>([
  [
    "a role's name that is taken",
    "POST",
    "/roles",
    { role: { name: "neondb_owner" } },
    [409, "ROLE_ALREADY_EXISTS"],
  ],
  [
    "a role's name that is Postgres' own",
    "POST",
    "/roles",
    { role: { name: "pg_monitor" } },
    [422, "ROLE_NAME_NOT_ALLOWED"],
  ],
  [
    "a database's name that is taken",
    "POST",
    "/databases",
    { database: { name: "neondb", owner_name: "neondb_owner" } },
    [409, "DATABASE_ALREADY_EXISTS"],
  ],
  [
    "a database's name that is Postgres' own",
    "POST",
    "/databases",
    { database: { name: "template1", owner_name: "neondb_owner" } },
    [422, "DATABASE_NAME_NOT_ALLOWED"],
  ],
  [
    "an owner who is not there",
    "POST",
    "/databases",
    { database: { name: "shop", owner_name: "nobody" } },
    [404, "ROLE_NOT_FOUND"],
  ],
  [
    "a new owner who is not there",
    "PATCH",
    "/databases/neondb",
    { database: { owner_name: "nobody" } },
    [404, "ROLE_NOT_FOUND"],
  ],
  ["an unknown role", "DELETE", "/roles/nobody", undefined, [404, "ROLE_NOT_FOUND"]],
  [
    "the password of an unknown role",
    "POST",
    "/roles/nobody/reset_password",
    undefined,
    [404, "ROLE_NOT_FOUND"],
  ],
  ["a database that is not there", "DELETE", "/databases/nothing", undefined, [404, "DATABASE_NOT_FOUND"]],
  ["a role without a name", "POST", "/roles", { role: {} }, [400, "BAD_REQUEST"]],
  [
    "a name longer than 63",
    "POST",
    "/databases",
    { database: { name: "x".repeat(64), owner_name: "neondb_owner" } },
    [400, "BAD_REQUEST"],
  ],
])("%s is rejected and changes nothing", async (_, method, path, body, refusal) => {
  const shop = await createShop();
  const before = await worldState(shop.double);
  expect(codeOf(await shop.double.api(method, `${shop.path}${path}`, body))).toEqual(refusal);
  expect(await worldState(shop.double)).toBe(before);
});

test("names have at most 63 bytes in UTF-8, including generated ones", async () => {
  const { double, projectId, path } = await createShop();
  const [fits, tooLong] = [`${"é".repeat(31)}x`, "é".repeat(32)];
  expect((await createRole(double, path, fits)).status).toBe(201);
  expect((await createDatabase(double, path, fits, fits)).status).toBe(201);
  const project = (branch: object) => done(double, "POST", "/projects", { project: { branch } });
  const jwks = { jwks_url: "https://issuer.example/jwks", provider_name: "issuer", role_names: [tooLong] };
  const refused: [ApiResponse, string][] = [
    [await createRole(double, path, tooLong), "role.name"],
    [await createDatabase(double, path, tooLong, fits), "database.name"],
    [
      await done(double, "PATCH", `${path}/databases/${fits}`, { database: { name: tooLong } }),
      "database.name",
    ],
    [await project({ role_name: tooLong }), "project.branch.role_name"],
    [await project({ role_name: fits, database_name: tooLong }), "project.branch.database_name"],
    [await done(double, "POST", `/projects/${projectId}/jwks`, jwks), "role_names.0"],
  ];
  for (const [{ status, body }, field] of refused)
    expect([status, body.message]).toEqual([400, `${field}: must be at most 63 bytes long`]);
  // The generated owner name is six bytes longer.
  expect(codeOf(await project({ database_name: "x".repeat(58) }))).toEqual([422, "ROLE_NAME_NOT_ALLOWED"]);
  expect((await project({ database_name: "x".repeat(57) })).status).toBe(201);
});

test("renaming to a name in use is rejected; renaming to the own name is allowed", async () => {
  const { double, path } = await createShop();
  await createDatabase(double, path, "shop");
  expect(
    codeOf(await double.api("PATCH", `${path}/databases/shop`, { database: { name: "neondb" } })),
  ).toEqual([409, "DATABASE_ALREADY_EXISTS"]);
  expect((await done(double, "PATCH", `${path}/databases/shop`, { database: { name: "shop" } })).status).toBe(
    200,
  );
});

test("roles and databases belong to their branch: another branch may have the same names", async () => {
  const { double, projectId, path } = await createShop();
  const child = await createBranch(double, projectId, [{ type: "read_write" }]);
  await createRole(double, path, "alice");
  const onChild = `/projects/${projectId}/branches/${child.branchId}`;
  expect(codeOf(await double.api("GET", `${onChild}/roles/alice`))).toEqual([404, "ROLE_NOT_FOUND"]);
  expect((await createRole(double, onChild, "alice")).status).toBe(201);
});

test("a busy project rejects changes of roles and databases with 423; other errors come first", async () => {
  const { double, projectId, path } = await createShop();
  await double.api("POST", `/projects/${projectId}/branches`);
  const before = await worldState(double);
  const BUSY = [423, "OPERATIONS_IN_PROGRESS"];
  expect(codeOf(await double.api("POST", `${path}/roles`, { role: { name: "alice" } }))).toEqual(BUSY);
  expect(codeOf(await double.api("POST", `${path}/roles/neondb_owner/reset_password`))).toEqual(BUSY);
  expect(
    codeOf(
      await double.api("POST", `${path}/databases`, {
        database: { name: "shop", owner_name: "neondb_owner" },
      }),
    ),
  ).toEqual(BUSY);
  expect(
    codeOf(await double.api("PATCH", `${path}/databases/neondb`, { database: { name: "shop" } })),
  ).toEqual(BUSY);
  expect(codeOf(await double.api("DELETE", `${path}/databases/neondb`))).toEqual(BUSY);
  expect(codeOf(await double.api("POST", `${path}/roles`, { role: { name: "neondb_owner" } }))).toEqual([
    409,
    "ROLE_ALREADY_EXISTS",
  ]);
  expect(await worldState(double)).toBe(before);
});

test("an idle primary starts to apply a change and suspends again after its delay", async () => {
  const { double, endpoint, path } = await createShop();
  await suspendCompute(double, endpoint);
  const { body } = await double.api("POST", `${path}/roles`, { role: { name: "alice" } });
  expect(describeOperations(body)).toEqual(["start_compute running", "apply_config scheduling"]);
  await double.advance("10s");
  expect(await computeState(double, endpoint)).toBe("active");
  await double.advance("6m");
  expect(await computeState(double, endpoint)).toBe("idle");
});

test("without a primary that can start, a change applies without operations", async () => {
  const { double, projectId, endpoint, path } = await createShop();
  const child = await createBranch(double, projectId);
  const onChild = await double.api("POST", `/projects/${projectId}/branches/${child.branchId}/roles`, {
    role: { name: "alice" },
  });
  expect([onChild.status, onChild.body.operations]).toEqual([201, []]);
  await updateCompute(double, endpoint, { disabled: true });
  const disabled = await double.api("POST", `${path}/roles`, { role: { name: "alice" } });
  expect([disabled.status, disabled.body.operations]).toEqual([201, []]);
  expect((await double.api("GET", `${path}/roles/alice`)).status).toBe(200);
});
