import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { runStandinProcess, spawnStandin, waitForExit } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const SECRET = "a line of a file that nobody may read";
const LONGEST_MS = 100_000;
const WORLD = "world: { projects: { shop: { branches: { main: { computes: { primary: {} } } } } } }";

/** The directory of a pull request, and what it must not reach beside it. */
function scene() {
  const path = testDirectory();
  const inside = join(path, "pull-request");
  mkdirSync(join(inside, "below"), { recursive: true });
  for (const name of ["secret.csv", "secret.sqlite", "secret.sql", "secret.yaml"])
    writeFileSync(join(path, name), `${SECRET}\n`);
  symlinkSync(join(path, "secret.csv"), join(inside, "link.csv"));
  symlinkSync(path, join(inside, "below", "above"));
  symlinkSync("/etc", join(inside, "etc"));
  const recording = "endpoint,at\na,2026-01-01T00:00:00Z\n";
  writeFileSync(join(inside, "below", "calls.csv"), recording);
  writeFileSync(join(path, "beside.csv"), recording);
  symlinkSync(join(inside, "below", "calls.csv"), join(inside, "inner.csv"));
  return { path, inside };
}

/** Everything below a directory: names, and what files contain. */
function contentOf(path: string): readonly (readonly [string, string])[] {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .map((entry) => [join(entry.parentPath, entry.name), entry] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, entry]) => [name, entry.isFile() ? readFileSync(name, "utf8") : ""]);
}

const OUTSIDE: readonly (readonly [string, (path: string) => string])[] = [
  ["an absolute path", (path) => join(path, "secret.csv")],
  ["a file of the system", () => "/etc/passwd"],
  ["a device that never ends", () => "/dev/zero"],
  ["a path with ..", () => "../secret.csv"],
  ["a path that leaves and comes back", () => "below/../../secret.csv"],
  ["a link to a file", () => "link.csv"],
  ["a link to a directory above", () => "below/above/secret.csv"],
  ["a link to a directory of the system", () => "etc/passwd"],
  ["a file that does not exist", () => "../nothing.csv"],
];

const replay = (file: string) =>
  `version: 1\n${WORLD}\ntraffic: [{ name: r, to: shop/main, pattern: replay, file: ${JSON.stringify(file)} }]\nlength: 1m\n`;
const fromWorld = (file: string) => `version: 1\nworld: { file: ${JSON.stringify(file)} }\nlength: 1m\n`;

describe.each([
  ["a recording", replay],
  ["the file of a world", fromWorld],
])("a scenario that names %s", (_, scenario) => {
  test.each(OUTSIDE)("does not read it at %s", async (__, fileOf) => {
    const { path, inside } = scene();
    const file = join(inside, "s.yaml");
    writeFileSync(file, scenario(fileOf(path)));
    const before = contentOf(path);
    const { code, stdout, stderr } = await runStandin(["run", file, "--json"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      / is outside .*pull-request; the files of a scenario are in its directory, or below that of --files-from/,
    );
    expect(stderr).not.toMatch(new RegExp(`${SECRET}|root:`));
    expect(contentOf(path)).toEqual(before);
  });
});

test.each(["below/calls.csv", "inner.csv", "./below/../below/calls.csv"])(
  "a recording in the directory of the scenario is read: %s",
  async (recording) => {
    const { inside } = scene();
    const file = join(inside, "s.yaml");
    writeFileSync(file, replay(recording));
    expect((await runStandin(["run", file])).code).toBe(0);
  },
);

test("--files-from names another directory, and no more than that", async () => {
  const { path, inside } = scene();
  const file = join(inside, "s.yaml");
  writeFileSync(file, replay("../beside.csv"));
  expect((await runStandin(["run", file, "--files-from", path])).code).toBe(0);
  expect((await runStandin(["run", file, "--files-from", join(inside, "below")])).code).toBe(2);
  writeFileSync(file, replay("etc/passwd"));
  expect((await runStandin(["run", file, "--files-from", path])).stderr).toMatch(/is outside/);
});

test("a scenario does not see the environment", async () => {
  const { inside } = scene();
  const file = join(inside, "s.yaml");
  writeFileSync(file, `version: 1\nname: "\${SECRET_OF_CI}"\n${WORLD}\nlength: 1m\n`);
  const { code, stdout, stderr } = await runStandin(["run", file], { SECRET_OF_CI: SECRET });
  expect(code).toBe(2);
  expect(stdout + stderr).not.toContain(SECRET);
});

test.each([
  ["in memory", ""],
  ["in files", "  - restart: true\n"],
])("a scenario contacts no server, with its world %s", async (_, step) => {
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void listener.close());
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as { port: number };
  const { inside } = scene();
  const file = join(inside, "s.yaml");
  const move = `{ method: POST, path: /worlds/other/move, body: { to: "http://127.0.0.1:${port}" } }`;
  writeFileSync(
    file,
    `version: 1\n${WORLD}\nsteps:\n${step}  - control: { method: POST, path: /worlds, body: { name: other } }\n  - control: ${move}\n`,
  );
  const { code, stderr } = await runStandin(["run", file]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/this server cannot call other servers|worlds in memory cannot be moved/);
  expect(connections).toBe(0);
});

test("SQL of a scenario reads and writes no file, and runs no program", async () => {
  const { path, inside } = scene();
  const written = join(path, "written");
  const statements = [
    `copy (select 1) to program 'touch ${written}'`,
    `copy (select 1) to '${written}'`,
    "create table t (x text)",
    "copy t from '/etc/passwd'",
    "copy t from program 'cat /etc/passwd'",
    "select pg_read_file('/etc/passwd')",
    "select lo_import('/etc/passwd')",
    "select pg_ls_dir('/etc')",
    "alter system set archive_command = 'touch /tmp/x'",
    "alter role neondb_owner superuser",
    "create extension plpython3u",
    "create function f() returns int language c as '/lib/x86_64-linux-gnu/libc.so.6', 'system'",
    "load '/lib/x86_64-linux-gnu/libc.so.6'",
  ];
  const file = join(inside, "s.yaml");
  const steps = statements.map((query) => `  - sql: ${JSON.stringify({ on: "shop/main", query })}`);
  writeFileSync(file, `version: 1\n${WORLD}\nsteps:\n${steps.join("\n")}\n`);
  const before = contentOf(path);
  const { code, stdout, stderr } = await waitForExit(spawnStandin(["run", file]), LONGEST_MS);
  expect(code).toBe(1);
  expect(stdout + stderr).not.toMatch(/root:.*:0:0:/);
  // Only the table can be created.
  expect(
    stdout.match(/42501|permission denied|must be superuser|not available|does not exist|denied/g)?.length ??
      0,
  ).toBeGreaterThanOrEqual(statements.length - 1);
  expect(contentOf(path)).toEqual(before);
}, 120_000);

test.each(OUTSIDE)("a seed file does not read SQL at %s", async (_, fileOf) => {
  const { path, inside } = scene();
  const file = join(inside, "seed.yaml");
  const sql = JSON.stringify(fileOf(path).replace("secret.csv", "secret.sql"));
  writeFileSync(
    file,
    `version: 1\naccounts: [{ id: acme, projects: [{ id: shop-1, sql: ${sql}, branches: [{ id: br-main-1, name: main }] }] }]\n`,
  );
  const { code, stdout, stderr } = await runStandinProcess([
    ...["serve", "--data", join(path, "data"), "--seed-file", file, "--port", "0", "--pg-port", "none"],
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(
    /sql of project shop-1: .* is outside .*; the files of a seed file are in its directory/,
  );
  expect(stderr).not.toContain(SECRET);
});
