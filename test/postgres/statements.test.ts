import { createStandin, type StandinStatement } from "@standin/standin";
import { expect, onTestFinished, test } from "vitest";
import { connectTo } from "../support/postgres/postgres.ts";

const shown = (statements: readonly StandinStatement[]) =>
  statements.map(({ text, parameters, outcome }) => [text, parameters, outcome]);

test("statements of clients, of the pooler and of HTTP are listed with their outcomes, for each world", async () => {
  const sim = await createStandin({ operations: "immediate", postgres: true });
  onTestFinished(() => sim.close());
  const headers = { "Content-Type": "application/json" };
  const project = JSON.stringify({ project: { name: "shop" } });
  await sim.fetch("/api/v2/projects", { method: "POST", headers, body: project });
  const fork = await sim.fork({ name: "other" });
  await fork.advance("10m");
  expect(await fork.statements.list()).toEqual([]);

  const uri = await fork.connectionUri();
  const client = await connectTo(uri);
  await client.query("create table users (name text primary key)");
  await client.query("insert into users values ($1)", ["a"]);
  await expect(client.query("insert into users values ($1)", ["a"])).rejects.toThrow("duplicate key");
  await client.query("create role app login password 'secret'");
  const pooled = await connectTo(await fork.connectionUri({ pooled: true }));
  await pooled.query({ name: "all", text: "select name from users", values: [] });
  await expect(pooled.query("select nothing")).rejects.toThrow("does not exist");

  const [endpoint] = await fork.endpoints.list();
  const executeSql = (query: string) => {
    const path = `/_sim/endpoints/${endpoint?.endpoint_id}/sql`;
    return fork.fetch(path, { method: "POST", headers, body: JSON.stringify({ query, params: [] }) });
  };
  await executeSql("select 1 from users");
  const overHttp = async (body: unknown) =>
    (
      await fork.fetch("/sql", {
        method: "POST",
        headers: { ...headers, "Neon-Connection-String": uri },
        body: JSON.stringify(body),
      })
    ).json();
  expect(await overHttp({ query: "select $1::int", params: ["x"] })).toMatchObject({ code: "22P02" });
  await overHttp({
    queries: [
      { query: "select 1", params: [] },
      { query: "delete from users", params: [] },
    ],
  });

  const statements = await fork.statements.list();
  expect(shown(statements)).toEqual([
    ["create table users (name text primary key)", 0, { done: "CREATE TABLE" }],
    ["insert into users values ($1)", 1, { done: "INSERT 0 1" }],
    [
      "insert into users values ($1)",
      1,
      {
        failed: {
          code: "23505",
          message: 'duplicate key value violates unique constraint "users_pkey"',
        },
      },
    ],
    ["create role app login password '***' …", 0, { done: "CREATE ROLE" }],
    ["select name from users", 0, { done: "SELECT 1" }],
    ["select nothing", 0, { failed: { code: "42703", message: 'column "nothing" does not exist' } }],
    ["select 1 from users", 0, { done: "SELECT 1" }],
    [
      "select $1::int",
      1,
      { failed: { code: "22P02", message: 'invalid input syntax for type integer: "x"' } },
    ],
    ["select 1", 0, { done: "SELECT 1" }],
    ["delete from users", 0, { done: "DELETE 1" }],
  ]);
  const now = await fork.now();
  expect(statements.at(-1)).toMatchObject({
    ...{ endpoint: endpoint?.endpoint_id, database: "neondb", role: "neondb_owner" },
    at: expect.stringMatching(now.slice(0, 16)),
  });
  expect(await sim.statements.list()).toEqual([]);
});
