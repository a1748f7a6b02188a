import { observe, type Place } from "./place.ts";

/** `sql` with a table of its own for TABLE, and a call that observes for OBSERVE. */
function place(name: string, sql: string, since?: number): Place {
  const id = name.replaceAll(/\W+/g, "_");
  return {
    name,
    sql: sql.replaceAll("TABLE_", `public.${id}`).replaceAll("ID", id).replaceAll("OBSERVE", observe(name)),
    ...(since === undefined ? {} : { since }),
  };
}

/** Expressions that are stored in the catalog, and evaluated by whoever uses the object. */
export const EXPRESSIONS: readonly Place[] = [
  place(
    "column default",
    "create table TABLE_ (id int, seen boolean default OBSERVE); insert into TABLE_ values (1)",
  ),
  place(
    "generated column",
    "create table TABLE_ (id int, seen boolean generated always as (OBSERVE) stored); insert into TABLE_ values (1)",
  ),
  place(
    "virtual generated column of a type with a check",
    "create table TABLE_ (id int, twice int generated always as (id * 2) virtual, check (twice >= 0 and OBSERVE)); insert into TABLE_ values (1)",
    18,
  ),
  place(
    "check constraint",
    "create table TABLE_ (id int check (id > 0 and OBSERVE)); insert into TABLE_ values (1)",
  ),
  place(
    "check constraint that is not valid",
    "create table TABLE_ (id int); insert into TABLE_ values (1); alter table TABLE_ add check (id > 0 and OBSERVE) not valid",
  ),
  place(
    "index expression",
    "create table TABLE_ (id int); insert into TABLE_ values (1); create index on TABLE_ ((id > 0 and OBSERVE))",
  ),
  place(
    "constant index expression",
    "create table TABLE_ (id int); insert into TABLE_ values (1); create index on TABLE_ ((OBSERVE))",
  ),
  place(
    "unique index expression",
    "create table TABLE_ (id int); create unique index on TABLE_ ((case when OBSERVE then id end))",
  ),
  place(
    "index predicate",
    "create table TABLE_ (id int); insert into TABLE_ values (1); create index on TABLE_ (id) where id > 0 and OBSERVE",
  ),
  place(
    "exclusion constraint",
    "create table TABLE_ (id int, exclude ((case when OBSERVE then id end) with =)); insert into TABLE_ values (1)",
  ),
  place(
    "statistics expression",
    "create table TABLE_ (id int, other int); insert into TABLE_ values (1, 1); create statistics public.ID_stats on id, (id > 0 and OBSERVE) from TABLE_; analyze TABLE_",
  ),
  place(
    "partition key",
    "create table TABLE_ (id int) partition by list ((id > 0 and OBSERVE)); create table TABLE__yes partition of TABLE_ for values in (true); insert into TABLE_ values (1)",
  ),
  place(
    "row security policy",
    "create table TABLE_ (id int); insert into TABLE_ values (1); alter table TABLE_ enable row level security, force row level security; create policy p on TABLE_ using (OBSERVE) with check (OBSERVE)",
  ),
  place("view", "create view TABLE_ as select OBSERVE as seen"),
  place("view with security barrier", "create view TABLE_ with (security_barrier) as select OBSERVE as seen"),
  place("view of the invoker", "create view TABLE_ with (security_invoker) as select OBSERVE as seen"),
  place("recursive view", "create recursive view TABLE_ (seen) as select OBSERVE"),
  place(
    "materialized view with an index",
    "create materialized view TABLE_ as select 1 as id, OBSERVE as seen; create unique index on TABLE_ ((case when OBSERVE then id end))",
  ),
  place(
    "materialized view without data",
    "create materialized view TABLE_ as select OBSERVE as seen with no data",
  ),
  place(
    "rule",
    "create table TABLE_ (id int); insert into TABLE_ values (1); create rule a as on insert to TABLE_ do also select OBSERVE; create rule b as on delete to TABLE_ do instead select OBSERVE; create rule c as on update to TABLE_ do also notify hostile",
  ),
  place(
    "domain",
    "create domain TABLE_ as int check (OBSERVE); create table TABLE__t (id TABLE_); insert into TABLE__t values (1)",
  ),
  place(
    "domain with a default",
    "create domain TABLE_ as boolean default OBSERVE; create table TABLE__t (id int, seen TABLE_); insert into TABLE__t values (1)",
  ),
  place(
    "composite type in a range",
    "create function public.ID_diff(int, int) returns float8 language plpgsql immutable as $f$ begin perform OBSERVE; return 1; end $f$; create type TABLE_ as range (subtype = int4, subtype_diff = public.ID_diff); create table TABLE__t (r TABLE_); insert into TABLE__t values ('[1,2)'); create index on TABLE__t using gist (r)",
  ),
  place(
    "cast of a type of the client",
    "create type TABLE_ as (a int); create function public.ID_f(TABLE_) returns text language plpgsql immutable as $f$ begin perform OBSERVE; return 'x'; end $f$; create cast (TABLE_ as text) with function public.ID_f(TABLE_) as implicit; create table TABLE__t (v TABLE_); insert into TABLE__t values (row(1))",
  ),
  place(
    "identity and serial columns of a domain",
    "create domain public.ID_d as int check (OBSERVE); create table TABLE_ (id int generated always as identity, n serial, d public.ID_d); insert into TABLE_ (d) values (1)",
  ),
  place(
    "function argument's default",
    "create function public.ID(seen boolean default OBSERVE) returns int language sql as 'select 1'",
  ),
  place(
    "function of SQL that is inlined",
    "create function public.ID() returns boolean language sql immutable return OBSERVE",
  ),
  place(
    "function as definer",
    "create function public.ID() returns boolean language sql security definer as $f$ select OBSERVE $f$",
  ),
  place(
    "procedure",
    "create procedure public.ID() language plpgsql as $f$ begin perform OBSERVE; commit; perform OBSERVE; end $f$",
  ),
  place(
    "aggregate",
    "create function public.ID_f(boolean, int) returns boolean language plpgsql immutable as $f$ begin return OBSERVE; end $f$; create aggregate public.ID(int) (sfunc = public.ID_f, stype = boolean)",
  ),
  {
    name: "comment",
    sql: `comment on schema public is 'x''; select adversary.observe(''comment''); --'`,
  },
  place(
    "names that end a quoted string",
    `create table public."x'; select adversary.observe($$names$$); --" (id int); create table public."x""; select adversary.observe($$names$$); --" (id int); create schema "a.b'""c"; create table "a.b'""c"."d\\'e" (id int); insert into "a.b'""c"."d\\'e" values (1)`,
  ),
  place(
    "publication",
    "create table TABLE_ (id int primary key); create publication ID for table TABLE_ where (id > 0)",
  ),
  place(
    "conversion",
    "create default conversion TABLE_ for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8; create default conversion TABLE__2 for 'UTF8' to 'LATIN1' from utf8_to_iso8859_1",
  ),
  place(
    "collation",
    `create collation public."C" from "POSIX"; create collation public."default" from "POSIX"; create table TABLE_ (word text collate public."C"); insert into TABLE_ values ('a'); create index on TABLE_ (word)`,
  ),
  place(
    "text search",
    "create text search configuration TABLE_ (copy = pg_catalog.simple); create text search dictionary TABLE__d (template = pg_catalog.simple); create table TABLE__t (v tsvector); insert into TABLE__t values (to_tsvector('public.ID', 'a'))",
  ),
  place(
    "schema of an extension",
    "create schema ID_s; create function ID_s.platform_file_cache_statistics(int) returns json language plpgsql as $f$ begin perform OBSERVE; return '{}'; end $f$; create extension citext schema ID_s; create extension platform schema ID_s",
  ),
  place("large object", "select lo_from_bytea(0, 'rows of a large object')"),
  place(
    "default privileges",
    "alter default privileges grant all on tables to public; alter default privileges grant all on functions to public",
  ),
  place(
    "schema named like that of the server",
    'create schema standin; create table standin.applied_content (content text not null default OBSERVE::text); insert into standin.applied_content values (\'{"roles":[],"databases":[]}\'); create function standin.applied_content() returns text language sql as $f$ select OBSERVE::text $f$',
  ),
];
