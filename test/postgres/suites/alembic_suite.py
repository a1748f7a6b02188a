"""Alembic and SQLAlchemy: revisions that are written, generated, applied and undone, and the database read back."""

import concurrent.futures
import contextlib
import io
import os
import tempfile

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.orm import declarative_base, relationship, Session

from cases import URI, run

directory = tempfile.mkdtemp()
os.mkdir(f"{directory}/versions")
engine = sa.create_engine(URI, pool_size=2, future=True)


def write(path, text):
    with open(f"{directory}/{path}", "w") as file:
        file.write(text)


write(
    "env.py",
    """
from alembic import context
settings = context.config.attributes
if context.is_offline_mode():
    context.configure(url="postgresql://", target_metadata=settings["metadata"], literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()
else:
    with settings["engine"].connect() as connection:
        context.configure(connection=connection, target_metadata=settings["metadata"], compare_type=True, transaction_per_migration=True)
        with context.begin_transaction():
            context.run_migrations()
""",
)
write(
    "script.py.mako",
    """
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = depends_on = None
from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
def upgrade():
    ${upgrades if upgrades else "pass"}
def downgrade():
    ${downgrades if downgrades else "pass"}
""",
)
#: An enum, data, and an index that is built outside of a transaction.
write(
    "versions/0003_by_hand.py",
    """
revision, down_revision, branch_labels, depends_on = "0003", "0002", None, None
from alembic import op
import sqlalchemy as sa
mood = sa.Enum("sad", "ok", name="mood")
def upgrade():
    mood.create(op.get_bind())
    op.add_column("customers", sa.Column("mood", mood, server_default="ok"))
    op.bulk_insert(sa.table("customers", sa.column("name", sa.String)), [{"name": "a"}, {"name": "b"}])
    with op.get_context().autocommit_block():
        op.execute("alter type mood add value 'great'")
        op.create_index("customers_by_mood", "customers", ["mood"], postgresql_concurrently=True)
    op.execute("update customers set mood = 'great' where name = 'b'")
def downgrade():
    op.drop_index("customers_by_mood")
    op.drop_column("customers", "mood")
    mood.drop(op.get_bind())
""",
)
write(
    "broken.py",
    """
revision, down_revision, branch_labels, depends_on = "0004", "0003", None, None
from alembic import op
def upgrade():
    op.execute("alter table customers add broken int")
    op.execute("insert into orders (total) values (-1)")
def downgrade():
    pass
""",
)
os.rename(f"{directory}/versions/0003_by_hand.py", f"{directory}/by_hand.py")

Base = declarative_base()


class Customer(Base):
    __tablename__ = "customers"
    id = sa.Column(sa.Integer, sa.Identity(), primary_key=True)
    name = sa.Column(sa.String(40), nullable=False, unique=True)
    orders = relationship("Order", back_populates="customer", cascade="all, delete-orphan")


class Order(Base):
    __tablename__ = "orders"
    __table_args__ = (sa.CheckConstraint("total >= 0", name="positive_total"),)
    id = sa.Column(sa.BigInteger, primary_key=True)
    customer_id = sa.Column(sa.ForeignKey("customers.id", ondelete="cascade"))
    total = sa.Column(sa.Numeric(10, 2), nullable=False)
    tags = sa.Column(pg.ARRAY(sa.Text))
    detail = sa.Column(pg.JSONB)
    at = sa.Column(sa.DateTime(timezone=True), server_default=sa.text("'2026-01-01'"))
    during = sa.Column(pg.TSTZRANGE)
    customer = relationship(Customer, back_populates="orders")


def alembic(name, *args, **options):
    out = io.StringIO()
    config = Config(stdout=out, output_buffer=out)
    config.set_main_option("script_location", directory)
    config.attributes.update(engine=engine, metadata=Base.metadata)
    with contextlib.redirect_stdout(out):
        getattr(command, name)(config, *args, **options)
    return out.getvalue().replace(directory, "")


def describe(error):
    original = getattr(error, "orig", None)
    return {"type": type(error).__name__, "text": str(error), "sqlstate": getattr(original, "pgcode", None)}


def case(needs_session=False):
    return lambda work: run(work.__name__, work, describe, needs_session)


def rows(statement):
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.text(statement))]


def schema():
    inspector = sa.inspect(engine)
    return {
        table: {
            "columns": [(one["name"], str(one["type"]), one["nullable"], one["default"]) for one in inspector.get_columns(table)],
            "indexes": inspector.get_indexes(table),
            "keys": inspector.get_foreign_keys(table),
            "primary": inspector.get_pk_constraint(table),
            "unique": inspector.get_unique_constraints(table),
            "checks": inspector.get_check_constraints(table),
        }
        for table in sorted(inspector.get_table_names())
    }


@case()
def uses_tls():
    with engine.connect() as connection:
        return connection.connection.dbapi_connection.info.ssl_in_use


@case()
def generates_the_first_revision():
    alembic("revision", "first", autogenerate=True, rev_id="0001")
    with open(f"{directory}/versions/0001_first.py") as file:
        return file.read()


@case()
def upgrades():
    alembic("upgrade", "head")
    return alembic("current"), schema()


@case()
def stores_and_reads_objects():
    with Session(engine) as session:
        for n in range(3):
            order = Order(total=n, tags=["a", None], detail={"n": [n, "☃"]}, during=sa.text("'[2026-01-01,2026-02-01)'::tstzrange"))
            session.add(Customer(name=f"customer {n}", orders=[order]))
        session.commit()
        found = session.query(Order).filter(Order.detail["n"][0].as_integer() > 0).order_by(Order.id)
        return [(one.customer.name, one.total, one.tags, one.detail, one.at, one.during) for one in found]


@case()
def rolls_a_savepoint_back():
    with Session(engine) as session:
        session.add(Customer(name="outer"))
        try:
            with session.begin_nested():
                session.add(Customer(name="customer 1"))
        except sa.exc.IntegrityError as error:
            refused = describe(error)
        session.commit()
        return refused, session.query(Customer).count()


@case()
def inserts_many_and_streams_them():
    with engine.begin() as connection:
        connection.execute(Order.__table__.insert(), [{"total": n} for n in range(5000)])
        streamed = connection.execution_options(stream_results=True, yield_per=100)
        return sum(row.total for row in streamed.execute(sa.select(Order.total)))


@case()
def inserts_or_updates():
    statement = pg.insert(Customer).values(name="customer 1")
    with engine.begin() as connection:
        changed = statement.on_conflict_do_update(index_elements=["name"], set_={"name": "changed"})
        return [tuple(row) for row in connection.execute(changed.returning(Customer.name))]


@case()
def rejects_what_a_constraint_forbids():
    with engine.begin() as connection:
        connection.execute(Order.__table__.insert(), {"total": -1})


@case()
def has_isolation_levels():
    seen = []
    for level in ("REPEATABLE READ", "SERIALIZABLE", "AUTOCOMMIT"):
        with engine.connect().execution_options(isolation_level=level) as connection:
            seen.append(connection.execute(sa.text("show transaction_isolation")).scalar())
    return seen


@case()
def has_more_threads_than_connections():
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        return list(threads.map(lambda n: rows(f"select {n}, pg_sleep(0.02)")[0][0], range(40)))


@case()
def discards_connections_that_have_ended():
    with engine.connect() as connection:
        pid = connection.execute(sa.text("select pg_backend_pid()")).scalar()
    other = sa.create_engine(URI.replace("-pooler", ""), poolclass=sa.pool.NullPool, future=True)
    with other.connect() as connection:
        connection.execute(sa.text("select pg_terminate_backend(:pid)"), {"pid": pid})
    checked = sa.create_engine(URI, pool_pre_ping=True, future=True)
    with checked.connect() as connection:
        return connection.execute(sa.text("select 1")).scalar()


@case()
def generates_a_revision_of_what_changed():
    engine.dispose()
    Order.__table__.append_column(sa.Column("note", sa.Text, index=True))
    Customer.__table__.c.name.type = sa.String(80)
    alembic("revision", "second", autogenerate=True, rev_id="0002")
    with open(f"{directory}/versions/0002_second.py") as file:
        return file.read()


@case()
def upgrades_with_an_enum_data_and_a_concurrent_index():
    os.rename(f"{directory}/by_hand.py", f"{directory}/versions/0003_by_hand.py")
    alembic("upgrade", "+1")
    middle = alembic("current")
    alembic("upgrade", "head")
    return middle, alembic("current"), schema(), rows("select name, mood from customers order by name")


@case()
def undoes_a_revision_that_fails():
    os.rename(f"{directory}/broken.py", f"{directory}/versions/0004_broken.py")
    try:
        alembic("upgrade", "head")
    except sa.exc.DBAPIError as error:
        failed = describe(error)
    os.remove(f"{directory}/versions/0004_broken.py")
    return failed, alembic("current"), [name for name, *_ in schema()["customers"]["columns"]]


@case()
def writes_sql_instead():
    return alembic("upgrade", "0001:0003", sql=True), alembic("downgrade", "0003:0001", sql=True), alembic("history")


@case()
def downgrades():
    alembic("downgrade", "-1")
    one = alembic("current"), sorted(schema()["customers"]["indexes"], key=str)
    alembic("downgrade", "base")
    return one, alembic("current"), schema(), rows("select typname from pg_type where typname = 'mood'")


@case()
def upgrades_again_and_stamps():
    alembic("upgrade", "head")
    alembic("stamp", "0001")
    return alembic("current"), sorted(schema())


@case()
def creates_and_drops_all_tables():
    with engine.begin() as connection:
        connection.execute(sa.text("create schema other"))
    tables = sa.MetaData(schema="other")
    for table in Base.metadata.sorted_tables:
        table.to_metadata(tables, schema="other")
    tables.create_all(engine)
    reflected = sa.MetaData(schema="other")
    reflected.reflect(engine)
    tables.drop_all(engine)
    return sorted(reflected.tables), sa.inspect(engine).get_table_names("other")
