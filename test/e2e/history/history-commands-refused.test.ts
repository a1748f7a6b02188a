import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { type ServerProcess, serve, temporaryDirectory } from "../../support/process/process.ts";
import {
  createProjectOn,
  type ServerClient,
  serverClient,
  testDirectory,
} from "../../support/server/running-server.ts";

const directory = temporaryDirectory();
/** A data directory without a server, with a world `other` and a snapshot `kept` of the default world. */
const unserved = join(directory.path, "unserved");
/** The same with a server. */
const served = join(directory.path, "served");
let server: ServerProcess;
let client: ServerClient;

beforeAll(async () => {
  const args = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];
  for (const data of [unserved, served]) {
    server = await serve(data, args);
    client = serverClient(server.ready);
    await createProjectOn(client);
    await client.sim("POST", "/worlds", { name: "other" });
    await client.sim("POST", "/snapshots", { name: "kept" });
    if (data === unserved) await server.kill("SIGTERM");
  }
});

afterAll(async () => {
  await server.kill("SIGKILL");
  directory.remove();
});

/** The contents of a data directory, except for auxiliary files of readers. */
function filesOf(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".sqlite"))
    .sort();
}

async function expectRefused(args: readonly string[], code: number, message: RegExp): Promise<void> {
  const refused = await runStandin(args);
  expect({ args, code: refused.code, stdout: refused.stdout }).toEqual({ args, code, stdout: "" });
  expect(refused.stderr).toMatch(message);
  expect(refused.stderr).not.toMatch(/^ {4}at /m);
}

const POINT = /ISO 8601 instant like 2026-01-31T12:00:00Z, or the sequence number of an event/;

test.each([
  [["snapshots", "create", "kept"], 1, /^standin: name: world "default" already has a snapshot "kept"$/m],
  [["snapshots", "create", "auto-mine"], 1, /^standin: name: must not begin with auto- or backup-/],
  [["snapshots", "create", "backup-mine"], 1, /^standin: name: must not begin with auto- or backup-/],
  [["snapshots", "create", "two words"], 1, /^standin: name: must be 1 to 63 of/],
  [["snapshots", "create", ""], 1, /^standin: name: must be 1 to 63 of/],
  [["snapshots", "restore", "nothing"], 1, /^standin: there is no snapshot "nothing" of world "default"$/m],
  [["snapshots", "restore", "../default/kept"], 1, /^standin: there is no snapshot/],
  [
    ["snapshots", "restore", "kept", "--world", "other"],
    1,
    /^standin: there is no snapshot "kept" of world "other"$/m,
  ],
  [["snapshots", "delete", "nothing"], 1, /^standin: there is no snapshot "nothing"/],
  [
    ["snapshots", "list", "--world", "nowhere"],
    1,
    /^standin: there is no world "nowhere"; there are default, other$/m,
  ],
  [["worlds", "create", "other"], 1, /^standin: name: world "other" already exists$/m],
  [["worlds", "create", "default"], 1, /^standin: name: world "default" already exists$/m],
  [["worlds", "create", "Other One"], 2, /^standin: <name>: expected 1 to 63 of a-z, 0-9 and -/],
  [["worlds", "create", "late", "--at", "14"], 1, /^standin: .*history ends at event 13/],
  [["worlds", "create", "late", "--at", "2026-01-01T00:00:11Z"], 1, /^standin: .*history ends at event 13/],
  [
    ["worlds", "create", "copy", "--world", "nowhere"],
    1,
    /^standin: there is no world "nowhere"; there are default, other$/m,
  ],
  [["worlds", "delete", "nowhere"], 1, /^standin: there is no world "nowhere"; there are default, other$/m],
  [
    ["worlds", "delete", "default"],
    1,
    /^standin: world "default" cannot be deleted; to empty it, use POST \/_sim\/reset$/m,
  ],
  [["explain", "ep-nobody-knows-12345678"], 1, /^standin: endpoint "ep-nobody-knows-12345678" not found$/m],
  [["explain", "nonsense"], 1, /^standin: operation "nonsense" not found$/m],
  [["explain", "ep-empty-bonus-a59b0y9h", "--at", "14"], 1, /^standin: .*history ends at event 13/],
  [
    ["explain", "ep-empty-bonus-a59b0y9h", "--at", "1"],
    1,
    /^standin: endpoint "ep-empty-bonus-a59b0y9h" not found$/m,
  ],
  [["explain", "ep-empty-bonus-a59b0y9h", "--world", "nowhere"], 1, /^standin: there is no world "nowhere"/],
  [["compact", "--keep", "30d", "--world", "nowhere"], 1, /^standin: there is no world "nowhere"/],
  [["keys", "create", "ci", "--world", "nowhere"], 1, /^standin: there is no world "nowhere"/],
] as const)(
  "%j fails with code %i, with or without a server, and changes nothing",
  async (args, code, message) => {
    const before = [filesOf(served), filesOf(unserved)];
    await Promise.all(
      [served, unserved].map((data) => expectRefused([...args, "--data", data], code, message)),
    );
    expect([filesOf(served), filesOf(unserved)]).toEqual(before);
  },
);

test.each([
  [["snapshots"], /create \[options\] <name>/],
  [["snapshots", "keep"], /unknown command 'keep'/],
  [["snapshots", "create"], /missing required argument 'name'/],
  [["snapshots", "create", "a", "b"], /too many arguments/],
  [["worlds"], /create \[options\] <name>/],
  [["worlds", "create"], /missing required argument 'name'/],
  [["worlds", "create", "a", "--from", "b"], /unknown option '--from'/],
  [["worlds", "create", "a", "--at", "yesterday"], POINT],
  [["worlds", "create", "a", "--at", "2026-02-30T00:00:00Z"], POINT],
  [["worlds", "create", "a", "--clock", "fast"], /real, manual, or a factor like 60x/],
  [["worlds", "create", "a", "--seed", "-1"], /--seed.*whole number/],
  [["explain"], /missing required argument 'id'/],
  [["explain", "ep-a-b-1", "--at", "soon"], POINT],
  [["compact"], /--keep <duration>/],
  [["compact", "--keep", "forever"], /90s, 10m, 2h or 7d/],
  [["compact", "--keep", "-1d"], /90s, 10m, 2h or 7d/],
  [["replay", ".", "--data", "."], /either a path or --data, not both/],
  [["replay", ".", "--until", "soon"], POINT],
  [["replay", ".", "--until", "2026-13-01T00:00:00Z"], POINT],
  [["verify", ".", "--data", "."], /either a path or --data, not both/],
  [["verify", ".", "--repair"], /unknown option '--repair'/],
  [["export", "."], /--out <file>/],
  [["export", ".", "--data", ".", "--out", "x.sqlite"], /either a path or --data, not both/],
  [["import"], /missing required argument 'file'/],
] as const)("%j is a usage error: code 2, and the expected form", async (args, message) => {
  await expectRefused(args, 2, message);
});

test.each([
  [
    ["replay", unserved, "--until", "14"],
    /^standin: --until: this point is in the future: history ends at event 13/,
  ],
  [
    ["replay", unserved, "--until", "2027-01-01T00:00:00Z"],
    /^standin: --until: this point is in the future: history ends at event 13/,
  ],
  [["replay", unserved, "--world", "nowhere"], /^standin: .*unserved has no world "nowhere"$/m],
  [["verify", unserved, "--world", "nowhere"], /^standin: .*unserved has no world "nowhere"$/m],
  [["verify", directory.path], /^standin: .* has no world "default"$/m],
  [
    ["export", unserved, "--world", "nowhere", "--out", join(directory.path, "x.sqlite")],
    /^standin: .*unserved has no world "nowhere"$/m,
  ],
  [
    ["export", unserved, "--out", join(unserved, "worlds/default.sqlite")],
    /^standin: --out: .*default\.sqlite already exists; choose another file/,
  ],
  [
    ["export", unserved, "--out", join(directory.path, "no/such/x.sqlite")],
    /^standin: --out .*: directory .*no\/such does not exist$/m,
  ],
] as const)("%j fails with code 1 and a one-sentence error", async (args, message) => {
  const before = filesOf(directory.path);
  await expectRefused(args, 1, message);
  expect(filesOf(directory.path)).toEqual(before);
  expect(existsSync(join(directory.path, "new"))).toBe(false);
});

/** Files that are not world files, by description. */
const NO_WORLDS: Readonly<Record<string, readonly [make: (path: string) => void, message: RegExp]>> = {
  text: [(path) => writeFileSync(path, "no database\n".repeat(1_000)), /is corrupt or not a world file/],
  nothing: [
    (path) => writeFileSync(path, ""),
    /contains no world|is corrupt or not a world file|cannot be used/,
  ],
  "another program's database": [
    (path) => {
      const sqlite = new BetterSqlite3(path);
      sqlite.exec("CREATE TABLE recipes (name TEXT)");
      sqlite.close();
    },
    /cannot be used: it is a database, but not one of standin's worlds/,
  ],
  "a newer release's world": [
    (path) => {
      writeFileSync(path, readFileSync(join(unserved, "snapshots/default/kept.sqlite")));
      const sqlite = new BetterSqlite3(path);
      sqlite.exec("PRAGMA user_version = 99");
      sqlite.close();
    },
    /cannot be used: it was written by a newer standin/,
  ],
};

test.each(Object.keys(NO_WORLDS))(
  "replay, verify, export and import name %s as the reason for rejecting a file",
  async (kind) => {
    const [make, message] = NO_WORLDS[kind] as (typeof NO_WORLDS)[string];
    const folder = testDirectory();
    const file = join(folder, "file.sqlite");
    make(file);
    const bytes = readFileSync(file);
    for (const args of [
      ["replay", file],
      ["verify", file],
      ["export", file, "--out", join(folder, "out.sqlite")],
      ["import", file, "--data", join(folder, "data")],
    ]) {
      const refused = await runStandin(args);
      expect({ args, code: refused.code }).toEqual({ args, code: 1 });
      expect(`${refused.stdout}${refused.stderr}`).toMatch(message);
      expect(refused.stderr).not.toMatch(/^ {4}at /m);
    }
    expect(existsSync(join(folder, "out.sqlite"))).toBe(false);
    expect(existsSync(join(folder, "data/worlds/default.sqlite"))).toBe(false);
    expect(readFileSync(file)).toEqual(bytes);
  },
);

/** A copy of the snapshot with changed contents. */
function damagedCopy(statement: string): string {
  const file = join(testDirectory(), "damaged.sqlite");
  writeFileSync(file, readFileSync(join(unserved, "snapshots/default/kept.sqlite")));
  const sqlite = new BetterSqlite3(file);
  sqlite.exec(statement);
  sqlite.close();
  return file;
}

test.each([
  ["UPDATE projects SET name = 'another'", /^projects: /m],
  ["DELETE FROM computes", /^computes: .* is in the journal but not in the table$/m],
  [
    "UPDATE events SET payload = replace(payload, 'main', 'mian') WHERE type = 'BranchCreated'",
    /^journal: event \d+ or the one before it is damaged/m,
  ],
  ["DELETE FROM events WHERE seq = 13", /^journal: /m],
])("after %s, verify reports the difference and import rejects the file", async (statement, difference) => {
  const file = damagedCopy(statement);
  const verified = await runStandin(["verify", file]);
  expect(verified.code).toBe(1);
  expect(verified.stdout).toMatch(difference);
  expect(verified.stderr).toMatch(
    /^standin: \d+ differences?: the stored world does not match its journal$/m,
  );
  const response = await runStandin(["verify", file, "--json"]);
  expect(response.code).toBe(1);
  const { ok, differences } = JSON.parse(response.stdout);
  expect(ok).toBe(false);
  expect(
    differences
      .map(({ where, message }: { where: string; message: string }) => `${where}: ${message}`)
      .join("\n"),
  ).toMatch(difference);
  const data = join(testDirectory(), "data");
  await expectRefused(
    ["import", file, "--data", data],
    1,
    /^standin: .*damaged\.sqlite does not match its journal .*with: standin verify/,
  );
  expect(existsSync(data)).toBe(false);
});

test("an import never replaces a world, and fails in a directory with a running server", async () => {
  const file = join(unserved, "snapshots/default/kept.sqlite");
  const before = readFileSync(join(unserved, "worlds/default.sqlite"));
  for (const world of ["default", "other"]) {
    await expectRefused(
      ["import", file, "--data", unserved, "--world", world],
      1,
      new RegExp(`^standin: .*unserved already has a world "${world}"; choose another --world or --data`),
    );
  }
  expect(readFileSync(join(unserved, "worlds/default.sqlite"))).toEqual(before);
  await expectRefused(
    ["import", file, "--data", served, "--world", "new"],
    1,
    /^standin: .*served is in use by another standin/,
  );
  expect((await client.sim("GET", "/worlds")).body.worlds).toHaveLength(2);
});

test.each(["../../outside", "Not A World", "a/b", "..", "-", ""])(
  "import rejects the world name %j",
  async (name) => {
    const data = join(testDirectory(), "deep/data");
    mkdirSync(dirname(data), { recursive: true });
    const refused = await runStandin([
      "import",
      join(unserved, "snapshots/default/kept.sqlite"),
      "--data",
      data,
      `--world=${name}`,
    ]);
    expect([1, 2]).toContain(refused.code);
    expect(refused.stderr).toMatch(/1 to 63 of a-z, 0-9 and -/);
    expect(filesOf(join(data, "../.."))).toEqual([]);
  },
);

test.each(["..", "a/b", "", "%2e%2e", "Other One"])(
  "--world %j is rejected by every command and never means the default world",
  async (name) => {
    const commands = [served, unserved].flatMap((data) => [
      ["snapshots", "list", "--data", data, `--world=${name}`],
      ["worlds", "create", "copy", "--data", data, `--world=${name}`],
    ]);
    // Sequential: without a server, one command at a time holds the directory.
    for (const args of commands) {
      const refused = await runStandin(args);
      expect({ args, failed: refused.code !== 0, stdout: refused.stdout }).toEqual({
        args,
        failed: true,
        stdout: "",
      });
      // The message is about the world, not about a path that the user did not type.
      expect(refused.stderr).toMatch(/world/);
      expect(refused.stderr).not.toMatch(/there is no path|did you mean/);
    }
  },
);

test("a snapshot that another program has locked is rejected with a one-sentence error", async () => {
  const file = damagedCopy("SELECT 1");
  const other = new BetterSqlite3(file);
  other.exec("BEGIN EXCLUSIVE");
  try {
    for (const args of [
      ["verify", file],
      ["replay", file],
      ["export", file, "--out", join(testDirectory(), "out.sqlite")],
    ]) {
      const refused = await runStandin(args);
      expect({ args, code: refused.code, stdout: refused.stdout }).toEqual({ args, code: 1, stdout: "" });
      expect(refused.stderr).toMatch(/^standin: /);
      expect(refused.stderr).not.toMatch(/^ {4}at /m);
    }
  } finally {
    other.close();
  }
});

test.each([
  ["snapshots", "list"],
  ["worlds", "list"],
  ["compact", "--keep", "1d"],
  ["explain", "ep-a-b-1"],
])(
  "%s %s in a directory without a world exits with code 1, prints how to create one, and creates none",
  async (...args) => {
    const data = join(testDirectory(), "data");
    await expectRefused(
      [...args, "--data", data],
      1,
      /^standin: .* has no world; create one with: standin serve --data /,
    );
    expect(existsSync(data)).toBe(false);
  },
);

test.each([
  ["--keep-history", "soon", /90s, 10m, 2h or 7d/],
  ["--keep-history", "-1d", /90s, 10m, 2h or 7d/],
  ["--keep-operations", "all", /90s, 10m, 2h or 7d/],
  ["--keep-operations", "-5", /90s, 10m, 2h or 7d/],
  ["--max-worlds", "0", /whole number from 1 to/],
  ["--max-worlds", "many", /whole number from 1 to/],
  ["--max-worlds", "2.5", /whole number from 1 to/],
  ["--max-worlds", "100001", /whole number from 1 to/],
  ["--max-world-size", "0", /500MiB, 4GiB or 2GB, or a number of bytes/],
  ["--max-world-size", "big", /500MiB, 4GiB or 2GB, or a number of bytes/],
  ["--max-world-size", "-1GiB", /500MiB, 4GiB or 2GB, or a number of bytes/],
  ["--max-world-size", "4PB", /500MiB, 4GiB or 2GB, or a number of bytes/],
  ["--backup-every", "0", /1s to 24d/],
  ["--backup-every", "999ms", /1s to 24d/],
  ["--backup-every", "25d", /1s to 24d/],
  ["--backup-every", "daily", /90s, 10m, 2h or 7d|1s to 24d/],
  ["--keep-backups", "0", /whole number from 1 to/],
  ["--keep-backups", "all", /whole number from 1 to/],
  ["--keep-backups", "1.5", /whole number from 1 to/],
] as const)(
  "serve %s %s is rejected with code 2, on the command line and in the environment, before anything is created",
  async (flag, value, right) => {
    const data = join(testDirectory(), "data");
    const variable = `STANDIN_${flag.slice(2).toUpperCase().replaceAll("-", "_")}`;
    const serving = ["serve", "--data", data, "--port", "0"];
    for (const refused of await Promise.all([
      runStandin([...serving, `${flag}=${value}`]),
      runStandin(serving, { [variable]: value }),
    ])) {
      expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: "" });
      expect(refused.stderr).toContain(flag);
      expect(refused.stderr).toMatch(right);
      expect(refused.stderr).not.toMatch(/^ {4}at /m);
    }
    expect(existsSync(data)).toBe(false);
  },
);
