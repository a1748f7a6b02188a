import { readdirSync } from "node:fs";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createBranch, type PostgresServer, startPostgresServer } from "../../support/postgres/postgres.ts";
import { openClient, openUri } from "./clients.ts";
import { SERVER_ARGS } from "./hostile-server.ts";
import { INSTALLATIONS } from "./installations.ts";
import { Observer } from "./observer.ts";

/** More than a cluster has. */
const MANY = 60;

describe.each(INSTALLATIONS)("with Postgres $version,", ({ binDirectory }) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgresServer([...SERVER_ARGS, "--engine-bin", binDirectory]);
  });
  afterAll(() => server.end());

  test("a client that opens replication connections leaves enough for the server and for replicas", async () => {
    const branch = await createBranch(server);
    const clients: Client[] = [];
    for (let count = 0; count < MANY; count += 1) {
      const client = await openUri(branch.uri, { replication: "true" }).catch(() => undefined);
      if (client === undefined) break;
      clients.push(client);
    }
    expect(clients.length).toBeGreaterThan(0);
    expect(clients.length).toBeLessThan(MANY);
    const path = `/projects/${branch.projectId}`;
    await server.api("POST", `${path}/branches/${branch.branchId}/roles`, { role: { name: "clerk" } });
    await server.api("DELETE", `${path}/branches/${branch.branchId}/roles/clerk`);
    const endpoint = { branch_id: branch.branchId, type: "read_only" };
    const { body } = await server.api("POST", `${path}/endpoints`, { endpoint });
    const replica = await openClient(server, {
      project_id: branch.projectId,
      branch_id: branch.branchId,
      endpoint_id: body.endpoint.id,
    });
    // It follows its primary, which is a replication connection, too.
    const owner = await openUri(branch.uri);
    await owner.query("create table public.words (word text)");
    await owner.query("insert into public.words values ('later')");
    const rows = () =>
      replica.query("select word from public.words").then(
        (answer) => answer.rows,
        () => [],
      );
    await expect.poll(rows).toEqual([{ word: "later" }]);
    await owner.end();
    await replica.end();
    for (const client of clients) await client.end().catch(() => undefined);
    expect(server.stderr()).not.toContain("max_wal_senders");
  });

  test("a replication connection writes no file of the machine, and loads no library", async () => {
    const branch = await createBranch(server, { settings: { enable_logical_replication: true } });
    const observer = new Observer();
    onTestFinished(() => observer.remove());
    const client = await openUri(branch.uri, { replication: "database" });
    for (const statement of [
      `BASE_BACKUP (TARGET 'server', TARGET_DETAIL '${observer.directory}/backup')`,
      `CREATE_REPLICATION_SLOT s LOGICAL "${observer.directory}/plugin"`,
      `CREATE_REPLICATION_SLOT s LOGICAL "../../plugin"`,
      `COPY (SELECT 1) TO PROGRAM 'touch ${observer.directory}/program'`,
      `COPY (SELECT 1) TO '${observer.directory}/file'`,
    ])
      await expect(client.query(statement), statement).rejects.toMatchObject({
        code: expect.toBeOneOf(["42501", "58P01", "42602"]),
      });
    expect(readdirSync(observer.directory)).toEqual([]);
    await client.end();
  });

  test("a replication slot that nobody reads does not keep the log for ever", async () => {
    const branch = await createBranch(server);
    const client = await openUri(branch.uri);
    await client.query("select pg_create_physical_replication_slot('kept', true)");
    const { rows } = await client.query(
      "select setting::int as megabytes from pg_settings where name = 'max_slot_wal_keep_size'",
    );
    expect(rows[0].megabytes).toBeGreaterThan(0);
    expect(rows[0].megabytes).toBeLessThanOrEqual(256);
    await client.end();
  });
});
