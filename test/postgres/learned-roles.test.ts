import type pg from "pg";
import { expect, test } from "vitest";
import { connect, createBranch, serverForTests } from "../support/postgres/postgres.ts";

// What SQL changes of roles takes effect once, and as in Postgres.

const PASSWORD = "Password-of-learned-1";

const server = await serverForTests();
const branch = await createBranch(server);
const api = `/projects/${branch.projectId}/branches/${branch.branchId}`;

async function login(role: string, password = PASSWORD): Promise<string> {
  const url = new URL(branch.uri);
  [url.username, url.password] = [role, password];
  try {
    return (await (await connect(url.href)).query("select current_user::text as me")).rows[0].me;
  } catch (error) {
    return (error as pg.DatabaseError).code ?? String(error);
  }
}

/** The number of events that concern roles. */
async function eventsOfRoles(): Promise<number> {
  const { body } = await server.sim("GET", "/events?limit=10000");
  return body.events.filter(({ type }: { type: string }) => type.startsWith("Role")).length;
}

/** A loop would make more than five events a second. */
async function expectNoMoreEvents(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const before = await eventsOfRoles();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await eventsOfRoles()).toBe(before);
}

test.each([
  {
    name: "can log in, and has a password",
    role: "ann",
    statements: ["create role @", `alter role @ login password '${PASSWORD}'`],
    expected: "me",
  },
  {
    name: "can log in, and had a password",
    role: "ben",
    statements: [`create role @ nologin password '${PASSWORD}'`, "alter role @ login"],
    expected: "me",
  },
  {
    name: "cannot log in any more",
    role: "cem",
    statements: [`create role @ login password '${PASSWORD}'`, "alter role @ nologin"],
    expected: "28P01",
  },
  {
    name: "has no password any more",
    role: "dan",
    statements: [`create role @ login password '${PASSWORD}'`, "alter role @ password null"],
    expected: "28P01",
  },
  {
    name: "cannot log in for some time",
    role: "eve",
    statements: [`create role @ login password '${PASSWORD}'`, "alter role @ nologin", "alter role @ login"],
    expected: "me",
  },
])("a role that $name does so after one event for each statement", async ({ role, statements, expected }) => {
  const client = await connect(branch.uri);
  for (const statement of statements) {
    await client.query(statement.replace("@", role));
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  expect(await login(role)).toBe(expected === "me" ? role : expected);
  await expectNoMoreEvents();
  await client.query(`drop role ${role}`);
});

test("the API shows whether a role can log in", async () => {
  const client = await connect(branch.uri);
  const isRejected = async () =>
    (await server.api("POST", `${api}/roles/shown/reset_password`)).status !== 200;
  await client.query(`create role shown login password '${PASSWORD}'`);
  await client.query("alter role shown nologin");
  await expect.poll(isRejected, { timeout: 10_000 }).toBe(true);
  await client.query("alter role shown login");
  await expect.poll(isRejected, { timeout: 10_000 }).toBe(false);
  await client.query("drop role shown");
});
