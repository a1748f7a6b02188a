import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  connect,
  createBranch,
  startPostgresServer,
  withoutVerification,
} from "../../support/postgres/postgres.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const shared = temporaryDirectory();
const exported = join(shared.path, "world.sqlite");

/** One world with the data of a branch, exported. */
beforeAll(async () => {
  const server = await startPostgresServer(["--operations", "immediate", "--clock", "manual"]);
  const { uri } = await createBranch(server);
  const client = new pg.Client(withoutVerification(uri));
  await client.connect();
  await client.query("create table names (name text)");
  await client.end();
  await server.kill("SIGTERM");
  const { code, stderr } = await runStandin(["export", server.data, "--with-data", "--out", exported]);
  expect(code, stderr).toBe(0);
  await server.end();
}, 120_000);
afterAll(() => shared.remove());

/** A copy of the export that somebody has changed: its file, and a volume of it. */
function changedExport() {
  const file = join(testDirectory(), "world.sqlite");
  cpSync(exported, file);
  cpSync(`${exported}.volumes`, `${file}.volumes`, { recursive: true });
  const volumes = readdirSync(`${file}.volumes`).flatMap((history) =>
    readdirSync(join(`${file}.volumes`, history), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(`${file}.volumes`, history, name)),
  );
  const volume = volumes.find((path) => existsSync(join(path, "origin.json"))) ?? "";
  return { file, volume };
}

const importInto = (data: string, file: string, ...options: string[]) =>
  runStandin(["import", file, "--data", data, ...options]);

test("the data of branches is imported only on request, because Postgres files can run programs", async () => {
  const data = testDirectory();
  const { file } = changedExport();
  const { code, stderr } = await importInto(data, file);
  expect(code).toBe(0);
  expect(stderr).toContain(
    "import it with --with-data if you trust its sender: Postgres files can run programs",
  );
  expect(existsSync(join(data, "volumes"))).toBe(false);
});

test.each([
  [
    "a link to a directory",
    ({ volume }: { volume: string }) => symlinkSync("/etc", join(volume, "data", "pg_tblspc", "1")),
    /pg_tblspc\/1 is a link; data to import has files and directories only/,
  ],
  [
    "a link in the place of a file",
    ({ volume }: { volume: string }) => symlinkSync("/etc/passwd", join(volume, "data", "x")),
    /data\/x is a link/,
  ],
  [
    "a base outside the export",
    ({ volume }: { volume: string }) => {
      const origin = JSON.parse(readFileSync(join(volume, "origin.json"), "utf8"));
      writeFileSync(
        join(volume, "origin.json"),
        JSON.stringify({ ...origin, bases: [{ path: "../../../etc/x" }] }),
      );
    },
    /begins with that in .*etc\/x, which is not a volume of the same export/,
  ],
])("data with %s is refused, and nothing is imported", async (_, change, message) => {
  const data = testDirectory();
  const changed = changedExport();
  change(changed);
  const { code, stderr } = await importInto(data, changed.file, "--with-data");
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
  for (const name of ["worlds", "volumes"])
    expect(existsSync(join(data, name)) ? readdirSync(join(data, name)) : [], name).toEqual([]);
});

test("settings, logins and state files of the sender are replaced in every cluster", async () => {
  const data = testDirectory();
  const { file, volume } = changedExport();
  const root = join(volume, "..");
  const clusters = readdirSync(root)
    .map((name) => join(root, name, "data"))
    .filter((path) => existsSync(join(path, "PG_VERSION")));
  expect(clusters.length).toBeGreaterThan(0);
  for (const cluster of clusters) {
    for (const name of ["postgresql.conf", "postgresql.auto.conf"])
      writeFileSync(
        join(cluster, name),
        "session_preload_libraries = '/tmp/evil'\nrestore_command = 'touch /tmp/x'\n",
      );
    writeFileSync(join(cluster, "pg_hba.conf"), "host all all 0.0.0.0/0 trust\n");
    for (const name of ["postmaster.pid", "standby.signal"])
      writeFileSync(join(cluster, name), "1\n/\n\n\n/\n");
    mkdirSync(join(cluster, "conf.d"));
  }
  expect((await importInto(data, file, "--with-data")).code).toBe(0);
  const imported = readdirSync(join(data, "volumes"), { recursive: true, withFileTypes: true });
  const named = (pattern: RegExp) => imported.filter(({ name }) => pattern.test(name));
  expect(named(/^PG_VERSION$/).length).toBeGreaterThanOrEqual(clusters.length);
  expect(named(/^(postmaster\.(pid|opts)|standby\.signal)$/)).toEqual([]);
  for (const { parentPath, name } of named(/^(postgresql(\.auto)?|pg_hba|pg_ident)\.conf$/))
    expect(readFileSync(join(parentPath, name), "utf8")).not.toMatch(/evil|command|host/);
  // Clients find their rows.
  const server = await startPostgresServer(
    ["--operations", "immediate", "--api-key", "key-of-the-copy"],
    data,
  );
  try {
    const { body } = await server.api("GET", "/projects");
    const path = `/projects/${body.projects[0].id}`;
    const { branches } = (await server.api("GET", `${path}/branches`)).body;
    await server.api("POST", `${path}/branches/${branches[0].id}/roles/neondb_owner/reset_password`);
    const { uri } = (
      await server.api("GET", `${path}/connection_uri?database_name=neondb&role_name=neondb_owner`)
    ).body;
    const client = await connect(uri);
    expect((await client.query("select * from names")).rows).toEqual([]);
    await client.end();
  } finally {
    await server.end();
  }
}, 120_000);
