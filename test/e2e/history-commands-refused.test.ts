import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runStandin } from "../support/in-process-command.ts";
import { type ServerProcess, serve, temporaryDirectory } from "../support/process.ts";
import {
  createProjectOn,
  type ServerClient,
  serverClient,
  testDirectory,
} from "../support/running-server.ts";

const directory = temporaryDirectory();
/** A data directory that nobody serves, with a world `other` and a snapshot `kept` beside the default world. */
const unserved = join(directory.path, "unserved");
/** One like it that is served. */
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

/** All that there is of a data directory, but for what a look leaves beside a file. */
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
  [["worlds", "create", "Other One"], 1, /^standin: name: must be 1 to 63 of a-z, 0-9 and -/],
  [["worlds", "create", "late", "--at", "14"], 1, /^standin: .*history has come to event 13/],
  [
    ["worlds", "create", "late", "--at", "2026-01-01T00:00:11Z"],
    1,
    /^standin: .*history has come to event 13/,
  ],
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
  [["explain", "ep-empty-bonus-33147100", "--at", "14"], 1, /^standin: .*history has come to event 13/],
  [
    ["explain", "ep-empty-bonus-33147100", "--at", "1"],
    1,
    /^standin: endpoint "ep-empty-bonus-33147100" not found$/m,
  ],
  [["explain", "ep-empty-bonus-33147100", "--world", "nowhere"], 1, /^standin: there is no world "nowhere"/],
  [["compact", "--keep", "30d", "--world", "nowhere"], 1, /^standin: there is no world "nowhere"/],
  [["keys", "create", "ci", "--world", "nowhere"], 1, /^standin: there is no world "nowhere"/],
] as const)(
  "%j is refused with code %i, served or not, and nothing has changed",
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
  [["replay", ".", "--data", "."], /a directory or --data, not both/],
  [["replay", ".", "--until", "soon"], POINT],
  [["replay", ".", "--until", "2026-13-01T00:00:00Z"], POINT],
  [["verify", ".", "--data", "."], /a directory or --data, not both/],
  [["verify", ".", "--repair"], /unknown option '--repair'/],
  [["export", "."], /--out <file>/],
  [["export", ".", "--data", ".", "--out", "x.sqlite"], /a directory or --data, not both/],
  [["import"], /missing required argument 'file'/],
] as const)("%j is not understood: code 2, and what would be right", async (args, message) => {
  await expectRefused(args, 2, message);
});

test.each([
  [["replay", unserved, "--until", "14"], /^standin: history has come to event 13/],
  [["replay", unserved, "--until", "2027-01-01T00:00:00Z"], /^standin: history has come to event 13/],
  [["replay", unserved, "--world", "nowhere"], /^standin: there is no world "nowhere" in .*unserved$/m],
  [["replay", join(unserved, "nothing")], /^standin: there is no .*nothing$/m],
  [["verify", unserved, "--world", "nowhere"], /^standin: there is no world "nowhere" in .*unserved$/m],
  [["verify", join(unserved, "nothing")], /^standin: there is no .*nothing$/m],
  [["verify", directory.path], /^standin: there is no world "default" in /],
  [
    ["export", unserved, "--world", "nowhere", "--out", join(directory.path, "x.sqlite")],
    /^standin: there is no world "nowhere"/,
  ],
  [
    ["export", unserved, "--out", join(unserved, "worlds/default.sqlite")],
    /^standin: .*default\.sqlite is there already; choose another --out/,
  ],
  [
    ["export", unserved, "--out", join(directory.path, "no/such/x.sqlite")],
    /^standin: --out .*: there is no directory .*no\/such$/m,
  ],
  [
    ["import", join(directory.path, "nothing.sqlite"), "--data", join(directory.path, "new")],
    /^standin: there is no .*nothing\.sqlite$/m,
  ],
] as const)("%j is refused with code 1 and a sentence", async (args, message) => {
  const before = filesOf(directory.path);
  await expectRefused(args, 1, message);
  expect(filesOf(directory.path)).toEqual(before);
  expect(existsSync(join(directory.path, "new"))).toBe(false);
});

/** Files that are no world's, each under the words for what it is. */
const NO_WORLDS: Readonly<Record<string, readonly [make: (path: string) => void, message: RegExp]>> = {
  text: [(path) => writeFileSync(path, "no database\n".repeat(1_000)), /is damaged, or no world's file/],
  nothing: [
    (path) => writeFileSync(path, ""),
    /is no world in .* yet|is damaged, or no world's file|cannot be used/,
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
  "of %s nothing can be made: replay, verify, export and import say what it is",
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

/** A copy of the snapshot in which something is not what was written. */
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
    /^journal: event \d+ is damaged/m,
  ],
  ["DELETE FROM events WHERE seq = 13", /^journal: /m],
])("after %s, verify says what differs, and no import takes it", async (statement, difference) => {
  const file = damagedCopy(statement);
  const verified = await runStandin(["verify", file]);
  expect(verified.code).toBe(1);
  expect(verified.stdout).toMatch(difference);
  expect(verified.stderr).toMatch(/^standin: \d+ differences?: this world is not what its journal tells$/m);
  const answer = await runStandin(["verify", file, "--json"]);
  expect(answer.code).toBe(1);
  const { ok, differences } = JSON.parse(answer.stdout);
  expect(ok).toBe(false);
  expect(differences.map(({ where, message }: any) => `${where}: ${message}`).join("\n")).toMatch(difference);
  const data = join(testDirectory(), "data");
  await expectRefused(
    ["import", file, "--data", data],
    1,
    /^standin: .*damaged\.sqlite is not what its journal tells .*see: standin verify/,
  );
  expect(existsSync(data)).toBe(false);
});

test("an import takes no world's place, and none of a directory that is served", async () => {
  const file = join(unserved, "snapshots/default/kept.sqlite");
  const before = readFileSync(join(unserved, "worlds/default.sqlite"));
  for (const world of ["default", "other"]) {
    await expectRefused(
      ["import", file, "--data", unserved, "--world", world],
      1,
      new RegExp(
        `^standin: there is a world "${world}" in .*unserved already; choose another --world or --data`,
      ),
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
  "no import makes a world named %j",
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
  "--world %j is no world for any command, least of all the default one",
  async (name) => {
    const commands = [served, unserved].flatMap((data) => [
      ["snapshots", "list", "--data", data, `--world=${name}`],
      ["worlds", "create", "copy", "--data", data, `--world=${name}`],
    ]);
    // One after the other: a directory that is not served is held by one command at a time.
    for (const args of commands) {
      const refused = await runStandin(args);
      expect({ args, failed: refused.code !== 0, stdout: refused.stdout }).toEqual({
        args,
        failed: true,
        stdout: "",
      });
      // Whatever is wrong with it, the message is about the world and not about a path that nobody has typed.
      expect(refused.stderr).toMatch(/world/);
      expect(refused.stderr).not.toMatch(/there is no path|did you mean/);
    }
  },
);

test("a snapshot that another program holds is refused with a sentence", async () => {
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
  "%s %s in a directory without a world ends with code 1, says how to make one, and makes none",
  async (...args) => {
    const data = join(testDirectory(), "data");
    await expectRefused(
      [...args, "--data", data],
      1,
      /^standin: there is no world in .*; make one with: standin serve --data /,
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
  ["--max-world-size", "0", /500MiB, 4GiB, or bytes/],
  ["--max-world-size", "big", /500MiB, 4GiB, or bytes/],
  ["--max-world-size", "-1GiB", /500MiB, 4GiB, or bytes/],
  ["--max-world-size", "4TB", /500MiB, 4GiB, or bytes/],
  ["--backup-every", "0", /1s to 24d/],
  ["--backup-every", "999ms", /1s to 24d/],
  ["--backup-every", "25d", /1s to 24d/],
  ["--backup-every", "daily", /90s, 10m, 2h or 7d|1s to 24d/],
  ["--keep-backups", "0", /whole number from 1 to/],
  ["--keep-backups", "all", /whole number from 1 to/],
  ["--keep-backups", "1.5", /whole number from 1 to/],
] as const)(
  "serve %s %s is refused with code 2, on the command line and in the environment, before anything is made",
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
