import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createBranch,
  type PostgresServer,
  startPostgresServer,
  type TestBranch,
} from "../../support/postgres/postgres.ts";
import { openUri } from "./clients.ts";
import { SERVER_ARGS } from "./hostile-server.ts";
import { INSTALLATIONS } from "./installations.ts";
import { HIDING_PLACES, type HidingPlace, SECRET_NUMBER } from "./places/hiding-places.ts";
import { backupOf, logOf } from "./raw-data.ts";

const secretOf = (place: HidingPlace) => `hidden-${HIDING_PLACES.indexOf(place)}-of-the-parent`;

describe.each(INSTALLATIONS)("with Postgres $version,", ({ binDirectory }) => {
  let server: PostgresServer;
  let parent: TestBranch;
  let bare: string;

  beforeAll(async () => {
    server = await startPostgresServer([...SERVER_ARGS, "--engine-bin", binDirectory]);
    parent = await createBranch(server);
    await store(parent.uri);
    const { status, body } = await server.api("POST", `/projects/${parent.projectId}/branches`, {
      branch: { parent_id: parent.branchId, init_source: "schema-only" },
      endpoints: [{ type: "read_write" }],
    });
    expect(status).toBe(201);
    bare = body.connection_uris[0].connection_uri;
  });
  afterAll(() => server.end());

  test("a branch with the schema of its parent has no row of it in any place", async () => {
    const found = async (uri: string) => {
      const client = await openUri(uri);
      const names: string[] = [];
      for (const place of HIDING_PLACES) if (await isFound(client, uri, place)) names.push(place.name);
      await client.end();
      return names;
    };
    // The places are such that a secret is found where it was not deleted.
    const readable = HIDING_PLACES.filter(({ read }) => read !== undefined).map(({ name }) => name);
    expect(await found(parent.uri)).toEqual(readable);
    expect(await found(bare)).toEqual([]);
  });

  test("its files and its log, read as a standby does, have none either", async () => {
    const secretsOf = (data: Buffer) =>
      HIDING_PLACES.filter((place) => data.includes(secretOf(place))).map(({ name }) => name);
    // The log first: the checkpoint of a backup removes the beginning of it.
    expect(secretsOf(await logOf(parent.uri)).length).toBeGreaterThan(HIDING_PLACES.length / 2);
    expect(secretsOf(await logOf(bare))).toEqual([]);
    expect(secretsOf(await backupOf(parent.uri)).length).toBeGreaterThan(HIDING_PLACES.length / 2);
    expect(secretsOf(await backupOf(bare))).toEqual([]);
  });
});

/** Stores the secret of each place. */
async function store(uri: string): Promise<void> {
  const owner = await openUri(uri);
  for (const place of HIDING_PLACES) {
    const { name, store: sql, database } = place;
    if (database !== undefined && database.name !== "postgres")
      await owner.query(
        `create database ${quoted(database.name)} ${name.includes("encoding") ? "encoding 'LATIN1' locale 'C' template template0" : ""}`,
      );
    const client = database === undefined ? owner : await openUri(uri, { database: database.name });
    try {
      await client.query(`set search_path = public; ${sql.replaceAll("SECRET", secretOf(place))}`);
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
    if (client !== owner) await client.end();
    if (database?.close !== undefined) await owner.query(database.close);
  }
  await owner.end();
}

/** Whether the secret of a place can be read there. */
async function isFound(owner: Client, uri: string, place: HidingPlace): Promise<boolean> {
  const { read, database } = place;
  if (read === undefined) return false;
  if (database?.open !== undefined) await owner.query(database.open);
  const client = database === undefined ? owner : await openUri(uri, { database: database.name });
  try {
    await client.query("set search_path = public");
    const { rows } = await client.query(read).catch((error) => {
      // A materialized view without rows cannot be read.
      if (error.code === "55000") return { rows: [] };
      throw new Error(`${place.name}: ${error.message}`, { cause: error });
    });
    const text = JSON.stringify(rows);
    return text.includes(secretOf(place)) || text.includes(SECRET_NUMBER);
  } finally {
    if (client !== owner) await client.end();
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
