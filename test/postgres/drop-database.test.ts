import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { connect, createBranch, serverForTests } from "../support/postgres/postgres.ts";

const server = await serverForTests();

/** This time after the end of work, the server reads the statistics of the databases in which clients worked. */
const STATISTICS_DELAY_MS = 250;

test("a forced drop of a database meets no session of the server in it", async () => {
  const { uri } = await createBranch(server);
  const owner = await connect(uri);
  const failures: string[] = [];
  for (let extraMs = 0; extraMs <= 60; extraMs += 10) {
    const name = `d${extraMs}`;
    await owner.query(`create database ${name}`);
    const inDatabase = new URL(uri);
    inDatabase.pathname = `/${name}`;
    const client = await connect(inDatabase.href);
    await client.query("create table t (id int)");
    // The server waits for the lock, for a moment.
    await client.query("begin; lock table t in access exclusive mode; insert into t values (1)");
    await owner.query("select 1");
    await sleep(STATISTICS_DELAY_MS + extraMs);
    await owner.query(`drop database ${name} with (force)`).catch(({ message }) => failures.push(message));
  }
  expect(failures).toEqual([]);
}, 60_000);
