// Writes docs/reference/clients.md and the table of the README from test/others/clients.json, which the tests of other people's clients
// compare with what they count: `node scripts/clients.mjs`. With `--check` it writes nothing and fails if one
// of them is out of date.
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = "docs/reference/clients.md";

const KINDS = {
  "@neon/config-runtime": "functions",
  "@neon/sdk": "functions",
  "@neondatabase/api-client": "functions",
  neon: "commands",
  "neon-sdk": "functions",
  neonctl: "commands",
};

/** Clients that do not run, and why. */
const NOT_RUN = {
  "Terraform provider, Go SDK":
    "Their sources are in no package registry of npm or Debian. `test/contract/clients/terraform-provider.test.ts` sends the provider's requests",
  "`neon-api` (Python)":
    "It is on PyPI only. Its answers have rows in `test/recorded-answers`, if public repositories recorded them",
  "`@neondatabase/toolkit`":
    "It requires TypeScript 5 as a peer. Its three functions call `@neondatabase/api-client` and `@neondatabase/serverless`, which run here",
  "`@neondatabase/mcp-server-neon`":
    "It requires Node 22, and standin is tested with Node 20. It calls `@neondatabase/api-client` 2.0.0 and `@neondatabase/serverless`, which run here",
  Prisma:
    'Its command line 7 downloads a program for migrations, and the run fetches nothing. 6.19 with `engine: "js"` needs none, but fails at Postgres itself, too: it cannot read a column of type `name`. [Drizzle](#clients-of-postgres) runs',
  "Examples of Vercel":
    "They are repositories, and none is a package of npm. The platform's driver that they use, `@neondatabase/serverless`, [runs here](#clients-of-postgres)",
  "`create-branch-action`": "It is not on npm. It calls `@neondatabase/api-client`",
  "`neonctl` 1.0": "It calls version 1 of the API, which standin does not imitate",
  "`neonctl` 1.5":
    "A new installation gets a client with other parameters than it was written for, so it calls `/projects/undefined`",
};

/** Clients that connect to Postgres and make no call of the API, and the tests that run them. */
const POSTGRES_CLIENTS = {
  "@neondatabase/serverless": ["test/postgres/serverless.test.ts", "Requests, WebSockets and pools"],
  "drizzle-kit": [
    "test/others/drizzle-project.test.ts",
    "`generate`, `migrate` and `pull` in a project of its own",
  ],
  "drizzle-orm": ["test/postgres/serverless.test.ts", "Queries and pools, by the platform's driver"],
  "kysely-neon": ["test/postgres/serverless.test.ts", "Queries"],
  pg: ["test/postgres/drivers.test.ts", "Queries and pools"],
  postgres: ["test/postgres/drivers.test.ts", "Queries and pools"],
};

/** The package of each suite in test/postgres/suites, of Debian or npm, and what the suite does. Their counts are from the last run. */
const SUITES = {
  psycopg2: ["python3-psycopg2", "Sessions, types, transactions, errors, COPY, notifications, large objects"],
  psycopg: ["python3-psycopg", "Prepared statements, pipelines, binary values, COPY, asyncio"],
  JDBC: ["libpostgresql-jdbc-java", "Types and batches in each query mode, metadata, COPY, cursors"],
  "Ruby `pg`": ["ruby-pg", "Types, prepared statements, pipelines, COPY, notifications"],
  "Go `lib/pq`": [
    "golang-github-lib-pq-dev",
    "`database/sql`: types, arrays, prepared statements, COPY, notifications, cancellation",
  ],
  "Go `pgx`": [
    "golang-github-jackc-pgx-v4-dev",
    "Types and errors in each query mode, batches, COPY, large objects, pools",
  ],
  Django: [
    "python3-django",
    "Migrations of four apps: apply, change, fail, roll back; objects; a test database",
  ],
  Alembic: ["python3-alembic", "Generated revisions: upgrade, fail, downgrade; objects of SQLAlchemy"],
  ActiveRecord: ["ruby-activerecord", "Migrations: apply, change, fail, roll back; schema dump; records"],
  Knex: ["knex", "Migrations: apply, change, fail, roll back; queries, streams, transactions"],
  TypeORM: ["typeorm", "Generated migrations: apply, change, fail, revert; entities, transactions"],
  Sequelize: ["sequelize", "Tables of models, changes of tables, a change that fails; records, transactions"],
  "node-pg-migrate": ["node-pg-migrate", "Migrations: apply, change, fail, roll back"],
};
const { dependencies: npmVersions } = JSON.parse(
  readFileSync("test/postgres/suites/npm/package.json", "utf8"),
);
const suiteCounts = JSON.parse(readFileSync("test/postgres/suite-counts.json", "utf8"));

/** The number of cases that run through the server and directly, by program. */
const programs = JSON.parse(readFileSync("test/postgres/program-counts.json", "utf8"));
const DATABASE_PROGRAMS =
  "`createdb`, `dropdb`, `createuser`, `dropuser`, `vacuumdb`, `reindexdb`, `clusterdb`";

const rows = JSON.parse(readFileSync("test/others/clients.json", "utf8"));
const unknown = rows.filter(({ client }) => !(client in KINDS));
if (unknown.length > 0)
  throw new Error(`scripts/clients.mjs: no kind for ${unknown.map(({ client }) => client)}`);

function versionOf(client) {
  return JSON.parse(readFileSync("package.json", "utf8")).devDependencies[client];
}

const text = `# Clients

\`npm run test:long -- others\` runs clients that others wrote, from the oldest release that works to the newest,
against standin. A proxy between them compares each answer with the newest public document, whose schemas allow no
undeclared property. One difference fails the run. Functions are called with every example of their operation, and
with ids that do not exist. The page is generated by \`scripts/clients.mjs\` from the counts of that run.

*Refused* are the errors of unknown ids and of services that are not enabled, as documented.
Operations that standin does not imitate are not called; [coverage](coverage.md) lists them.

| Client | Version | Ran | Calls | Passed | Refused | Different |
|---|---|---|---|---|---|---|
${rows
  .map(
    ({ client, version, ran, calls, passed, refused, unlisted }) =>
      `| \`${client}\` | ${version} | ${ran} ${KINDS[client]} | ${calls - unlisted} | ${passed} | ${refused} | 0 |`,
  )
  .join("\n")}

Versions are those in \`package-lock.json\`, which has a checksum of each.

## Clients of Postgres

They call no operation of the API, so they have no row above. Each runs against real Postgres behind a compute:

| Client | Version | Ran | Test |
|---|---|---|---|
${Object.entries(POSTGRES_CLIENTS)
  .map(([client, [file, ran]]) => `| \`${client}\` | ${versionOf(client)} | ${ran} | \`${file}\` |`)
  .join("\n")}

## Programs of Postgres

\`test/postgres/same-answers.test.ts\` runs each case twice: through the server, and directly at the socket of the same
Postgres process. Exit status, output and errors must be equal. Prompts, latencies, rates, process ids, the address in the output of
\`pg_isready\` and the random key of a dump are not compared. The test needs Linux and a Postgres of the version of the programs.

| Program | Cases | Different |
|---|---|---|
${Object.entries(programs)
  .map(
    ([program, count]) =>
      `| ${program === "database programs" ? DATABASE_PROGRAMS : `\`${program}\``} | ${count} | 0 |`,
  )
  .join("\n")}

## Drivers and migrations

\`test/postgres/driver-suites.test.ts\` runs each suite three times: directly at the socket of a Postgres process, through
the server with TLS and a password, and through the pooler. What each case prints must be equal. A suite is skipped,
with the command that installs it, where its package of Debian or npm is missing.

| Suite | Package | Does | Cases | Also pooled | Different |
|---|---|---|---|---|---|
${Object.entries(SUITES)
  .map(([suite, [name, does]]) => {
    const { cases, pooled } = suiteCounts[suite];
    const version = npmVersions[name];
    const source = version === undefined ? `\`${name}\` (Debian)` : `\`${name}\` ${version} (npm)`;
    return `| ${suite} | ${source} | ${does} | ${cases} | ${pooled} | 0 |`;
  })
  .join("\n")}

Cases that need a session of their own are not run through the pooler. Some differences are those of the platform, so
no case compares them:

| Difference | Reason |
|---|---|
| The process id of the key to cancel, as drivers show it, is not that of \`pg_backend_pid()\` | The server draws it at random, as the platform's proxy does |
| \`options\` of a client, such as those of the connection string in \`lib/pq\`, replace \`PGOPTIONS\` with the endpoint. Its connection to an address is rejected | As on the platform: the endpoint comes from the host name (SNI), or from \`options\`. Other options are passed to Postgres, so write both: \`endpoint=<id> -c search_path=shop\` |
| An unknown database is rejected without the place in the source of Postgres | The server rejects it itself |
| Through the pooler, JDBC prepares a statement again and gets the error \`cached plan must not change result type\` again | As in PgBouncer, statements with one text are one statement of the session |
| Through the pooler, \`DEALLOCATE\` of a statement that was prepared by the protocol is an error | As in PgBouncer, the session knows it by another name. psycopg 3 sends it when it has prepared more statements than it keeps |
| Through the pooler, Django cannot drop its test database | As in PgBouncer, sessions that no client uses stay in the database |
| Through the pooler, \`DateStyle\` is reported as the client sent it | As in PgBouncer |

## Not run

| Client | Reason |
|---|---|
${Object.entries(NOT_RUN)
  .map(([client, reason]) => `| ${client} | ${reason} |`)
  .join("\n")}

[Connect clients](../how-to/connect-clients.md) says how to point a client at a server, and what else is tested.
`;

const README = "README.md";
const MARKED = /(<!-- clients: begin[^>]*-->\n)[\s\S]*(<!-- clients: end -->)/;
const versions = [...new Set(rows.map(({ client }) => client))].map((client) => {
  const releases = rows.filter((row) => row.client === client).map(({ version }) => version);
  return `| \`${client}\` | ${releases.join(", ")} |`;
});
const summary = `| Client | Releases that run in the tests |\n|---|---|\n${versions.join("\n")}\n`;

for (const [file, content] of [
  [PAGE, text],
  [README, readFileSync(README, "utf8").replace(MARKED, (_, begin, end) => `${begin}${summary}${end}`)],
])
  if (!process.argv.includes("--check")) writeFileSync(file, content);
  else if (readFileSync(file, "utf8") !== content) {
    console.error(`${file} is out of date; run node scripts/clients.mjs`);
    process.exitCode = 1;
  }
console.log(`clients: ${rows.length} rows`);
