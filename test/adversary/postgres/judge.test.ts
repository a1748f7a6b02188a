import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createBranch, runningPostgres, startPostgresServer } from "../../support/postgres/postgres.ts";
import { openUri } from "./clients.ts";
import { SERVER_ARGS } from "./hostile-server.ts";
import { excessiveRights, findingsOf, secretsIn } from "./judge.ts";
import { Observer } from "./observer.ts";

const SUPERUSER = "cloud_admin";
const SOCKET_PORT = 5432;

test("code that runs as a superuser leaves a trace, and the role that it favours is found", async () => {
  const observer = new Observer();
  onTestFinished(() => observer.remove());
  const server = await startPostgresServer(SERVER_ARGS);
  onTestFinished(() => server.end());
  const client = await openUri((await createBranch(server)).uri);
  await client.query(observer.sql);
  await client.query("select adversary.observe('a client')");
  expect([observer.traces(), await findingsOf(client)]).toEqual([[], []]);

  const { socketDirectory: host } = runningPostgres(server.data);
  const session = new pg.Client({ host, port: SOCKET_PORT, user: SUPERUSER, database: "neondb" });
  await session.connect();
  const read = () => session.query("select adversary.observe('a way back')");
  // As the owner of a table, from which there is a way back to the superuser.
  await session.query("set role neondb_owner");
  await read();
  expect(observer.traces()).toEqual([`a way back ran as ${SUPERUSER} in a session of ${SUPERUSER}`]);
  expect(await findingsOf(client)).toEqual([
    "neondb_owner is a superuser",
    "hostile code ran with rights of others",
  ]);
  await session.query("alter role neondb_owner nosuperuser; grant pg_read_server_files to neondb_owner");
  expect(await excessiveRights(client)).toEqual(["neondb_owner is a member of pg_read_server_files"]);
  await session.end();
  await client.end();
});

test("passwords and verifiers are found in a log", () => {
  expect(secretsIn("PASSWORD 'SCRAM-SHA-256$4096:…' or 'known'", ["known", "other"])).toEqual([
    "known",
    "SCRAM-SHA-256$",
  ]);
});
