import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBranch, type PostgresServer, startPostgresServer } from "../../support/postgres/postgres.ts";
import { openUri } from "./clients.ts";
import { SERVER_ARGS } from "./hostile-server.ts";
import { INSTALLATIONS } from "./installations.ts";
import { excessiveRights } from "./judge.ts";
import { Observer } from "./observer.ts";
import { CLOSED_DOORS } from "./places/closed-doors.ts";

/** Not possible within a transaction. */
const ALONE = /^(alter system|create tablespace|(create|drop) database)/;

describe.each(INSTALLATIONS)("with Postgres $version,", ({ binDirectory, version }) => {
  const observer = new Observer();
  let server: PostgresServer;
  let uri: string;

  beforeAll(async () => {
    server = await startPostgresServer([...SERVER_ARGS, "--engine-bin", binDirectory]);
    uri = (await createBranch(server)).uri;
    const client = await openUri(uri);
    await client.query(observer.sql);
    await client.query("create table adversary.words (word text)");
    await client.end();
  });
  afterAll(async () => {
    await server.end();
    observer.remove();
  });

  async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
    const client = await openUri(uri);
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  }

  test("a client that tries every way to more rights gets none of them", async () => {
    const secret = join(observer.directory, "secret");
    writeFileSync(secret, "a file of the machine");
    const opened: string[] = [];
    await withClient(async (client) => {
      for (const { sql, code, since } of CLOSED_DOORS) {
        if (version < since) continue;
        const statement = sql.replaceAll("CANARY", observer.directory).replaceAll("SECRET", secret);
        const outcome = await client.query(ALONE.test(sql) ? statement : `begin; ${statement}`).then(
          () => "accepted",
          (error) => error.code as string,
        );
        await client.query("rollback");
        if (outcome !== code) opened.push(`${sql}: ${outcome}`);
      }
    });
    expect(opened).toEqual([]);
    expect(readdirSync(observer.directory)).toEqual(["secret"]);
    expect(await withClient(excessiveRights)).toEqual([]);
  });
});
