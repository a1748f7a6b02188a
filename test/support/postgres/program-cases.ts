/** A program of Postgres and its arguments, without those of the connection. */
export type ProgramCase = {
  readonly program:
    | "psql"
    | "pg_dump"
    | "pg_dumpall"
    | "pg_isready"
    | "pgbench"
    | "database programs"
    | "pgcli";
  readonly args: readonly string[];
  readonly input?: string;
};

/** Objects that the cases query. */
export const CASES_SCHEMA = `
  create table customers (id int generated always as identity primary key, name text not null unique, since date default '2026-01-01');
  create table orders (id bigserial primary key, customer int references customers on delete cascade, total numeric(10, 2) check (total >= 0), tags text[], detail jsonb);
  create index orders_by_tag on orders using gin (tags);
  create view totals as select customer, sum(total) as total from orders group by customer;
  create materialized view large_orders as select * from orders where total > 100;
  create type mood as enum ('sad', 'ok'); create domain percent as int check (value between 0 and 100);
  create function twice(n int) returns int language sql immutable as 'select n * 2';
  create function warn() returns void language plpgsql as $$ begin raise notice 'careful' using hint = 'slow'; end $$;
  create sequence tickets start 5; create schema archive; create table archive.old (at timestamptz);
  create publication changes for table orders; comment on table orders is 'All orders';
  insert into customers (name) select 'customer ' || n from generate_series(1, 50) n;
  insert into orders (customer, total, tags, detail) select 1 + n % 50, n, array['a', 'b' || n % 7], json_build_object('n', n) from generate_series(1, 2000) n;
  refresh materialized view large_orders; analyze;
`;

/** Meta-commands of psql, in their plain and their detailed form. */
const DESCRIBES = [
  ..."d dt di ds dv dm df dn dp dT dD dx db dRp dRs dy dew des deu det dO dC dc da do dF dFd dFp dFt dL du dg ddp dE dl".split(
    " ",
  ),
  ..."d+ dt+ di+ ds+ dv+ dm+ df+ dn+ dT+ dD+ dx+ dRp+ dO+ dF+ dL+ du+".split(" "),
  "d customers",
  "d+ orders",
  "d totals",
  "d+ large_orders",
  "d archive.*",
  "dT+ mood",
  "dD percent",
  "df+ twice",
  "dn+ archive",
  "dRp+ changes",
  "sf twice",
  "sv totals",
  "z orders",
  "encoding",
  "l",
].map((command) => `\\${command}`);

/** Scripts that end as they began, so that they can run twice. */
const SCRIPTS = [
  "select * from orders order by id;",
  "select 1/0;",
  "selec 1;",
  "\\set VERBOSITY verbose\ninsert into orders (customer) values (-1);",
  "select 'x'::int;\n\\errverbose",
  "select warn();",
  "begin; savepoint s; select 1/0; rollback to s; select 2; commit;",
  "begin; select 1/0; select 2; commit;",
  "begin; declare c cursor for select n from generate_series(1, 1000) n; fetch 5 from c; move 10 in c; fetch 2 from c; close c; commit;",
  "\\set FETCH_COUNT 100\nselect * from orders order by id;",
  "prepare p(int) as select $1 + 1; execute p(41); deallocate p;",
  "create temp table t (n int);\n\\copy t from program 'seq 1000'\nselect count(*), sum(n) from t;",
  "create temp table t (n int);\ncopy t from stdin;\n1\nx\n\\.\nselect count(*) from t;",
  "copy (select id, total from orders order by id) to stdout with (format csv, header);",
  "\\pset format csv\nselect * from totals order by 1;",
  "\\pset format html\nselect * from customers order by 1 limit 3;",
  "\\x\nselect * from orders order by id limit 2;",
  "select 1 as a, 'b'::text as b \\gdesc",
  "select 'select ' || n from generate_series(1, 3) n \\gexec",
  "select customer, tags[2], count(*) from orders where customer < 4 group by 1, 2 order by 1, 2 \\crosstabview",
  "select repeat('x', 3000000);",
  "listen news; notify news; select 1;",
  "set statement_timeout = 50; select pg_sleep(5);",
  "select current_user, session_user, current_database(), current_setting('server_version');",
  "set role neondb_owner; show role; reset role; show client_encoding; show datestyle; show search_path;",
  "explain (costs off) select * from orders where tags @> '{b1}';",
  "select \\; select 2 \\; select 3;",
  "create table made (n int); insert into made values (1) returning n; drop table made;",
  "do $$ begin raise exception 'no' using errcode = 'P0042', detail = 'd', hint = 'h', table = 'orders'; end $$;",
  "\\set VERBOSITY sqlstate\nselect * from nowhere;",
];

const DUMPS = [
  [],
  ["--schema-only"],
  ["--data-only", "--inserts"],
  ["--data-only", "--column-inserts", "--rows-per-insert=50"],
  ["--clean", "--if-exists", "--no-owner"],
  ["--table=orders", "--no-privileges"],
  ["--schema=archive"],
  ["--exclude-table-data=orders"],
  ["--section=pre-data"],
  ["--section=post-data"],
  ["--serializable-deferrable", "--schema-only"],
  ["--table=missing"],
];

const DATABASE_PROGRAMS = [
  "createdb made && dropdb made",
  "createdb --template=missing made",
  "createuser --no-login made && dropuser made",
  "dropuser missing",
  "vacuumdb --analyze --table=orders",
  "vacuumdb --table=missing",
  "reindexdb --table=orders",
  "clusterdb --table=orders",
];

/** Input of pgcli, which asks catalogs with queries of its own. */
const PGCLI_SCRIPTS = [
  "\\d orders\n\\dt\n\\dv\n\\df\n\\dn\n\\du\n\\dT\n\\dx\n\\l",
  "begin;\ninsert into customers (name) values ('new');\nselect count(*) from customers;\nrollback;\nselect count(*) from customers;",
  "select * from orders order by id limit 3;\nselect warn();\nselect 1/0;\nselect * from missing;",
];

export const PROGRAM_CASES: readonly ProgramCase[] = [
  ...DESCRIBES.map((command): ProgramCase => ({ program: "psql", args: ["-c", command] })),
  ...SCRIPTS.map((input): ProgramCase => ({ program: "psql", args: ["-f", "-"], input: `${input}\n` })),
  ...DUMPS.map((args): ProgramCase => ({ program: "pg_dump", args })),
  { program: "pg_dumpall", args: ["--globals-only", "--no-role-passwords"] },
  { program: "pg_dumpall", args: ["--globals-only"] },
  { program: "pg_isready", args: [] },
  { program: "pg_isready", args: ["--dbname=missing"] },
  ...["simple", "extended", "prepared"].map(
    (mode): ProgramCase => ({
      program: "pgbench",
      args: ["-n", "-c", "4", "-t", "25", "-M", mode, "--random-seed=7", "-f", "-"],
      input:
        "\\set n random(1, 2000)\nselect total from orders where id = :n;\nbegin;\nselect sum(total) from orders where customer = 1 + :n % 50;\ncommit;\n",
    }),
  ),
  ...DATABASE_PROGRAMS.map(
    (command): ProgramCase => ({ program: "database programs", args: command.split(" ") }),
  ),
  { program: "pgcli", args: ["--list"] },
  ...PGCLI_SCRIPTS.map(
    (input): ProgramCase => ({ program: "pgcli", args: ["--prompt", "> "], input: `${input}\n\\q\n` }),
  ),
];

/** The number of cases of each program. */
export function countCases(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { program } of PROGRAM_CASES) counts[program] = (counts[program] ?? 0) + 1;
  return counts;
}
