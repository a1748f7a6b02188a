// TypeORM: migrations that it generates from entities, all or none in a transaction, and reverts; records.
import "reflect-metadata";
import typeorm from "typeorm";
import { connection, describe, run } from "./cases.mjs";

const { DataSource, EntitySchema, Raw } = typeorm;
const { host, port, database, user: username, password, options, ssl } = connection;

const customer = (more = {}) =>
  new EntitySchema({
    name: "Customer",
    columns: {
      id: { type: Number, primary: true, generated: "identity" },
      name: { type: "varchar", length: 40, unique: true },
      ...more,
    },
    relations: { orders: { type: "one-to-many", target: "Order", inverseSide: "customer", cascade: true } },
  });
const order = (more = {}) =>
  new EntitySchema({
    name: "Order",
    tableName: "orders",
    columns: {
      id: { type: "bigint", primary: true, generated: true },
      total: { type: "numeric", precision: 10, scale: 2 },
      tags: { type: "text", array: true, nullable: true },
      detail: { type: "jsonb", nullable: true },
      content: { type: "bytea", nullable: true },
      mood: { type: "enum", enum: ["sad", "ok"], enumName: "mood", nullable: true },
      at: { type: "timestamptz", default: "2026-01-01T00:00:00Z" },
      ...more,
    },
    relations: {
      customer: {
        type: "many-to-one",
        target: "Customer",
        onDelete: "CASCADE",
        joinColumn: true,
        inverseSide: "orders",
      },
    },
    checks: [{ name: "positive", expression: "total >= 0" }],
    indices: [{ name: "orders_by_at", columns: ["at"] }],
  });

const migrations = [];

async function withSource(entities, work) {
  const source = new DataSource({
    ...{ type: "postgres", host, port, username, password, database, ssl, entities, migrations },
    extra: { options, max: 4 },
  });
  await source.initialize();
  try {
    return await work(source);
  } finally {
    await source.destroy();
  }
}

/** What `typeorm migration:generate` does: the difference between the entities and the database as a migration. */
async function generate(source, name) {
  const { upQueries, downQueries } = await source.driver.createSchemaBuilder().log();
  const migration = {
    [name]: class {
      name = name;
      async up(runner) {
        for (const { query, parameters } of upQueries) await runner.query(query, parameters);
      }
      async down(runner) {
        for (const { query, parameters } of [...downQueries].reverse()) await runner.query(query, parameters);
      }
    },
  }[name];
  migrations.push(migration);
  return upQueries.map(({ query }) => query);
}

const columns = (source) =>
  source.query(
    "select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position",
  );
const names = (executed) => executed.map(({ name }) => name);
const FIRST = [customer(), order()];
const SECOND = [
  customer({ display: { type: "text", default: "" } }),
  order({ note: { type: "varchar", nullable: true } }),
];

await run("uses TLS", () =>
  withSource([], async (source) => {
    const [acquired, release] = await source.driver.obtainMasterConnection();
    release();
    return acquired.connection.stream.encrypted === true;
  }),
);
await run("generates the first migration", () =>
  withSource(FIRST, (source) => generate(source, "First1700000000001")),
);
await run("migrates", () =>
  withSource(FIRST, async (source) => [
    await source.showMigrations(),
    names(await source.runMigrations()),
    await source.showMigrations(),
    await columns(source),
  ]),
);
await run("finds nothing more to generate", () =>
  withSource(FIRST, async (source) => (await source.driver.createSchemaBuilder().log()).upQueries),
);
await run("stores and reads records", () =>
  withSource(FIRST, async ({ manager }) => {
    for (const n of [0, 1, 2])
      await manager.save("Customer", {
        name: `customer ${n}`,
        orders: [
          {
            total: "12.50",
            tags: ["a", `t${n}`],
            detail: { n, nested: [null, "☃"] },
            content: Buffer.from([0, 255]),
            mood: "ok",
          },
        ],
      });
    return manager.find("Customer", { relations: { orders: true }, order: { id: "ASC" } });
  }),
);
await run("finds records by their values", () =>
  withSource(FIRST, async ({ manager }) => [
    await manager.countBy("Order", { tags: Raw((column) => `${column} @> :tags`, { tags: ["t1"] }) }),
    await manager.sum("Order", "total"),
    await manager.findOneBy("Customer", { name: "customer 1" }),
    await manager
      .createQueryBuilder("Order", "o")
      .innerJoin("o.customer", "c")
      .select("c.name", "name")
      .orderBy("o.id")
      .getRawMany(),
  ]),
);
await run("inserts many, inserts or updates", () =>
  withSource(FIRST, async ({ manager }) => {
    await manager.insert(
      "Order",
      Array.from({ length: 2000 }, (_, n) => ({ total: n })),
    );
    await manager.upsert("Customer", [{ name: "customer 1" }, { name: "another" }], ["name"]);
    return [await manager.count("Order"), await manager.count("Customer")];
  }),
);
await run("streams rows of a query", () =>
  withSource(
    FIRST,
    async (source) =>
      (await source.createQueryRunner().query("select count(*) from orders", [], true)).records,
  ),
);
await run("rolls a savepoint back", () =>
  withSource(FIRST, ({ manager }) =>
    manager.transaction(async (outer) => {
      await outer.insert("Customer", { name: "outer" });
      const refused = await outer
        .transaction((inner) => inner.insert("Customer", { name: "outer" }))
        .catch(describe);
      return [refused, await outer.countBy("Customer", { name: "outer" })];
    }),
  ),
);
await run("rejects what a constraint forbids", () =>
  withSource(FIRST, ({ manager }) => manager.insert("Order", { total: -1 })),
);
await run("has isolation levels and locks", () =>
  withSource(FIRST, ({ manager }) =>
    manager.transaction("SERIALIZABLE", async (inner) => [
      await inner.query("show transaction_isolation"),
      await inner.findOne("Customer", { where: { name: "customer 1" }, lock: { mode: "pessimistic_write" } }),
    ]),
  ),
);
await run("generates a migration of what changed", () =>
  withSource(SECOND, (source) => generate(source, "Second1700000000002")),
);
await run("migrates to a later release", () =>
  withSource(SECOND, async (source) => [names(await source.runMigrations()), await columns(source)]),
);
await run("undoes all migrations of a run if one fails", async () => {
  class Broken1700000000003 {
    name = "Broken1700000000003";
    async up(runner) {
      await runner.query("alter table customer add broken int");
      await runner.query("insert into orders (total) values (-1)");
    }
    async down() {}
  }
  migrations.push(Broken1700000000003);
  const failed = await withSource(SECOND, (source) => source.runMigrations({ transaction: "all" })).catch(
    describe,
  );
  migrations.pop();
  return withSource(SECOND, async (source) => [
    failed,
    await columns(source),
    await source.query("select name from migrations order by id"),
  ]);
});
await run("reverts migrations", () =>
  withSource(SECOND, async (source) => {
    await source.undoLastMigration();
    const middle = await columns(source);
    await source.undoLastMigration();
    return [
      middle,
      await columns(source),
      await source.query("select typname from pg_type where typname = 'mood'"),
    ];
  }),
);
await run("migrates without a transaction, and again", () =>
  withSource(SECOND, async (source) => [
    names(await source.runMigrations({ transaction: "none" })),
    await source.showMigrations(),
  ]),
);
await run("synchronizes and drops the schema", () =>
  withSource(FIRST, async (source) => {
    await source.synchronize();
    const synchronized = await columns(source);
    await source.dropDatabase();
    return [synchronized, await columns(source)];
  }),
);
