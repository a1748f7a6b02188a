import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PUBLISHED_EXTENSIONS } from "../../../src/postgres/rights/published-extensions.ts";
import { createBranch, type PostgresServer, startPostgresServer } from "../../support/postgres/postgres.ts";
import { openUri } from "./clients.ts";
import { SERVER_ARGS } from "./hostile-server.ts";
import { INSTALLATIONS } from "./installations.ts";
import { findingsOf } from "./judge.ts";
import { Observer } from "./observer.ts";

const INSUFFICIENT_PRIVILEGE = "42501";

/** Extensions whose scripts Postgres runs as the superuser, for a client that is none. */
const CREATED = PUBLISHED_EXTENSIONS.filter(
  ({ source, refusal }) => source === "server" && refusal === undefined,
);

describe.each(INSTALLATIONS)("with Postgres $version,", ({ binDirectory }) => {
  const observer = new Observer();
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgresServer([...SERVER_ARGS, "--engine-bin", binDirectory]);
  });
  afterAll(async () => {
    await server.end();
    observer.remove();
  });

  /** The owner of a branch with the observer. */
  async function openOwner(): Promise<Client> {
    const owner = await openUri((await createBranch(server)).uri);
    await owner.query(observer.sql);
    return owner;
  }

  test("a type that a script casts a constant to is not a client's", async () => {
    const owner = await openOwner();
    await owner.query(`create extension cube schema public; create schema trap;
      create domain trap.checked as float8 check (${observe("cast")});
      create type trap.cube as (a trap.checked)`);
    expect(await outcomeOf(owner, "create extension earthdistance schema trap")).toBe(INSUFFICIENT_PRIVILEGE);
    await owner.query("drop type trap.cube; create table trap.cube (a trap.checked)");
    // From version 16 on, the script casts to the type of the extension by its full name.
    expect(await outcomeOf(owner, "create extension earthdistance schema trap")).not.toBe("accepted");
    expect([observer.traces(), await findingsOf(owner)]).toEqual([[], []]);
    // Without the trap, it can be created there.
    await owner.query("drop schema trap cascade; create schema trap");
    expect(await outcomeOf(owner, "create extension earthdistance schema trap")).toBe("accepted");
    await owner.end();
  });

  test("no script of an extension calls functions, operators or types of its schema that a client has made", async () => {
    const owner = await openOwner();
    await owner.query(TRAPS);
    for (const { name } of CREATED) {
      const { rows } = await owner.query(
        "select version from pg_available_extension_versions where name = $1",
        [name],
      );
      await owner.query("begin");
      for (const { version } of rows) {
        await owner.query("savepoint before");
        for (const statement of [
          `create extension "${name}" schema trap version '${version}' cascade`,
          `alter extension "${name}" update`,
        ])
          await owner.query(statement).catch(() => owner.query("rollback to before"));
        await owner.query("rollback to before");
      }
      await owner.query("rollback");
    }
    expect([observer.traces(), await findingsOf(owner)]).toEqual([[], []]);
    await owner.end();
  });

  test("the owner of an extension cannot change the objects of the superuser in it", async () => {
    const owner = await openOwner();
    await owner.query(
      "create schema ext; create extension pg_stat_statements schema ext; create extension citext schema ext",
    );
    const accepted: string[] = [];
    for (const sql of CHANGES) {
      const outcome = await outcomeOf(owner, `begin; ${sql}`);
      await owner.query("rollback");
      if (outcome !== INSUFFICIENT_PRIVILEGE) accepted.push(`${sql}: ${outcome}`);
    }
    expect(accepted).toEqual([]);
    expect([observer.traces(), await findingsOf(owner)]).toEqual([[], []]);
    await owner.end();
  });
});

function observe(place: string): string {
  return `adversary.observe('${place}')`;
}

async function outcomeOf(client: Client, sql: string): Promise<string> {
  return client.query(sql).then(
    () => "accepted",
    (error) => error.code as string,
  );
}

/** Overloads that fit better than those of `pg_catalog`, which would be called by an unqualified name. */
const TRAPS = `create schema trap;
create function trap.compare(name, text) returns boolean language plpgsql as
  $f$ begin return adversary.observe('operator'); end $f$;
create operator trap.= (leftarg = name, rightarg = text, function = trap.compare);
create operator trap.<> (leftarg = name, rightarg = text, function = trap.compare);
create function trap.compare(regtype, oid) returns boolean language plpgsql as
  $f$ begin return adversary.observe('operator'); end $f$;
create operator trap.= (leftarg = regtype, rightarg = oid, function = trap.compare);
create function trap.format(text, name) returns text language plpgsql as
  $f$ begin return adversary.observe('format')::text; end $f$;
create function trap.current_setting(unknown_name name) returns text language plpgsql as
  $f$ begin return adversary.observe('current_setting')::text; end $f$;
create function trap.cube_dim(float8) returns int language plpgsql as
  $f$ begin return adversary.observe('cube_dim')::int; end $f$;
create domain trap.checked as text check (adversary.observe('domain'));
do $d$ declare word text; begin
  foreach word in array '{gbtreekey4,earth,pgstattuple_type,dblink_pkey_results,cube,seg,hstore,ltree}'::text[] loop
    execute format('create type trap.%I as (a trap.checked)', word);
  end loop;
end $d$;`;

const CHANGES = [
  "alter extension pg_stat_statements drop view ext.pg_stat_statements",
  "alter extension citext drop function ext.citextin(cstring)",
  "alter extension plpgsql add function adversary.observe(text)",
  "alter extension plpgsql update",
  "create or replace function ext.citext_eq(ext.citext, ext.citext) returns boolean language sql as 'select true'",
  "alter function ext.citext_eq(ext.citext, ext.citext) owner to neondb_owner",
  "alter function ext.citext_eq(ext.citext, ext.citext) security definer",
  "create or replace view ext.pg_stat_statements as select 1",
  "alter view ext.pg_stat_statements owner to neondb_owner",
  "update pg_extension set extowner = 10",
];
