/** A place from which the rows of a branch might be read in a branch that has only its schema. */
export type HidingPlace = {
  readonly name: string;
  /** Statements of the owner. They store the text or number SECRET. */
  readonly store: string;
  /** Whoever reads the place finds the secret in the answer. Absent: only the raw files and the log have it. */
  readonly read?: string;
  /** Another database, created with these statements, and what makes it readable again. */
  readonly database?: { readonly name: string; readonly close?: string; readonly open?: string };
};

/** A number, because sequences store nothing else. It is in no other place. */
export const SECRET_NUMBER = "8461372950";

const table = (
  name: string,
  more = "",
  insert = "insert into TABLE (word) values ('SECRET')",
): HidingPlace => {
  const id = `"${name}"`;
  return {
    name,
    store: `create table ${id} (word text); ${more.replaceAll("TABLE", id)}; ${insert.replaceAll("TABLE", id)}`,
    read: `select * from ${id}`,
  };
};

const database = (name: string, database: HidingPlace["database"]): HidingPlace => ({
  name,
  store: "create table words (word text); insert into words values ('SECRET'); analyze words",
  read: "select word, most_common_vals::text, histogram_bounds::text from words full join (select * from pg_stats where tablename = 'words') s on true",
  ...(database === undefined ? {} : { database }),
});

export const HIDING_PLACES: readonly HidingPlace[] = [
  table("a table"),
  table("a table with a key", "alter table TABLE add id int primary key generated always as identity"),
  table(
    "a table with row security",
    "alter table TABLE enable row level security, force row level security; create policy p on TABLE using (true)",
  ),
  table(
    "a table with statistics",
    "",
    "insert into TABLE select 'SECRET' from generate_series(1, 100); analyze TABLE",
  ),
  table("a table of an extension", "create extension citext; alter extension citext add table TABLE"),
  table("a table of another schema", "create schema other"),
  table(
    "a table that refuses to be truncated",
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$; create trigger t before truncate on TABLE execute function refuse()",
  ),
  table(
    "a table that always refuses",
    "create trigger t before truncate on TABLE execute function refuse(); alter table TABLE enable always trigger t",
  ),
  table(
    "a table that copies itself",
    "create table copies (word text); create function copy_rows() returns trigger language plpgsql as $$ begin execute format('insert into public.copies select word from %s', tg_relid::regclass); return null; end $$; create trigger t before truncate on TABLE execute function copy_rows(); alter table TABLE enable replica trigger t",
  ),
  {
    name: "the copies of a table",
    store: "insert into copies values ('SECRET')",
    read: "select * from copies",
  },
  {
    name: "a partition",
    store:
      "create table parts (word text) partition by list (word); create table part partition of parts default; insert into parts values ('SECRET')",
    read: "select * from parts",
  },
  {
    name: "an heir",
    store:
      "create table ancestor (word text); create table heir () inherits (ancestor); insert into heir values ('SECRET')",
    read: "select * from ancestor",
  },
  {
    name: "a value outside of its row",
    store:
      "create table long_words (word text); alter table long_words alter word set storage external; insert into long_words values (repeat('SECRET', 1000))",
    read: "select left(word, 100) from long_words",
  },
  {
    name: "a materialized view",
    store: `create table source (word text); insert into source select 'SECRET' from generate_series(1, 3); create materialized view view_of_words as select word from source; create index on view_of_words (word); analyze view_of_words`,
    read: "select word from view_of_words union all select most_common_vals::text from pg_stats where tablename = 'view_of_words'",
  },
  {
    name: "statistics",
    store:
      "create table counted (word text); insert into counted select 'SECRET' || i % 3 from generate_series(1, 300) i; analyze counted",
    read: "select most_common_vals::text from pg_stats where tablename = 'counted'",
  },
  {
    name: "a histogram",
    store:
      "create table measured (word text); insert into measured select 'SECRET' || i from generate_series(1, 300) i; create index on measured (upper(word)); analyze measured",
    read: "select histogram_bounds::text from pg_stats where tablename like 'measured%'",
  },
  {
    name: "extended statistics",
    store:
      "create table pairs (a text, b text); create statistics pair_stats (mcv) on a, b from pairs; insert into pairs select 'SECRET' || i % 3, i % 3 from generate_series(1, 300) i; analyze pairs",
    read: "select most_common_vals::text from pg_stats_ext",
  },
  {
    name: "a large object",
    store: "select lo_from_bytea(4711, 'SECRET')",
    read: "select convert_from(data, 'UTF8') from pg_largeobject",
  },
  {
    name: "a large object of the platform's database",
    store: "select lo_from_bytea(4712, 'SECRET')",
    read: "select convert_from(data, 'UTF8') from pg_largeobject",
    database: { name: "postgres" },
  },
  {
    name: "a sequence",
    store: `create sequence numbers; select setval('numbers', ${SECRET_NUMBER})`,
    read: "select last_value from numbers",
  },
  {
    name: "a sequence of a column",
    store: `create table numbered (id bigint generated always as identity); select setval('numbered_id_seq', ${SECRET_NUMBER})`,
    read: "select last_value from numbered_id_seq",
  },
  database("another database", { name: "another" }),
  database("a database with an odd name", { name: `od"d'name\\` }),
  database("a database that accepts no connections", {
    name: "closed",
    close: "alter database closed allow_connections false",
    open: "alter database closed allow_connections true",
  }),
  database("a database that is a template", {
    name: "template",
    close: "alter database template is_template true",
    open: "alter database template is_template false",
  }),
  database("a database that only reads", {
    name: "reading",
    close: "alter database reading set default_transaction_read_only = on",
  }),
  database("a database without time", {
    name: "hasty",
    close: "alter database hasty set statement_timeout = 1",
    open: "alter database hasty reset statement_timeout",
  }),
  database("a database of another encoding", { name: "western" }),
  {
    name: "the value of a column that was added later",
    store:
      "create table grown (id int); insert into grown values (1); alter table grown add word text default 'SECRET'; alter table grown alter word drop default",
    read: "select attmissingval::text from pg_attribute where attrelid = 'grown'::regclass",
  },
  {
    name: "a deleted row",
    store: "create table deleted (word text); insert into deleted values ('SECRET'); delete from deleted",
  },
  {
    name: "a dropped table",
    store: "create table dropped (word text); insert into dropped values ('SECRET'); drop table dropped",
  },
  { name: "a message in the log", store: "select pg_logical_emit_message(true, 'adversary', 'SECRET')" },
  { name: "a notification", store: "listen words; notify words, 'SECRET'" },
];
