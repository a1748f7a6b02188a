import type pg from "pg";
import { expect, test } from "vitest";
import { connect, createBranch, serverForTests } from "../support/postgres/postgres.ts";

// The API and SQL see each other's roles and databases once a change was answered.

const PASSWORD = "Password-of-shared-1";
const ROUNDS = 5;

const server = await serverForTests();
const branch = await createBranch(server);
const api = `/projects/${branch.projectId}/branches/${branch.branchId}`;

/** A client of the compute, or of its pooler. */
function owner(kind: "direct" | "pooled" = "direct"): Promise<pg.Client> {
  const url = new URL(branch.uri);
  if (kind === "pooled") url.searchParams.set("options", `endpoint=${branch.endpointId}-pooler`);
  return connect(url.href);
}

async function names(list: "roles" | "databases"): Promise<string[]> {
  const { body } = await server.api("GET", `${api}/${list}`);
  return body[list].map(({ name }: { name: string }) => name);
}

async function login(role: string, password: string): Promise<string> {
  const url = new URL(branch.uri);
  [url.username, url.password] = [role, password];
  const client = await connect(url.href);
  const { rows } = await client.query("select current_user::text as me");
  await client.end();
  return rows[0].me;
}

test.each(["direct", "pooled"] as const)(
  "the API lists what SQL of a %s client has changed",
  async (kind) => {
    const client = await owner(kind);
    for (let round = 0; round < ROUNDS; round += 1) {
      const [role, database] = [`${kind}_role_${round}`, `${kind}_${round}`];
      await client.query(`create role ${role} login password '${PASSWORD}'`);
      expect(await names("roles")).toContain(role);
      await client.query(`alter role ${role} rename to ${role}_renamed`);
      expect(await names("roles")).not.toContain(role);
      expect((await server.api("POST", `${api}/roles/${role}/reset_password`)).status).toBe(404);
      await client.query(`create database ${database} owner neondb_owner`);
      const created = { database: { name: database, owner_name: "neondb_owner" } };
      expect((await server.api("POST", `${api}/databases`, created)).status).toBe(409);
      await client.query(`drop database ${database}`);
      expect(await names("databases")).not.toContain(database);
      // Several statements at once, and a transaction.
      await client.query(`create role ${role}_a; create role ${role}_b; select 1`);
      await client.query("begin");
      await client.query(`drop role ${role}_a`);
      await client.query("commit");
      expect(await names("roles")).not.toContain(`${role}_a`);
      await client.query(`drop role ${role}_b; drop role ${role}_renamed`);
      expect(await names("roles")).toEqual(["neondb_owner"]);
      expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    }
  },
);

test("the API shows the owner to whom SQL has reassigned databases", async () => {
  const client = await owner();
  await client.query("create role heir; grant heir to neondb_owner");
  await client.query("create role testator; grant testator to neondb_owner");
  await client.query("create database estate owner testator");
  await client.query("reassign owned by testator to heir");
  const { body } = await server.api("GET", `${api}/databases/estate`);
  expect(body.database.owner_name).toBe("heir");
  await client.query("drop database estate");
  await client.query("drop role heir, testator");
});

test("SQL sees what the API has answered", async () => {
  const client = await owner();
  const count = async (table: string, column: string, name: string) =>
    (await client.query(`select from ${table} where ${column} = $1`, [name])).rowCount;
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `answered_${round}`;
    const role = await server.api("POST", `${api}/roles`, { role: { name } });
    expect(await count("pg_roles", "rolname", name)).toBe(1);
    await expect(client.query(`create role ${name}`)).rejects.toMatchObject({ code: "42710" });
    expect(await login(name, role.body.role.password)).toBe(name);
    await server.api("POST", `${api}/databases`, { database: { name, owner_name: name } });
    expect(await count("pg_database", "datname", name)).toBe(1);
    await server.api("DELETE", `${api}/databases/${name}`);
    expect(await count("pg_database", "datname", name)).toBe(0);
    await server.api("DELETE", `${api}/roles/${name}`);
    expect(await count("pg_roles", "rolname", name)).toBe(0);
  }
});

test("a role that the API and SQL create at the same time has the password that the API has answered", async () => {
  const client = await owner();
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    const name = `twice_${round}`;
    const [created] = await Promise.all([
      server.api("POST", `${api}/roles`, { role: { name } }),
      client.query(`create role ${name}`).catch(() => undefined),
    ]);
    expect([201, 409]).toContain(created.status);
    if (created.status === 201) expect(await login(name, created.body.role.password)).toBe(name);
    expect((await server.api("DELETE", `${api}/roles/${name}`)).status).toBe(200);
  }
});

test("a database that the API and SQL create at the same time exists once, and without errors of the server", async () => {
  const client = await owner();
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    const name = `twice_${round}`;
    const database = { name, owner_name: "neondb_owner" };
    const [created] = await Promise.all([
      server.api("POST", `${api}/databases`, { database }),
      client.query(`create database ${name}`).catch(() => undefined),
    ]);
    expect([201, 409]).toContain(created.status);
    expect((await client.query("select from pg_database where datname = $1", [name])).rowCount).toBe(1);
    expect((await server.api("DELETE", `${api}/databases/${name}`)).status).toBe(200);
  }
  expect(server.stderr()).not.toContain("could not be");
});

test("a transaction that locks roles delays an answer of the API for two seconds at most", async () => {
  const client = await owner();
  await client.query("create role locked_here");
  await client.query("begin");
  await client.query("alter role locked_here connection limit 1");
  const started = performance.now();
  const answer = await server.api("DELETE", `${api}/roles/locked_here`);
  expect(answer.status).toBe(200);
  expect(performance.now() - started).toBeLessThan(4_000);
  await client.query("commit");
  await expect
    .poll(async () => (await client.query("select from pg_roles where rolname = 'locked_here'")).rowCount, {
      timeout: 15_000,
    })
    .toBe(0);
});
