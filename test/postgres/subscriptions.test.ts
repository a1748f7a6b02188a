import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findInstallations } from "../../src/postgres/engine/installation.ts";
import { engineUser } from "../../src/postgres/engine/os-user.ts";
import {
  connect,
  createBranch,
  letSuspend,
  type PostgresServer,
  startPostgresServer,
  stateOf,
  type TestBranch,
} from "../support/postgres/postgres.ts";

const INSTALLATIONS = await findInstallations(undefined, engineUser());
const SUBSCRIBERS = INSTALLATIONS.filter(({ version }) => version >= 16 && version <= 18);
const INSUFFICIENT_PRIVILEGE = "42501";
const SETTINGS = { settings: { enable_logical_replication: true } };
const ARGS = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--operations", "immediate"];
/** Workers are started after at most 5 seconds. */
const PATIENT = { timeout: 20_000 };

describe.each(SUBSCRIBERS)("with Postgres $version,", ({ binDirectory }) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgresServer([...ARGS, "--engine-bin", binDirectory]);
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

  async function subscriptionsOf(client: pg.Client): Promise<unknown[]> {
    return (await client.query("select subname, subenabled from pg_subscription")).rows;
  }

  async function branchOf(branch: TestBranch): Promise<TestBranch & { readonly id: string }> {
    const project = `/projects/${branch.projectId}`;
    const { body } = await server.api("POST", `${project}/branches`, {
      branch: { parent_id: branch.branchId },
      endpoints: [{ type: "read_write" }],
    });
    const query = `branch_id=${body.branch.id}&database_name=neondb&role_name=neondb_owner`;
    const { uri } = (await server.api("GET", `${project}/connection_uri?${query}`)).body;
    const path = `${project}/endpoints/${body.endpoints[0].id}`;
    return { ...branch, id: body.branch.id, branchId: body.branch.id, uri, path };
  }

  test("a subscription keeps its compute active, and after a suspend its worker catches up", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    await subscriber.owner.end();
    await server.sim("POST", "/clock/advance", { by: "1h" });
    expect(await stateOf(server, subscriber.branch)).toBe("active");
    expect(await stateOf(server, publisher.branch)).toBe("active");
    await server.api("POST", `${subscriber.branch.path}/suspend`);
    expect(await stateOf(server, subscriber.branch)).toBe("idle");
    await publisher.owner.query("insert into words values (2, 'later')");
    const woken = await connect(subscriber.branch.uri);
    await expect.poll(wordsOf(woken), PATIENT).toEqual(["before", "later"]);
    await server.sim("POST", "/clock/advance", { by: "1h" });
    expect(await stateOf(server, subscriber.branch)).toBe("active");
    await woken.query("alter subscription s disable");
    await woken.end();
    await letSuspend(server, subscriber.branch);
  });

  test("a subscriber wakes a suspended publisher", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    await server.api("POST", `${publisher.branch.path}/suspend`);
    await expect.poll(() => stateOf(server, publisher.branch), PATIENT).toBe("active");
    const owner = await connect(publisher.branch.uri);
    await owner.query("insert into words values (2, 'after')");
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before", "after"]);
  });

  test("a branch of a subscriber has its rows, and none of its subscriptions; its own ones work", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    const branch = await branchOf(subscriber.branch);
    const child = await connect(branch.uri);
    expect(await wordsOf(child)()).toEqual(["before"]);
    expect(await subscriptionsOf(child)).toEqual([]);
    expect((await child.query("select from pg_subscription_rel")).rowCount).toBe(0);
    expect((await child.query("select from pg_replication_origin")).rowCount).toBe(0);
    await publisher.owner.query("insert into words values (2, 'two')");
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before", "two"]);
    expect(await wordsOf(child)()).toEqual(["before"]);
    expect(await subscriptionsOf(subscriber.owner)).toEqual([{ subname: "s", subenabled: true }]);
    // Before its first restart, too.
    await child.query("truncate words");
    const connection = connectionString(publisher.branch);
    await child.query(`create subscription t connection '${connection}' publication p`);
    await expect.poll(wordsOf(child), PATIENT).toEqual(["before", "two"]);
    expect((await publisher.owner.query("select slot_name from pg_replication_slots order by 1")).rows).toEqual([
      { slot_name: "s" },
      { slot_name: "t" },
    ]);
  });

  test("a restored subscriber has no subscriptions", async () => {
    const { subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    const { body } = await server.sim("POST", "/clock/advance", { by: "1m" });
    await server.sim("POST", "/clock/advance", { by: "1m" });
    const { branchId, projectId } = subscriber.branch;
    const restored = await server.api("POST", `/projects/${projectId}/branches/${branchId}/restore`, {
      source_branch_id: branchId,
      source_timestamp: body.now,
      preserve_under_name: "before",
    });
    expect(restored.status).toBe(200);
    const owner = await connect(subscriber.branch.uri);
    expect(await wordsOf(owner)()).toEqual(["before"]);
    expect(await subscriptionsOf(owner)).toEqual([]);
  });

  test("the API drops a database that has subscriptions; SQL does not", async () => {
    const { publisher, subscriber } = await subscribed();
    await expect.poll(wordsOf(subscriber.owner), PATIENT).toEqual(["before"]);
    await subscriber.owner.query("create database other");
    const url = new URL(subscriber.branch.uri);
    url.pathname = "/other";
    const other = await connect(url.href);
    await expect(other.query("drop database neondb with (force)")).rejects.toMatchObject({ code: "55006" });
    await other.query("select 1");
    const { branchId, projectId } = subscriber.branch;
    await server.api("DELETE", `/projects/${projectId}/branches/${branchId}/databases/neondb`);
    const databases = () => other.query("select datname from pg_database where datname = 'neondb'");
    await expect.poll(async () => (await databases()).rowCount, PATIENT).toBe(0);
    expect(await subscriptionsOf(other)).toEqual([]);
    expect((await publisher.owner.query("select active from pg_replication_slots")).rowCount).toBe(1);
  });
});
