import { execFileSync, spawnSync } from "node:child_process";
import { join, relative } from "node:path";

const PROGRAMS = join(import.meta.dirname, "../../postgres/suites");
/** Packages that the root of the repository does not depend on, with a lock file of their own. */
const NPM = join(PROGRAMS, "npm");
/** Debian's Python, which finds the packages of Debian. */
const PYTHON = "/usr/bin/python3";
const JDBC = "/usr/share/java/postgresql.jar";
/** Directory of Debian's Go package sources. */
const GO_PATH = "/usr/share/gocode";

/** A program that uses a driver or a tool for migrations, and prints one line of JSON for each of its cases. */
export type DriverSuite = {
  readonly name: string;
  /** Command that installs the requirements of the suite. */
  readonly install: string;
  /** Command that fails if they are not installed. */
  readonly probe: readonly [string, ...string[]];
  /** Runs once before the suite. `directory`: for its output. */
  prepare?(directory: string): void;
  /** Command line that runs the suite on a database. `directory`: for its output. */
  command(uri: string, directory: string): readonly [string, ...string[]];
};

const python = (name: string, module: string, packages: string, file: string): DriverSuite => ({
  name,
  install: `apt-get install ${packages}`,
  probe: [PYTHON, "-c", `import ${module}`],
  command: (uri) => [PYTHON, "-B", join(PROGRAMS, file), uri],
});

const ruby = (name: string, library: string, packages: string, file: string): DriverSuite => ({
  name,
  install: `apt-get install ${packages}`,
  probe: ["ruby", "-e", `require '${library}'`],
  command: (uri) => ["ruby", join(PROGRAMS, file), uri],
});

const npm = (name: string, library: string, file: string): DriverSuite => ({
  name,
  install: `npm ci --ignore-scripts --prefix ${relative(process.cwd(), NPM)}`,
  probe: ["test", "-e", join(NPM, "node_modules", library)],
  command: (uri) => [process.execPath, join(NPM, file), uri],
});

const jdbc: DriverSuite = {
  name: "JDBC",
  install: "apt-get install libpostgresql-jdbc-java default-jdk-headless",
  probe: ["sh", "-c", `javac -version && test -e ${JDBC}`],
  prepare: (directory) =>
    execFileSync("javac", ["-cp", JDBC, "-d", directory, join(PROGRAMS, "JdbcSuite.java")]),
  command: (uri, directory) => [
    ...(["java", "-XX:TieredStopAtLevel=1", "-cp", `${JDBC}:${directory}`, "JdbcSuite"] as const),
    jdbcUrl(uri),
  ],
};

const go = (name: string, library: string, packageName: string, file: string): DriverSuite => ({
  name,
  install: `apt-get install golang-go ${packageName}`,
  probe: ["sh", "-c", `go version && test -d ${GO_PATH}/src/${library}`],
  prepare: (directory) =>
    execFileSync("go", ["build", "-o", join(directory, "suite"), "cases.go", file], {
      cwd: join(PROGRAMS, "go"),
      env: {
        ...process.env,
        ...{ GO111MODULE: "off", GOPATH: GO_PATH, GOFLAGS: "", CGO_ENABLED: "0" },
        GOCACHE: join(directory, "cache"),
      },
    }),
  command: (uri, directory) => [join(directory, "suite"), uri],
});

export const DRIVER_SUITES: readonly DriverSuite[] = [
  python("psycopg2", "psycopg2", "python3-psycopg2", "psycopg2_suite.py"),
  python("psycopg", "psycopg", "python3-psycopg", "psycopg_suite.py"),
  jdbc,
  ruby("Ruby `pg`", "pg", "ruby-pg", "ruby_pg_suite.rb"),
  go("Go `lib/pq`", "github.com/lib/pq", "golang-github-lib-pq-dev", "pq_suite.go"),
  go("Go `pgx`", "github.com/jackc/pgx/v4", "golang-github-jackc-pgx-v4-dev", "pgx_suite.go"),
  python("Django", "django, psycopg2", "python3-django python3-psycopg2", "django_suite.py"),
  python("Alembic", "alembic, psycopg2", "python3-alembic python3-psycopg2", "alembic_suite.py"),
  ruby("ActiveRecord", "active_record", "ruby-activerecord ruby-pg", "active_record_suite.rb"),
  npm("Knex", "knex", "knex_suite.mjs"),
  npm("TypeORM", "typeorm", "typeorm_suite.mjs"),
  npm("Sequelize", "sequelize", "sequelize_suite.mjs"),
  npm("node-pg-migrate", "node-pg-migrate", "node_pg_migrate_suite.mjs"),
];

/** Reason why a suite cannot run on this machine; `undefined` if it can. */
export function whyAbsent({ probe: [file, ...args], install }: DriverSuite): string | undefined {
  if (spawnSync(file, args).status === 0) return undefined;
  return `not installed: ${install}`;
}

/** The form of a connection URI that JDBC reads. */
function jdbcUrl(uri: string): string {
  const { host, pathname, username, password, searchParams } = new URL(uri);
  searchParams.set("user", username);
  if (password !== "") searchParams.set("password", decodeURIComponent(password));
  return `jdbc:postgresql://${host}${pathname}?${searchParams}`;
}
