"""Psycopg 2: sessions, types, transactions, errors, COPY, notifications, cancellation and large objects."""

import io
import select
import threading

import psycopg2
import psycopg2.errorcodes
import psycopg2.extensions
import psycopg2.extras

from cases import URI, run


def connect(**parameters):
    return psycopg2.connect(URI, **parameters)


def describe(error):
    fields = "severity sqlstate message_primary message_detail message_hint context schema_name table_name column_name constraint_name statement_position source_function".split()
    diag = getattr(error, "diag", None)
    described = {name: getattr(diag, name, None) for name in fields}
    if described["message_primary"] is None:
        described["text"] = str(error)
    return {"type": type(error).__name__, **described}


def case(needs_session=False):
    def register(work):
        def with_connection():
            connection = connect()
            try:
                return work(connection)
            finally:
                connection.close()

        run(work.__name__, with_connection, describe, needs_session)

    return register


def rows(connection, statement, values=None):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else cursor.rowcount


@case()
def uses_tls(connection):
    return connection.info.ssl_in_use


@case()
def reports_parameters_of_the_session(connection):
    names = "server_version server_encoding client_encoding DateStyle IntervalStyle TimeZone integer_datetimes standard_conforming_strings is_superuser session_authorization default_transaction_read_only in_hot_standby search_path scram_iterations".split()
    return {name: connection.get_parameter_status(name) for name in names}


@case()
def knows_who_it_is(connection):
    return rows(connection, "select current_user, session_user, current_database(), version()")


# The pooler, like PgBouncer, rejects settings of a session in `options`.
@case(needs_session=True)
def sets_parameters_when_it_connects(_):
    options = psycopg2.extensions.parse_dsn(URI).get("options", "")
    other = connect(
        application_name="of the driver", options=f"{options} -c statement_timeout=4321 -c work_mem=5MB"
    )
    try:
        return rows(
            other,
            "select current_setting(n) from unnest(array['application_name', 'statement_timeout', 'work_mem']) n",
        )
    finally:
        other.close()


@case()
def has_an_encoding(connection):
    connection.set_client_encoding("LATIN1")
    return connection.encoding, rows(connection, "select 'é', length('é')")


@case()
def round_trips_types(connection):
    values = {
        "numeric": "12345678901234567890.123456789",
        "float8": 0.1,
        "bool": True,
        "text": "a'\\\"\n☃ 𝄞",
        "bytea": psycopg2.Binary(bytes(range(256))),
        "date": "2026-02-28",
        "timestamptz": "2026-02-28 23:59:59.123456+05:30",
        "interval": "1 year 2 days 03:04:05.6",
        "int[]": [1, None, 3],
        "text[]": ["a,b", '"', "NULL", None],
        "jsonb": psycopg2.extras.Json({"b": [1, 2], "a": None}),
        "uuid": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "inet": "10.0.0.1/8",
        "int4range": "[1,5)",
        "point": "(1,2)",
        "bit(5)": "10101",
        "money": "12.34",
        "xml": "<a/>",
        "tsvector": "fat cats",
    }
    return {
        name: rows(connection, f"select %s::{name}, pg_typeof(%s::{name})::text", (value, value))
        for name, value in values.items()
    }


@case()
def describes_columns(connection):
    with connection.cursor() as cursor:
        cursor.execute("select 1 as a, 'x'::varchar(7) as b, 1.5::numeric(9, 3) as c, now() as d, null as e")
        return [tuple(column) for column in cursor.description]


@case()
def commits_and_rolls_back(connection):
    with connection:
        rows(connection, "create table accounts (id int primary key, amount int check (amount >= 0))")
        rows(connection, "insert into accounts values (1, 100), (2, 0)")
    try:
        with connection:
            rows(connection, "update accounts set amount = amount + 150 where id = 2")
            rows(connection, "update accounts set amount = amount - 150 where id = 1")
    except psycopg2.errors.CheckViolation as error:
        refused = describe(error)
    return refused, rows(connection, "select * from accounts order by id")


@case()
def has_savepoints(connection):
    rows(connection, "create temp table t (n int) on commit drop; insert into t values (1); savepoint s")
    try:
        rows(connection, "insert into t values (1 / 0)")
    except psycopg2.errors.DivisionByZero:
        state = connection.info.transaction_status
    rows(connection, "rollback to s; insert into t values (2)")
    return state, rows(connection, "select * from t"), connection.info.transaction_status


@case()
def refuses_statements_after_an_error(connection):
    try:
        rows(connection, "select 1 / 0")
    except psycopg2.errors.DivisionByZero:
        pass
    return rows(connection, "select 2")


@case()
def has_isolation_levels(connection):
    seen = []
    for level in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
        connection.set_session(isolation_level=level, readonly=True, deferrable=True)
        seen.append(rows(connection, "show transaction_isolation") + rows(connection, "show transaction_read_only"))
        connection.rollback()
    return seen


@case()
def fails_to_serialize(connection):
    rows(connection, "create table slots (n int); insert into slots values (1)")
    connection.commit()
    other = connect()
    try:
        for one in (connection, other):
            one.set_session(isolation_level="SERIALIZABLE")
            rows(one, "select sum(n) from slots")
        for one in (connection, other):
            rows(one, "insert into slots values (2)")
        connection.commit()
        other.commit()
    finally:
        other.close()


@case()
def detects_a_deadlock(connection):
    rows(connection, "create table pairs (n int primary key); insert into pairs values (1), (2)")
    connection.commit()
    other = connect()
    errors = []

    def lock(one, n):
        try:
            rows(one, "select n from pairs where n = %s for update", (n,))
        except psycopg2.Error as error:
            errors.append(error.pgcode)
            one.rollback()

    lock(connection, 1)
    lock(other, 2)
    thread = threading.Thread(target=lock, args=(other, 1))
    thread.start()
    lock(connection, 2)
    thread.join()
    other.close()
    return errors


@case()
def names_the_parts_of_a_violation(connection):
    rows(connection, "create temp table named (n int constraint positive check (n > 0), m int unique)")
    rows(connection, "insert into named values (-1, 1)")


@case()
def says_where_a_syntax_error_is(connection):
    return rows(connection, "select a frm b")


@case()
def reports_an_error_of_a_function(connection):
    return rows(
        connection,
        "do $$ begin raise exception 'no' using errcode = 'P0042', detail = 'd', hint = 'h', schema = 's', table = 't', column = 'c', constraint = 'k'; end $$",
    )


@case()
def collects_notices(connection):
    rows(connection, "do $$ begin for n in 1..60 loop raise notice 'notice %', n; end loop; raise warning 'w'; end $$")
    return connection.notices


@case()
def refuses_a_lock_that_is_held(connection):
    other = connect()
    try:
        rows(connection, "create table locked (n int)")
        connection.commit()
        rows(connection, "lock table locked")
        return rows(other, "lock table locked nowait")
    finally:
        other.close()


@case()
def ends_a_statement_after_its_timeout(connection):
    rows(connection, "set local statement_timeout = 20")
    return rows(connection, "select pg_sleep(20)")


@case()
def cancels_a_statement(connection):
    timer = threading.Timer(0.3, connection.cancel)
    timer.start()
    return rows(connection, "select pg_sleep(20)")


@case()
def works_after_a_cancellation(connection):
    timer = threading.Timer(0.3, connection.cancel)
    timer.start()
    try:
        rows(connection, "select pg_sleep(20)")
    except psycopg2.errors.QueryCanceled:
        connection.rollback()
    timer.join()
    return rows(connection, "select 1")


@case()
def copies_in_and_out(connection):
    rows(connection, "create temp table copied (n int, t text)")
    with connection.cursor() as cursor:
        lines = "".join(f"{n}\tline {n}\n" for n in range(50_000))
        cursor.copy_expert("copy copied from stdin", io.StringIO(lines))
        copied = cursor.rowcount
        out = io.StringIO()
        cursor.copy_expert("copy (select * from copied order by n) to stdout", out)
        return copied, out.getvalue() == lines


@case()
def copies_binary(connection):
    rows(connection, "create temp table binary_rows (n int, t text)")
    with connection.cursor() as cursor:
        out = io.BytesIO()
        cursor.copy_expert("copy (select 1, 'a' union all select 2, null) to stdout (format binary)", out)
        out.seek(0)
        cursor.copy_expert("copy binary_rows from stdin (format binary)", out)
    return out.getvalue(), rows(connection, "select * from binary_rows")


@case()
def reports_the_line_of_a_failed_copy(connection):
    rows(connection, "create temp table failed (n int)")
    with connection.cursor() as cursor:
        cursor.copy_expert("copy failed from stdin", io.StringIO("1\n2\nthree\n"))


@case()
def stops_a_copy_whose_source_fails(connection):
    rows(connection, "create temp table stopped (n int)")

    class Broken:
        def __init__(self):
            self.reads = 0

        def read(self, _size):
            self.reads += 1
            if self.reads > 2:
                raise ValueError("the source is broken")
            return "1\n" * 5000

    with connection.cursor() as cursor:
        cursor.copy_expert("copy stopped from stdin", Broken())


@case()
def reads_with_a_cursor_of_the_server(connection):
    with connection.cursor(name="c", scrollable=True) as cursor:
        cursor.itersize = 100
        cursor.execute("select n from generate_series(1, 1000) n")
        first = cursor.fetchmany(3)
        cursor.scroll(500)
        return first, cursor.fetchone(), sum(n for (n,) in cursor)


@case(needs_session=True)
def keeps_a_cursor_after_a_commit(connection):
    with connection.cursor(name="held", withhold=True) as cursor:
        cursor.execute("select n from generate_series(1, 10) n")
        connection.commit()
        return cursor.fetchall()


@case(needs_session=True)
def prepares_by_statement(connection):
    connection.autocommit = True
    rows(connection, "prepare plan (int) as select $1 * 2")
    return rows(connection, "execute plan(21)"), rows(connection, "select name, statement from pg_prepared_statements")


@case(needs_session=True)
def receives_notifications(connection):
    other = connect()
    try:
        for one in (connection, other):
            one.autocommit = True
        rows(connection, "listen news")
        rows(other, "select pg_notify('news', 'number ' || n) from generate_series(1, 3) n")
        rows(other, "notify \"other\", 'nobody listens'")
        while len(connection.notifies) < 3:
            if select.select([connection], [], [], 10) == ([], [], []):
                raise TimeoutError("no notification in 10 s")
            connection.poll()
        return [(one.channel, one.payload) for one in connection.notifies]
    finally:
        other.close()


@case(needs_session=True)
def has_advisory_locks_and_settings(connection):
    connection.autocommit = True
    other = connect()
    try:
        rows(connection, "select pg_advisory_lock(7); set search_path = pg_catalog; set role none")
        return rows(other, "select pg_try_advisory_lock(7)"), rows(connection, "show search_path")
    finally:
        other.close()


@case()
def has_large_objects(connection):
    made = connection.lobject(0, "wb")
    made.write(b"0123456789" * 100_000)
    made.close()
    opened = connection.lobject(made.oid, "rb")
    opened.seek(999_990)
    result = opened.read(), opened.tell()
    opened.unlink()
    return result


@case()
def inserts_many(connection):
    rows(connection, "create temp table many (n int, t text)")
    with connection.cursor() as cursor:
        cursor.executemany("insert into many values (%s, %s)", [(n, str(n)) for n in range(500)])
        values = [(n, "v" * 100) for n in range(20_000)]
        psycopg2.extras.execute_values(cursor, "insert into many values %s", values, page_size=5000)
        psycopg2.extras.execute_batch(cursor, "insert into many values (%s, %s)", values[:2000], page_size=500)
    return rows(connection, "select count(*), sum(n) from many")


@case()
def returns_a_large_row(connection):
    [(text,)] = rows(connection, "select repeat('x', 20000000)")
    return len(text), text == "x" * 20_000_000


@case()
def sends_a_large_value(connection):
    return rows(connection, "select length(%s)", ("y" * 8_000_000,))


@case()
def reads_rows_as_dictionaries_and_composites(connection):
    rows(connection, "create type pair as (x int, y text)")
    psycopg2.extras.register_composite("pair", connection)
    with connection.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as cursor:
        cursor.execute("select row(1, 'a')::pair as one, array[row(2, 'b')::pair] as many")
        return [dict(row) for row in cursor.fetchall()]


@case()
def reads_hstore(connection):
    rows(connection, "create extension if not exists hstore")
    psycopg2.extras.register_hstore(connection)
    return rows(connection, "select %s::hstore", ({"a": "1", "b": None},))


@case()
def commits_in_two_phases(connection):
    connection.tpc_begin(connection.xid(42, "transaction", "branch"))
    rows(connection, "create table two_phases (n int)")
    connection.tpc_prepare()


@case()
def has_asynchronous_connections(_):
    connection = connect(async_=True)
    psycopg2.extras.wait_select(connection)
    cursor = connection.cursor()
    cursor.execute("select pg_sleep(0.05), 42")
    psycopg2.extras.wait_select(connection)
    result = cursor.fetchall()
    connection.close()
    return result


@case(needs_session=True)
def is_told_when_its_session_is_ended(connection):
    other = connect()
    try:
        other.autocommit = True
        # The key of the connection has another process id through a proxy, on the platform, too.
        [(pid,)] = rows(connection, "select pg_backend_pid()")
        rows(other, "select pg_terminate_backend(%s)", (pid,))
        try:
            return rows(connection, "select 1")
        except psycopg2.Error as error:
            # The text of libpq says whether the connection was encrypted.
            return type(error).__name__, connection.closed
    finally:
        other.close()


@case()
def is_refused_by_a_database_that_does_not_exist(_):
    connect(dbname="nowhere")


@case(needs_session=True)
def starts_replication(_):
    other = connect(connection_factory=psycopg2.extras.LogicalReplicationConnection)
    try:
        with other.cursor() as cursor:
            cursor.create_replication_slot("of_the_driver", output_plugin="test_decoding")
    finally:
        other.close()
