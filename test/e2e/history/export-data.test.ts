import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect, createBranch, startPostgresServer } from "../../support/postgres/postgres.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const ARGS = ["--operations", "immediate", "--clock", "manual"];

/** A server that ends with the test. */
async function start(args: readonly string[], data?: string) {
  const server = await startPostgresServer(args, data);
  onTestFinished(() => server.end());
  return server;
}

test("an export with data has the rows of all branches, and an import brings them back", async () => {
  const server = await start(ARGS);
  const parent = await createBranch(server);
  const run = async (uri: string, ...statements: string[]) => {
    const client = await connect(uri);
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    await client.end();
    return rows;
  };
  await run(parent.uri, "create table names (name text)", "insert into names values ('in both')");
  const { body } = await server.api("POST", `/projects/${parent.projectId}/branches`, {
    branch: { parent_id: parent.branchId },
    endpoints: [{ type: "read_write" }],
  });
  await run(body.connection_uris[0].connection_uri, "insert into names values ('in the child')");
  await run(parent.uri, "insert into names values ('in the parent')");

  const out = join(testDirectory(), "world.sqlite");
  const exportWith = (...options: string[]) => runStandin(["export", server.data, "--out", out, ...options]);
  expect((await exportWith("--with-data")).stderr).toContain("in use by another standin");
  await server.kill("SIGTERM");
  expect((await exportWith("--with-data", "--events")).code).toBe(2);
  expect(await exportWith("--with-data")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${out}.volumes`),
  });

  const elsewhere = join(testDirectory(), "moved.sqlite");
  cpSync(out, elsewhere);
  const without = await runStandin(["import", elsewhere, "--data", testDirectory()]);
  expect([without.code, without.stderr]).toEqual([0, expect.stringContaining("have no data")]);
  expect(
    (await runStandin(["import", out, "--with-data", "--data", server.data, "--world", "copy"])).stderr,
  ).toContain("another world uses it");

  const data = testDirectory();
  const imported = await runStandin(["import", out, "--with-data", "--data", data, "--json"]);
  expect(JSON.parse(imported.stdout)).toMatchObject({ world: "default", data: "imported" });
  expect((await runStandin(["verify", data])).code).toBe(0);
  // Another world that cannot be read prevents no import, and loses nothing by it.
  const beside = testDirectory();
  mkdirSync(join(beside, "worlds"));
  writeFileSync(join(beside, "worlds", "damaged.sqlite"), "not a world");
  expect((await runStandin(["import", out, "--with-data", "--data", beside])).code).toBe(0);
  const second = await runStandin(["import", out, "--with-data", "--data", beside, "--world", "second"]);
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("another world uses it")]);
  // What was imported does not need the exported files any more.
  rmSync(`${out}.volumes`, { recursive: true });
  const again = await start(["--api-key", "key-of-the-copy"], data);
  for (const [branchId, own] of [
    [parent.branchId, "in the parent"],
    [body.branch.id, "in the child"],
  ]) {
    const path = `/projects/${parent.projectId}/branches/${branchId}/roles/neondb_owner/reset_password`;
    expect((await again.api("POST", path)).status).toBe(200);
    const uri = `/projects/${parent.projectId}/connection_uri?branch_id=${branchId}&database_name=neondb&role_name=neondb_owner`;
    const rows = await run((await again.api("GET", uri)).body.uri, "select name from names order by name");
    expect(rows).toEqual([{ name: "in both" }, { name: own }]);
  }
  expect(existsSync(join(data, "volumes"))).toBe(true);
});
