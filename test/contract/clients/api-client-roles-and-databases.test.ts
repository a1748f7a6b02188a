import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// The public client against `standin serve`: roles and databases.

const { advance, client } = await startServedClient();

const BUSY = {
  status: 423,
  code: "OPERATIONS_IN_PROGRESS",
  message: expect.stringMatching(
    /^project already has running conflicting operations, scheduling of new ones is prohibited/,
  ),
};
const settle = () => advance("10s");

/** The answer of a call, after its operations have finished. */
async function settled<T>(call: Promise<{ readonly data: T }>): Promise<T> {
  const { data } = await call;
  await settle();
  return data;
}

/** The arguments that name the branch of a new project, and those that name its compute. */
async function createShop(project: { store_passwords?: boolean } = {}) {
  const created = await settled(client.createProject({ project }));
  return { at: [created.project.id, created.branch.id] as const, endpointId: created.endpoints[0]?.id ?? "" };
}

test("a role has a password, which can be revealed, reset and used to connect", async () => {
  const { at } = await createShop();
  const created = await client.createProjectBranchRole(...at, { role: { name: "alice" } });
  expect(created.status).toBe(201);
  const { role, operations } = created.data;
  expect(role).toMatchObject({
    name: "alice",
    branch_id: at[1],
    password: expect.stringMatching(/^\S{8,}$/),
    protected: false,
  });
  expect(operations.map(({ action, status }) => `${action} ${status}`)).toEqual(["apply_config running"]);
  await settle();
  expect((await client.getProjectBranchRole(...at, "alice")).data.role).not.toHaveProperty("password");
  expect((await client.getProjectBranchRolePassword(...at, "alice")).data.password).toBe(role.password);
  const reset = await settled(client.resetProjectBranchRolePassword(...at, "alice"));
  expect(reset.role.password).not.toBe(role.password);
  const { uri } = (
    await client.getConnectionUri({ projectId: at[0], database_name: "neondb", role_name: "alice" })
  ).data;
  expect(new URL(uri)).toMatchObject({ username: "alice", password: reset.role.password });
});

test("a role needs a free name that is not reserved; a role that cannot log in has no password", async () => {
  const { at } = await createShop();
  expect(await errorOf(client.createProjectBranchRole(...at, { role: { name: "neondb_owner" } }))).toEqual({
    status: 409,
    code: "ROLE_ALREADY_EXISTS",
    message: 'role already exists; role_name:"neondb_owner"',
  });
  expect(await errorOf(client.createProjectBranchRole(...at, { role: { name: "pg_me" } }))).toEqual({
    status: 422,
    code: "ROLE_NAME_NOT_ALLOWED",
    message: 'role.name: "pg_me" is reserved by the platform',
  });
  const { role } = await settled(
    client.createProjectBranchRole(...at, { role: { name: "readers", no_login: true } }),
  );
  expect(role).not.toHaveProperty("password");
  expect(await errorOf(client.resetProjectBranchRolePassword(...at, "readers"))).toEqual({
    status: 422,
    code: "ROLE_HAS_NO_PASSWORD",
    message: 'role "readers" cannot log in and has no password',
  });
});

test("passwords that a project does not store are shown only once", async () => {
  const { at } = await createShop({ store_passwords: false });
  const { role } = await settled(client.createProjectBranchRole(...at, { role: { name: "alice" } }));
  expect(role.password).toMatch(/^\S{8,}$/);
  const refused = { status: 412, code: "PASSWORDS_NOT_STORED" };
  expect(await errorOf(client.getProjectBranchRolePassword(...at, "alice"))).toMatchObject(refused);
  expect(
    await errorOf(client.getConnectionUri({ projectId: at[0], database_name: "neondb", role_name: "alice" })),
  ).toMatchObject(refused);
});

test("a database can be created, given a new owner, renamed and deleted; its owner cannot be deleted before it", async () => {
  const { at } = await createShop();
  await settled(client.createProjectBranchRole(...at, { role: { name: "alice" } }));
  const created = await client.createProjectBranchDatabase(...at, {
    database: { name: "app", owner_name: "alice" },
  });
  expect(created.status).toBe(201);
  expect(created.data.database).toMatchObject({ name: "app", owner_name: "alice", branch_id: at[1] });
  await settle();
  expect(await errorOf(client.deleteProjectBranchRole(...at, "alice"))).toEqual({
    status: 422,
    code: "ROLE_OWNS_DATABASE",
    message: 'role "alice" owns the database "app"; give that another owner or delete it first',
  });
  const change = { database: { name: "shop", owner_name: "neondb_owner" } };
  const { database } = await settled(client.updateProjectBranchDatabase(...at, "app", change));
  expect(database).toMatchObject({ id: created.data.database.id, ...change.database });
  expect((await client.getProjectBranchDatabase(...at, "shop")).data.database).toEqual(database);
  expect((await settled(client.deleteProjectBranchRole(...at, "alice"))).role.name).toBe("alice");
  expect((await settled(client.deleteProjectBranchDatabase(...at, "shop"))).database.name).toBe("shop");
  expect((await client.listProjectBranchDatabases(...at)).data.databases.map(({ name }) => name)).toEqual([
    "neondb",
  ]);
  expect((await client.listProjectBranchRoles(...at)).data.roles.map(({ name }) => name)).toEqual([
    "neondb_owner",
  ]);
  const missing = { status: 404, code: "DATABASE_NOT_FOUND", message: 'database "shop" not found' };
  expect(await errorOf(client.deleteProjectBranchDatabase(...at, "shop"))).toEqual(missing);
  expect(await errorOf(client.updateProjectBranchDatabase(...at, "shop", change))).toEqual(missing);
  expect(await errorOf(client.deleteProjectBranchRole(...at, "alice"))).toMatchObject({
    status: 404,
    code: "ROLE_NOT_FOUND",
  });
});

test("a database needs a free name and an existing owner", async () => {
  const { at } = await createShop();
  const create = (name: string, owner_name: string) =>
    client.createProjectBranchDatabase(...at, { database: { name, owner_name } });
  expect(await errorOf(create("neondb", "neondb_owner"))).toEqual({
    status: 409,
    code: "DATABASE_ALREADY_EXISTS",
    message: 'database already exists; database_name:"neondb"',
  });
  expect(await errorOf(create("app", "nobody"))).toMatchObject({ status: 404, code: "ROLE_NOT_FOUND" });
  expect(await errorOf(create("postgres", "neondb_owner"))).toMatchObject({
    status: 422,
    code: "DATABASE_NAME_NOT_ALLOWED",
  });
});

test("changing roles and databases starts an idle compute and makes the project busy", async () => {
  const { at, endpointId } = await createShop();
  await settled(client.suspendProjectEndpoint(at[0], endpointId));
  const { data } = await client.createProjectBranchDatabase(...at, {
    database: { name: "app", owner_name: "neondb_owner" },
  });
  expect(data.operations.map(({ action }) => action)).toEqual(["start_compute", "apply_config"]);
  const changes = [
    () => client.createProjectBranchRole(...at, { role: { name: "alice" } }),
    () => client.resetProjectBranchRolePassword(...at, "neondb_owner"),
    () => client.deleteProjectBranchDatabase(...at, "neondb"),
    () => client.updateProjectBranchDatabase(...at, "neondb", { database: { name: "other" } }),
  ];
  for (const change of changes) expect(await errorOf(change())).toEqual(BUSY);
  await settle();
  expect((await client.getProjectEndpoint(at[0], endpointId)).data.endpoint.current_state).toBe("active");
});
