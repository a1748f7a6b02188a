import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findInstallations } from "../../src/postgres/engine/installation.ts";
import { engineUser } from "../../src/postgres/engine/os-user.ts";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
  type TestBranch,
} from "../support/postgres/postgres.ts";

const INSTALLATIONS = await findInstallations(undefined, engineUser());
const SUBSCRIBERS = INSTALLATIONS.filter(({ version }) => version >= 16 && version <= 18);
const INSUFFICIENT_PRIVILEGE = "42501";
const SETTINGS = { settings: { enable_logical_replication: true } };
/** Workers are started after at most 5 seconds. */
const PATIENT = { timeout: 20_000 };

describe.each(SUBSCRIBERS)("with Postgres $version,", ({ binDirectory }) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgresServer(["--operations", "immediate", "--engine-bin", binDirectory]);
  });
  afterAll(() => server.end());

  /** A connection string of libpq that names the compute by an option. */
  function connectionString({ uri, password }: TestBranch): string {
    const endpoint = new URL(uri).searchParams.get("options");
    return `host=127.0.0.1 port=${server.pgPort} user=neondb_owner password=${password} dbname=neondb options=${endpoint} sslmode=require`;
  }

  async function withWords() {
    const branch = await createBranch(server, SETTINGS);
    const owner = await connect(branch.uri);
    await owner.query("create table words (id int primary key, word text)");
    return { branch, owner };
  }

  /** A subscriber of all changes of a publisher. */
  async function subscribed() {
    const publisher = await withWords();
    const subscriber = await withWords();
    await publisher.owner.query(
      "create publication p for table words; insert into words values (1, 'before')",
    );
    await subscriber.owner.query(
      `create subscription s connection '${connectionString(publisher.branch)}' publication p`,
    );
    return { publisher, subscriber };
  }

  const wordsOf = (client: pg.Client) => async () =>
    (await client.query("select word from words order by id")).rows.map(({ word }) => word);

  test("a branch receives the changes of another one", async () => {
    const { publisher, subscriber } = await subscribed();
    await publisher.owner.query("insert into words values (2, 'two'), (3, 'three')");
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before", "two", "three"]);
    await publisher.owner.query(
      "update words set word = 'zwei' where id = 2; delete from words where id = 3",
    );
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before", "zwei"]);
    await subscriber.owner.query("drop subscription s");
    expect((await publisher.owner.query("select from pg_replication_slots")).rowCount).toBe(0);
  });
});
