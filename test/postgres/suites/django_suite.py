"""Django: migrations of an app of its own and of those that come with it, the ORM, its introspection and its test database."""

import datetime
import decimal
import io
import os
import sys
import tempfile
from urllib.parse import parse_qsl, unquote, urlsplit

import django
from django.conf import settings

from cases import URI, run

parts = urlsplit(URI)
directory = tempfile.mkdtemp()
sys.path.insert(0, directory)
os.makedirs(f"{directory}/shop/migrations")
open(f"{directory}/shop/__init__.py", "w").close()
open(f"{directory}/shop/migrations/__init__.py", "w").close()

FIRST = """
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

class Customer(models.Model):
    name = models.CharField(max_length=40, unique=True)
    since = models.DateTimeField(null=True)

class Order(models.Model):
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="orders")
    total = models.DecimalField(max_digits=10, decimal_places=2)
    tags = ArrayField(models.CharField(max_length=10), default=list)
    detail = models.JSONField(default=dict)
    key = models.UUIDField(null=True)
    content = models.BinaryField(null=True)
    lasted = models.DurationField(null=True)

    class Meta:
        indexes = [GinIndex(fields=["tags"], name="orders_by_tag")]
        constraints = [models.CheckConstraint(check=models.Q(total__gte=0), name="positive_total")]
"""

#: What a later release of the app needs: a new column with data, another type, an index that is built concurrently.
SECOND = """
from django.db import migrations, models

def give_names(apps, _editor):
    for customer in apps.get_model("shop", "Customer").objects.all():
        customer.display = customer.name.upper()
        customer.save()

class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial")]
    operations = [
        migrations.AddField("customer", "display", models.CharField(max_length=80, default="")),
        migrations.RunPython(give_names, migrations.RunPython.noop),
        migrations.AlterField("customer", "name", models.TextField()),
        migrations.RenameField("order", "lasted", "duration"),
        migrations.RunSQL("create view totals as select customer_id, sum(total) from shop_order group by 1", "drop view totals"),
    ]
"""
THIRD = """
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

class Migration(migrations.Migration):
    atomic = False
    dependencies = [("shop", "0002_display")]
    operations = [AddIndexConcurrently("order", models.Index(fields=["total"], name="orders_by_total"))]
"""
#: Fails in the middle. Its first operation must be gone.
BROKEN = """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("shop", "0003_index")]
    operations = [
        migrations.AddField("customer", "broken", models.IntegerField(null=True)),
        migrations.RunSQL("insert into shop_order (total) values (-1)"),
    ]
"""


def write(path, text):
    with open(f"{directory}/shop/{path}", "w") as file:
        file.write(text)


write("models.py", FIRST)
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": parts.path[1:],
            "USER": parts.username,
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname,
            "PORT": parts.port,
            "OPTIONS": dict(parse_qsl(parts.query)),
        }
    },
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "shop"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    USE_TZ=True,
)
django.setup()

from django.contrib.auth.models import Group, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from shop.models import Customer, Order  # noqa: E402


def describe(error):
    cause = getattr(error, "__cause__", None)
    return {"type": type(error).__name__, "text": str(error), "sqlstate": getattr(cause, "pgcode", None)}


def case(work, needs_session=False):
    run(work.__name__, work, describe, needs_session)
    connection.close()


def needing_a_session(work):
    case(work, needs_session=True)


def command(*args, **options):
    out = io.StringIO()
    call_command(*args, stdout=out, stderr=out, no_color=True, **options)
    return out.getvalue()


def tables():
    with connection.cursor() as cursor:
        return sorted(tuple(one) for one in connection.introspection.get_table_list(cursor))


@case
def uses_tls():
    connection.ensure_connection()
    return connection.connection.info.ssl_in_use


@case
def writes_its_first_migration():
    return command("makemigrations", "shop", verbosity=0), command("sqlmigrate", "shop", "0001")


@case
def plans_all_migrations():
    return command("migrate", plan=True)


@case
def migrates():
    return command("migrate"), command("showmigrations"), tables()


@case
def finds_nothing_more_to_migrate():
    return command("migrate"), command("makemigrations", check=True, dry_run=True), command("check", databases=["default"])


@case
def stores_and_reads_objects():
    at = datetime.datetime(2026, 2, 28, 12, 0, 0, 123456, tzinfo=datetime.timezone.utc)
    for n in range(3):
        customer = Customer.objects.create(name=f"customer {n}", since=at)
        Order.objects.create(
            customer=customer,
            total=decimal.Decimal("12.50") * n,
            tags=["a", f"t{n}"],
            detail={"n": n, "nested": [None, {"é": "☃"}]},
            key="a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            content=b"\x00\xff",
            lasted=datetime.timedelta(days=1, seconds=n),
        )
    return list(Order.objects.order_by("id").values_list())


@case
def finds_objects_by_their_values():
    return {
        "tags": list(Order.objects.filter(tags__contains=["t1"]).values_list("id")),
        "json": list(Order.objects.filter(detail__nested__1__é="☃", detail__n__gt=0).values_list("id")),
        "joined": list(Customer.objects.annotate(sum=models.Sum("orders__total")).order_by("id").values_list("name", "sum")),
        "dates": list(Customer.objects.dates("since", "month")),
        "explained": "Seq Scan" in Order.objects.filter(customer_id__gt=0).explain(),
    }


@case
def inserts_many_and_reads_them_with_a_cursor():
    customer = Customer.objects.order_by("id").first()
    Order.objects.bulk_create([Order(customer=customer, total=n) for n in range(3000)], batch_size=500)
    with transaction.atomic():
        return sum(order.total for order in Order.objects.order_by("id").iterator(chunk_size=200))


@case
def updates_or_creates_and_locks():
    with transaction.atomic():
        locked = Customer.objects.select_for_update().get(name="customer 1")
        Order.objects.filter(customer=locked).update(total=models.F("total") + 1)
    made = Customer.objects.update_or_create(name="customer 9", defaults={"since": None})[1]
    return made, Customer.objects.get_or_create(name="customer 9")[1]


@case
def rolls_a_savepoint_back():
    with transaction.atomic():
        Customer.objects.create(name="outer")
        try:
            with transaction.atomic():
                Customer.objects.create(name="outer")
        except django.db.IntegrityError as error:
            refused = describe(error)
    return refused, Customer.objects.filter(name="outer").count()


@case
def rejects_what_a_constraint_forbids():
    Order.objects.create(customer=Customer.objects.first(), total=-1)


@case
def rejects_statements_after_an_error():
    with transaction.atomic():
        try:
            Order.objects.create(customer_id=None, total=1)
        except django.db.IntegrityError:
            pass
        Customer.objects.count()


@case
def has_users_and_groups():
    user = User.objects.create_user("ada", "ada@example.com", "secret")
    user.groups.add(Group.objects.create(name="writers"))
    return user.check_password("secret"), list(User.objects.filter(groups__name="writers").values_list("username")), user.has_perm("shop.add_order")


@case
def dumps_and_loads_objects():
    dumped = command("dumpdata", "shop.customer", "auth.group", indent=1)
    with open(f"{directory}/dumped.json", "w") as file:
        file.write(dumped)
    return dumped, command("loaddata", f"{directory}/dumped.json"), command("sqlsequencereset", "shop")


@case
def reads_the_schema_back():
    return command("inspectdb")


write("migrations/0002_display.py", SECOND)
write("migrations/0003_index.py", THIRD)


@case
def migrates_to_a_later_release():
    with connection.cursor() as cursor:
        migrated = command("migrate", "shop"), command("sqlmigrate", "shop", "0002"), command("showmigrations", "shop")
        cursor.execute("select name, display from shop_customer order by id")
        names = cursor.fetchall()
        cursor.execute("select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1")
        return migrated, names, cursor.fetchall()


@case
def undoes_a_migration_that_fails():
    write("migrations/0004_broken.py", BROKEN)
    try:
        command("migrate", "shop")
    except django.db.Error as error:
        failed = describe(error)
    os.remove(f"{directory}/shop/migrations/0004_broken.py")
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, "shop_customer")
        return failed, [column.name for column in columns], command("showmigrations", "shop")


@case
def rolls_migrations_back():
    return command("migrate", "shop", "0001"), tables(), command("migrate", "shop", "zero"), tables()


@case
def migrates_again():
    return command("migrate", "shop"), command("migrate", "shop", "0001", fake=True), command("migrate", "shop", fake=True)


# Through PgBouncer, too, sessions of the pooler stay in a database, so that it cannot be dropped.
@needing_a_session
def creates_and_destroys_a_database_for_tests():
    name = connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        return name, User.objects.count(), tables()
    finally:
        connection.creation.destroy_test_db(parts.path[1:], verbosity=0)


@case
def empties_all_tables():
    return command("flush", interactive=False), User.objects.count()
