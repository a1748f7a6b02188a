// Sequelize: tables from models, migrations by its query interface, records, transactions.
import sequelize from "sequelize";
import { connection, describe, run } from "./cases.mjs";

const { DataTypes, Op, Sequelize, Transaction } = sequelize;
const { host, port, database, user, password, options, ssl } = connection;
const db = new Sequelize(database, user, password, {
  dialect: "postgres",
  host,
  port,
  logging: false,
  dialectOptions: { options, ssl },
  pool: { max: 4 },
});
const Customer = db.define(
  "customer",
  {
    name: { type: DataTypes.STRING(40), allowNull: false, unique: true },
  },
  { timestamps: false },
);
const Order = db.define(
  "order",
  {
    total: { type: DataTypes.DECIMAL(10, 2), allowNull: false },
    tags: DataTypes.ARRAY(DataTypes.TEXT),
    detail: DataTypes.JSONB,
    key: DataTypes.UUID,
    content: DataTypes.BLOB,
    mood: DataTypes.ENUM("sad", "ok"),
    during: DataTypes.RANGE(DataTypes.DATEONLY),
    at: { type: DataTypes.DATE, defaultValue: new Date("2026-01-01T00:00:00Z") },
  },
  { timestamps: false, indexes: [{ fields: ["tags"], using: "gin" }] },
);
Order.belongsTo(Customer, { onDelete: "cascade" });
Customer.hasMany(Order);
const schema = db.getQueryInterface();

async function tables() {
  const described = {};
  for (const name of (await schema.showAllTables()).sort()) {
    const indexes = (await schema.showIndex(name)).map(({ name, unique, definition }) => [
      name,
      unique,
      definition,
    ]);
    described[name] = [await schema.describeTable(name), indexes];
  }
  return described;
}

await run("uses TLS", async () => {
  const acquired = await db.connectionManager.getConnection();
  db.connectionManager.releaseConnection(acquired);
  return acquired.connection.stream.encrypted === true;
});
await run("knows the server", () => db.databaseVersion());
await run("creates tables from models", async () => {
  await db.sync();
  await db.sync();
  return tables();
});
await run("stores and reads records", async () => {
  for (const n of [0, 1, 2])
    await Customer.create(
      {
        name: `customer ${n}`,
        orders: [
          {
            total: "12.50",
            tags: ["a", `t${n}`],
            detail: { n, nested: [null, "☃"] },
            key: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            content: Buffer.from([0, 255]),
            mood: "ok",
            during: ["2026-01-01", "2026-02-01"],
          },
        ],
      },
      { include: [Order] },
    );
  return Customer.findAll({ include: [Order], order: ["id"] });
});
await run("finds records by their values", async () => [
  await Order.count({ where: { tags: { [Op.contains]: ["t1"] } } }),
  await Order.count({ where: { "detail.n": { [Op.gt]: 0 } } }),
  await Order.sum("total"),
  await Customer.findOrCreate({ where: { name: "customer 1" } }).then(([one, created]) => [
    one.name,
    created,
  ]),
]);
await run("inserts many, inserts or updates", async () => {
  await Order.bulkCreate(Array.from({ length: 2000 }, (_, n) => ({ total: n })));
  const [one] = await Customer.upsert({ name: "customer 1" }, { conflictFields: ["name"] });
  return [await Order.count(), one.name, await Order.increment("total", { where: { id: 1 } })];
});
await run("rolls a savepoint back", () =>
  db.transaction(async (transaction) => {
    await Customer.create({ name: "outer" }, { transaction });
    const refused = await db
      .transaction({ transaction }, (inner) => Customer.create({ name: "outer" }, { transaction: inner }))
      .catch(describe);
    return [refused, await Customer.count({ where: { name: "outer" }, transaction })];
  }),
);
await run("rejects a key that refers to nothing", () => Order.create({ total: 1, customerId: 999 }));
await run("rejects a value that the type forbids", () =>
  db.query("select :value::int", { replacements: { value: "x" } }),
);
await run("binds parameters", () =>
  db.query("select $n::int + 1 as n, $b::text as t", { bind: { n: 41, b: "a" }, plain: true }),
);
await run("has isolation levels and locks", () =>
  db.transaction({ isolationLevel: Transaction.ISOLATION_LEVELS.SERIALIZABLE }, async (transaction) => [
    await db.query("show transaction_isolation", { transaction, plain: true }),
    (await Customer.findOne({ where: { name: "customer 1" }, transaction, lock: true })).name,
  ]),
);
await run("has more queries than connections", () =>
  Promise.all(
    Array.from({ length: 30 }, async (_, n) => (await db.query(`select ${n} as n`, { plain: true })).n),
  ),
);
await run("changes tables", async () => {
  await schema.addColumn("customers", "display", { type: DataTypes.TEXT, defaultValue: "" });
  await db.query("update customers set display = upper(name)");
  await schema.changeColumn("customers", "name", { type: DataTypes.TEXT, allowNull: false });
  await schema.renameColumn("orders", "key", "number");
  await schema.addIndex("orders", ["total"], { name: "orders_by_total", concurrently: true });
  await schema.addConstraint("orders", {
    type: "check",
    name: "positive",
    fields: ["total"],
    where: { total: { [Op.gte]: 0 } },
  });
  return [await tables(), (await db.query("select name, display from customers order by id"))[0]];
});
await run("undoes changes that fail", async () => [
  await db
    .transaction(async (transaction) => {
      await schema.addColumn("customers", "broken", { type: DataTypes.INTEGER }, { transaction });
      await db.query("insert into orders (total) values (-1)", { transaction });
    })
    .catch(describe),
  Object.keys(await schema.describeTable("customers")),
]);
await run("adds to an enum by altering tables", async () => {
  Order.rawAttributes.mood.type = DataTypes.ENUM("sad", "ok", "great");
  Order.rawAttributes.mood.values = ["sad", "ok", "great"];
  Order.refreshAttributes();
  await db.query("alter table orders rename number to key");
  await db.sync({ alter: true });
  return (await db.query("select unnest(enum_range(null::enum_orders_mood))::text as mood"))[0];
});
await run("changes tables back", async () => {
  await schema.removeConstraint("orders", "positive");
  await schema.removeIndex("orders", "orders_by_total");
  return tables();
});
await run("drops tables", async () => {
  await db.drop({});
  return db.query(
    "select relname from pg_class where relkind in ('r', 'S') and relnamespace = 'public'::regnamespace",
    { plain: true },
  );
});
await db.close();
