import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createBranch,
  type PostgresServer,
  startPostgresServer,
  type TestBranch,
} from "../../support/postgres/postgres.ts";
import { openUri } from "./clients.ts";
import { SERVER_ARGS } from "./hostile-server.ts";
import { INSTALLATIONS, NEWEST } from "./installations.ts";
import { OBSTACLE_DATABASES, SABOTAGE } from "./places/obstacles.ts";

/** Some wait for limits of time, beside other work of the machine. */
const TIMEOUT = { timeout: 300_000 };

describe.each(INSTALLATIONS)("with Postgres $version,", TIMEOUT, (installation) => {
  const { binDirectory } = installation;
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgresServer([...SERVER_ARGS, "--engine-bin", binDirectory]);
  });
  afterAll(() => server.end());

  /** Calls the API for a branch, below its path. */
  async function call({ projectId, branchId }: TestBranch, method: string, path: string, body?: unknown) {
    const answer = await server.api(
      method,
      `/projects/${projectId}/branches/${branchId}${path}` as string,
      body,
    );
    expect([path, answer.status, answer.body]).toEqual([
      path,
      expect.toBeOneOf([200, 201]),
      expect.anything(),
    ]);
    return answer.body;
  }

  async function suspend({ path }: TestBranch): Promise<void> {
    expect((await server.api("POST", `${path}/suspend`)).status).toBe(200);
  }

  async function rolesOf(uri: string): Promise<string[]> {
    const client = await openUri(uri);
    const { rows } = await client.query("select rolname from pg_roles where oid >= 16384");
    await client.end();
    return rows.map(({ rolname }) => rolname);
  }

  test("no database of a client keeps the API from deleting a role, and none keeps its rows", async () => {
    const branch = await createBranch(server);
    const owner = await openUri(branch.uri);
    await owner.query("create role nobody_much");
    await call(branch, "POST", "/roles", { role: { name: "clerk" } });
    await expect.poll(() => rolesOf(branch.uri)).toContain("clerk");
    for (const { name, alter, create = "" } of OBSTACLE_DATABASES) {
      const quoted = `"${name.replaceAll('"', '""')}"`;
      await owner.query(`create database ${quoted} ${create}`);
      const client = await openUri(branch.uri, { database: name });
      await client.query(
        "create table public.words (word text); insert into public.words values ('hidden'); grant all on public.words to clerk",
      );
      await client.end();
      await owner.query(`alter database ${quoted} ${alter}`);
    }
    await call(branch, "DELETE", "/roles/clerk");
    await expect.poll(() => rolesOf(branch.uri)).not.toContain("clerk");
    await owner.end();
    await suspend(branch);
    expect(await rolesOf(branch.uri)).toContain("neondb_owner");

    const { status, body } = await server.api("POST", `/projects/${branch.projectId}/branches`, {
      branch: { parent_id: branch.branchId, init_source: "schema-only" },
      endpoints: [{ type: "read_write" }],
    });
    expect(status).toBe(201);
    const uri = body.connection_uris[0].connection_uri;
    const reader = await openUri(uri);
    for (const { name } of OBSTACLE_DATABASES) {
      const quoted = `"${name.replaceAll('"', '""')}"`;
      await reader.query(`alter database ${quoted} reset all`);
      await reader.query(`alter database ${quoted} allow_connections true connection limit 5`);
      const client = await openUri(uri, { database: name });
      expect([name, (await client.query("select * from public.words")).rows]).toEqual([name, []]);
      await client.end();
    }
    await reader.end();
  });

  test("no statement of a client keeps the compute from starting, or the API from changing the branch", async () => {
    const branch = await createBranch(server);
    const client = await openUri(branch.uri);
    for (const sql of SABOTAGE) await client.query(sql).catch(() => undefined);
    await client.end();
    await call(branch, "POST", "/roles", { role: { name: "later" } });
    await expect.poll(() => rolesOf(branch.uri)).toContain("later");
    await suspend(branch);
    expect(await rolesOf(branch.uri)).toEqual(expect.arrayContaining(["later", "neondb_owner"]));
    await call(branch, "POST", "/databases", { database: { name: "later", owner_name: "later" } });
    await suspend(branch);
    const { password } = (await call(branch, "POST", "/roles/later/reset_password")).role;
    const later = await openUri(branch.uri, { database: "later", role: "later", password });
    await later.query("create table public.words (word text)");
    await later.end();
    await call(branch, "DELETE", "/databases/later");
    await call(branch, "DELETE", "/roles/later");
    await suspend(branch);
    expect(await rolesOf(branch.uri)).not.toContain("later");
  });

  test.skipIf(!NEWEST.includes(installation))("names that the server uses itself are refused", async () => {
    const { projectId, branchId } = await createBranch(server);
    const path = `/projects/${projectId}/branches/${branchId}`;
    for (const name of ["platform_superuser", "cloud_admin", "pg_mine", "postgres", "public", "none"])
      expect([name, (await server.api("POST", `${path}/roles`, { role: { name } })).status]).toEqual([
        name,
        422,
      ]);
    for (const name of ["postgres", "template0", "template1", "standin_spare"]) {
      const database = { name, owner_name: "neondb_owner" };
      expect([name, (await server.api("POST", `${path}/databases`, { database })).status]).toEqual([
        name,
        422,
      ]);
    }
  });

  test.skipIf(!NEWEST.includes(installation))(
    "a client that holds a lock keeps neither the clock nor a suspend from going on",
    async () => {
      const branch = await createBranch(server);
      const holder = await openUri(branch.uri);
      await holder.query("begin; create role later");
      await call(branch, "POST", "/roles", { role: { name: "later" } });
      expect((await server.sim("POST", "/clock/advance", { by: "10s" })).status).toBe(200);
      expect(await rolesOf(branch.uri)).toContain("neondb_owner");
      await suspend(branch);
      expect(await rolesOf(branch.uri)).toContain("later");
      await holder.end().catch(() => undefined);
    },
  );

  test("a role whose name is no text can be deleted, and the compute starts again", async () => {
    const branch = await createBranch(server);
    const owner = await openUri(branch.uri);
    await owner.query("create database bytes encoding 'SQL_ASCII' locale 'C' template template0");
    const client = await openUri(branch.uri, { database: "bytes" });
    await client.query(`do $$ begin execute E'create role "r\\\\xff" login'; end $$`);
    await client.end();
    await owner.end();
    const { roles } = await call(branch, "GET", "/roles");
    for (const { name } of roles)
      if (name !== "neondb_owner") await call(branch, "DELETE", `/roles/${encodeURIComponent(name)}`);
    await suspend(branch);
    expect(await rolesOf(branch.uri)).toContain("neondb_owner");
  });

  test("two databases exchange their names while the compute is suspended", async () => {
    const branch = await createBranch(server);
    await call(branch, "POST", "/databases", { database: { name: "other", owner_name: "neondb_owner" } });
    const client = await openUri(branch.uri, { database: "other" });
    await client.query("create table public.of_the_other (id int)");
    await client.end();
    await suspend(branch);
    await call(branch, "PATCH", "/databases/neondb", { database: { name: "between" } });
    await call(branch, "PATCH", "/databases/other", { database: { name: "neondb" } });
    await call(branch, "PATCH", "/databases/between", { database: { name: "other" } });
    const again = await openUri(branch.uri, { database: "neondb" });
    expect(
      (await again.query("select to_regclass('public.of_the_other') is not null as found")).rows,
    ).toEqual([{ found: true }]);
    await again.end();
  });

  test("a database is renamed when the client that works with it leaves", async () => {
    const branch = await createBranch(server);
    const client = await openUri(branch.uri);
    await call(branch, "PATCH", "/databases/neondb", { database: { name: "renamed" } });
    await client.end();
    const connects = () =>
      openUri(branch.uri, { database: "renamed" }).then(
        (other) => other.end().then(() => true),
        () => false,
      );
    await expect.poll(connects).toBe(true);
  });
});
