// Knex: migrations with their lock, queries, transactions, streams.
import knex from "knex";
import { connection, describe, run } from "./cases.mjs";

const database = knex({ client: "pg", connection, pool: { min: 0, max: 4 } });

const first = {
  up: (k) =>
    k.schema
      .createTable("customers", (t) => {
        t.increments();
        t.string("name", 40).notNullable().unique();
        t.timestamp("since").defaultTo("2026-01-01T00:00:00Z");
      })
      .createTable("orders", (t) => {
        t.bigIncrements();
        t.integer("customer_id").references("customers.id").onDelete("cascade").index();
        t.decimal("total", 10, 2).checkPositive();
        t.specificType("tags", "text[]").index(undefined, "gin");
        t.jsonb("detail");
        t.uuid("key");
        t.binary("content");
        t.enu("mood", ["sad", "ok"], { useNative: true, enumName: "mood" });
      }),
  down: (k) => k.schema.dropTable("orders").dropTable("customers").raw("drop type mood"),
};
const second = {
  up: async (k) => {
    await k.schema.alterTable("customers", (t) => t.text("display"));
    await k("customers").update({ display: k.raw("upper(name)") });
    await k.schema.alterTable("customers", (t) => {
      t.text("name").notNullable().alter();
      t.renameColumn("since", "joined");
    });
  },
  down: (k) =>
    k.schema.alterTable("customers", (t) => {
      t.renameColumn("joined", "since");
      t.dropColumn("display");
    }),
};
const third = {
  config: { transaction: false },
  up: (k) => k.raw("create index concurrently orders_by_total on orders (total)"),
  down: (k) => k.raw("drop index concurrently orders_by_total"),
};
const broken = {
  up: async (k) => {
    await k.schema.alterTable("customers", (t) => t.integer("broken"));
    await k("orders").insert({ total: -1 });
  },
  down: () => Promise.resolve(),
};

function sourceOf(migrations) {
  return {
    migrationSource: {
      getMigrations: () => Promise.resolve(Object.keys(migrations)),
      getMigrationName: (name) => name,
      getMigration: (name) => Promise.resolve(migrations[name]),
    },
  };
}

const columns = () =>
  database("information_schema.columns")
    .where({ table_schema: "public" })
    .orderBy(["table_name", "ordinal_position"])
    .select("table_name", "column_name", "data_type", "is_nullable", "column_default");

await run("uses TLS", async () => {
  const acquired = await database.client.acquireConnection();
  await database.client.releaseConnection(acquired);
  return acquired.connection.stream.encrypted === true;
});
await run("migrates", async () => [await database.migrate.latest(sourceOf({ first })), await columns()]);
await run("stores and reads rows", async () => {
  for (const n of [0, 1, 2]) {
    const [customer] = await database("customers")
      .insert({ name: `customer ${n}` })
      .returning("*");
    await database("orders").insert({
      customer_id: customer.id,
      total: "12.50",
      tags: ["a", `t${n}`],
      detail: { n, nested: [null, "☃"] },
      key: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
      content: Buffer.from([0, 255]),
      mood: "ok",
    });
  }
  return database("orders").join("customers", "customers.id", "customer_id").orderBy("orders.id");
});
await run("finds rows by their values", async () => [
  await database("orders")
    .whereRaw("tags @> ?", [["t1"]])
    .pluck("id"),
  await database("orders").whereJsonPath("detail", "$.n", ">", 0).orderBy("id").pluck("id"),
  await database("orders").groupBy("mood").sum("total as sum").select("mood"),
]);
await run("inserts many and streams them", async () => {
  await database.batchInsert(
    "orders",
    Array.from({ length: 3000 }, (_, n) => ({ total: n + 1 })),
    500,
  );
  let sum = 0;
  for await (const { total } of database("orders").select("total").stream()) sum += Number(total);
  return sum;
});
await run("inserts or updates", () =>
  database("customers").insert({ name: "customer 1" }).onConflict("name").merge().returning(["name"]),
);
await run("rolls a savepoint back", () =>
  database.transaction(async (outer) => {
    await outer("customers").insert({ name: "outer" });
    const refused = await outer
      .transaction((inner) => inner("customers").insert({ name: "outer" }))
      .catch(describe);
    return [refused, await outer("customers").where({ name: "outer" }).count()];
  }),
);
await run("rejects what a constraint forbids", () => database("orders").insert({ total: -1 }));
await run("has isolation levels", () =>
  database.transaction((t) => t.raw("show transaction_isolation").then(({ rows }) => rows), {
    isolationLevel: "serializable",
  }),
);
await run("cancels a query after its timeout", () =>
  database.raw("select pg_sleep(20)").timeout(300, { cancel: true }),
);
await run("has more queries than connections", () =>
  Promise.all(
    Array.from({ length: 30 }, async (_, n) => (await database.raw("select ?::int as n", [n])).rows[0].n),
  ),
);
await run("migrates to a later release", async () => [
  await database.migrate.latest(sourceOf({ first, second, third })),
  await database("customers").orderBy("id"),
  await columns(),
]);
await run("undoes a migration that fails", async () => [
  await database.migrate.latest(sourceOf({ first, second, third, broken })).catch(describe),
  await database.migrate
    .list(sourceOf({ first, second, third, broken }))
    .then(([done, next]) => [done.map(({ name }) => name), next]),
  (await columns()).some(({ column_name }) => column_name === "broken"),
]);
await run("lets one process migrate at a time", async () => {
  await database("knex_migrations_lock").update({ is_locked: 1 });
  const refused = await database.migrate.latest(sourceOf({ first, second, third })).catch(({ name }) => name);
  await database.migrate.forceFreeMigrationsLock(sourceOf({ first, second, third }));
  return refused;
});
await run("rolls back", async () => [
  await database.migrate.rollback(sourceOf({ first, second, third })),
  await columns(),
  await database.migrate.rollback(sourceOf({ first, second, third }), true),
  await columns(),
]);
await run("migrates one by one", async () => [
  await database.migrate.up(sourceOf({ first, second })),
  await database.migrate.up(sourceOf({ first, second })),
  await database.migrate.down(sourceOf({ first, second })),
  await database.migrate.currentVersion(sourceOf({ first, second })),
]);
await database.destroy();
