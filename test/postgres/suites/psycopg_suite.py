"""Psycopg 3: prepared statements of the protocol, pipelines, binary values, COPY, cancellation, asyncio."""

import asyncio
import datetime
import decimal
import threading
import uuid

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from psycopg.types.range import Range

from cases import URI, run


def connect(**parameters):
    return psycopg.connect(URI, **parameters)


def describe(error):
    fields = "severity sqlstate message_primary message_detail message_hint context table_name constraint_name statement_position".split()
    diag = getattr(error, "diag", None)
    described = {name: getattr(diag, name, None) for name in fields}
    if described["message_primary"] is None:
        described["text"] = str(error)
    return {"type": type(error).__name__, **described}


def case(needs_session=False):
    def register(work):
        def with_connection():
            with connect() as connection:
                return work(connection)

        run(work.__name__, with_connection, describe, needs_session)

    return register


@case()
def uses_tls(connection):
    return connection.pgconn.ssl_in_use


@case()
def knows_its_session(connection):
    info = connection.info
    return info.encoding, info.dbname, info.user, info.server_version, info.parameter_status("is_superuser")


@case()
def prepares_and_reuses_statements(connection):
    connection.prepare_threshold = 2
    return [connection.execute("select %s::int * 2, %s::text", (n, "a")).fetchone() for n in range(10)]


# It closes a statement by DEALLOCATE, which PgBouncer does not translate either.
@case(needs_session=True)
def prepares_more_statements_than_it_keeps(connection):
    connection.prepared_max = 5
    made = [
        connection.execute(sql.SQL("select {} + %s").format(sql.Literal(n)), (1,), prepare=True).fetchone()
        for n in range(40)
    ]
    return made


@case()
def prepares_again_after_a_table_changed(connection):
    connection.autocommit = True
    connection.execute("create table changed (a int)")
    connection.execute("insert into changed values (1)")
    seen = []
    for statement in (None, "alter table changed add b text default 'new'", "alter table changed drop a"):
        if statement:
            connection.execute(statement)
        try:
            seen.append(connection.execute("select * from changed", prepare=True).fetchall())
        except psycopg.Error as error:
            seen.append(describe(error))
    return seen


TYPED = {
    "int8": 2**40,
    "numeric": decimal.Decimal("1e-30"),
    "float8": 1e300,
    "bytea": bytes(range(256)),
    "timestamptz": datetime.datetime(2026, 2, 28, 12, 0, 0, 123456, datetime.timezone.utc),
    "interval": datetime.timedelta(days=40, seconds=1),
    "uuid": uuid.UUID(int=7),
    "jsonb": Jsonb({"a": [1, None, "☃"]}),
    "int4range": Range(1, 5),
    "text[]": ["a", None, '"\\'],
    "int[]": [[1, 2], [3, 4]],
}


@case()
def round_trips_types_as_text(connection):
    return {name: connection.execute(f"select %t::{name}", (value,)).fetchone() for name, value in TYPED.items()}


@case()
def round_trips_types_in_binary(connection):
    return {
        name: connection.execute(f"select %b::{name}", (value,), binary=True).fetchone()
        for name, value in TYPED.items()
    }


@case()
def runs_a_pipeline(connection):
    with connection.pipeline() as pipeline:
        cursors = [connection.execute("select %s::int", (n,)) for n in range(200)]
        pipeline.sync()
        return sum(cursor.fetchone()[0] for cursor in cursors)


@case()
def aborts_a_pipeline_at_its_error(connection):
    outcomes = []
    cursors = [connection.cursor() for _ in range(3)]
    try:
        # Which of these calls raises the error depends on how fast the answer comes.
        with connection.pipeline() as pipeline:
            for cursor, n in zip(cursors, (1, 0, 1)):
                cursor.execute(f"select 1 / {n}")
            pipeline.sync()
    except psycopg.Error as error:
        outcomes.append(describe(error))
    connection.rollback()
    return outcomes, connection.execute("select 'still works'").fetchone(), len(cursors)


@case()
def commits_a_pipeline(connection):
    connection.autocommit = True
    connection.execute("create table piped (n int primary key)")
    with connection.pipeline():
        with connection.transaction():
            with connection.cursor() as cursor:
                cursor.executemany("insert into piped values (%s)", [(n,) for n in range(100)])
    return connection.execute("select count(*) from piped").fetchone()


@case()
def nests_transactions(connection):
    connection.execute("create table nested (n int)")
    connection.commit()
    with connection.transaction():
        connection.execute("insert into nested values (1)")
        try:
            with connection.transaction():
                connection.execute("insert into nested values (2)")
                connection.execute("select 1 / 0")
        except psycopg.errors.DivisionByZero:
            pass
        with connection.transaction("named", force_rollback=True):
            connection.execute("insert into nested values (3)")
    return connection.execute("select * from nested").fetchall()


@case()
def names_the_parts_of_an_error(connection):
    connection.execute("create table parts (n int constraint positive check (n > 0))")
    connection.execute("insert into parts values (%s)", (-1,))


@case()
def refuses_a_zero_byte(connection):
    connection.execute("select %s::text", ("a\0b",))


@case()
def refuses_too_many_parameters(connection):
    connection.execute("select " + ", ".join(["%s"] * 65_536), list(range(65_536)))


@case()
def sends_the_most_parameters(connection):
    row = connection.execute("select array[" + ", ".join(["%s::int"] * 65_535) + "]", [7] * 65_535).fetchone()
    return len(row[0])


@case()
def copies_rows_in_binary(connection):
    connection.execute("create temp table copied (n int, t text, at timestamptz)")
    at = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    with connection.cursor() as cursor:
        with cursor.copy("copy copied from stdin (format binary)") as copy:
            copy.set_types(["int4", "text", "timestamptz"])
            for n in range(20_000):
                copy.write_row((n, f"line {n}", at))
        with cursor.copy("copy (select * from copied order by n limit 3) to stdout (format binary)") as copy:
            copy.set_types(["int4", "text", "timestamptz"])
            first = list(copy.rows())
        return first, cursor.execute("select count(*), sum(n) from copied").fetchone()


@case()
def stops_a_copy_with_an_error_of_its_own(connection):
    connection.execute("create temp table stopped (n int)")
    with connection.cursor() as cursor, cursor.copy("copy stopped from stdin") as copy:
        copy.write("1\n")
        raise ValueError("the source is broken")


@case()
def leaves_a_copy_before_its_end(connection):
    with connection.cursor() as cursor, cursor.copy("copy (select generate_series(1, 100000)) to stdout") as copy:
        next(iter(copy))
        raise ValueError("enough")


@case()
def streams_rows_one_by_one(connection):
    with connection.cursor() as cursor:
        return sum(n for (n,) in cursor.stream("select generate_series(1, 30000)"))


@case()
def reads_with_a_cursor_of_the_server(connection):
    with connection.cursor("c", row_factory=dict_row, binary=True) as cursor:
        cursor.execute("select n, n * 2 as double from generate_series(1, 5000) n")
        return cursor.fetchone(), cursor.fetchmany(2), len(cursor.fetchall())


@case()
def cancels_a_statement(connection):
    timer = threading.Timer(0.3, connection.cancel)
    timer.start()
    connection.execute("select pg_sleep(20)")


@case()
def cancels_a_pipeline(connection):
    timer = threading.Timer(0.3, connection.cancel)
    timer.start()
    with connection.pipeline():
        connection.execute("select pg_sleep(20)")
        connection.execute("select 1")


@case(needs_session=True)
def receives_notifications(connection):
    connection.autocommit = True
    connection.execute("listen news")
    with connect(autocommit=True) as other:
        for n in range(3):
            other.execute("select pg_notify('news', %s)", (str(n),))
    received = []
    for one in connection.notifies():
        received.append((one.channel, one.payload))
        if len(received) == 3:
            return received


@case()
def collects_notices(connection):
    received = []
    connection.add_notice_handler(lambda diag: received.append((diag.severity, diag.message_primary, diag.message_hint)))
    connection.execute("do $$ begin raise notice 'a' using hint = 'b'; raise warning 'c'; end $$")
    return received


@case()
def works_in_asyncio(_):
    async def work():
        async with await psycopg.AsyncConnection.connect(URI) as connection:
            results = []
            for n in range(20):
                cursor = await connection.execute("select %s::int", (n,))
                results.append(await cursor.fetchone())
            async with connection.cursor() as cursor:
                async with cursor.copy("copy (select 1, 2) to stdout") as copy:
                    results.append([row async for row in copy.rows()])
            return results

    return asyncio.run(work())


@case()
def has_many_connections_at_once(_):
    async def one(n):
        async with await psycopg.AsyncConnection.connect(URI) as connection:
            cursor = await connection.execute("select %s::int, pg_sleep(0.05)", (n,))
            return (await cursor.fetchone())[0]

    async def work():
        return await asyncio.gather(*(one(n) for n in range(25)))

    return asyncio.run(work())


@case()
def refuses_writes_in_a_read_only_transaction(connection):
    connection.read_only = True
    connection.execute("create table never (n int)")


@case()
def returns_several_results(connection):
    cursor = connection.execute("select 1; select 2, 3; create temp table several (n int)")
    results = []
    while True:
        results.append(cursor.fetchall() if cursor.description else cursor.statusmessage)
        if not cursor.nextset():
            return results
