import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { serve, temporaryDirectory } from "../../support/process/process.ts";
import {
  createProjectOn,
  type RunningServer,
  serverClient,
  testDirectory,
} from "../../support/server/running-server.ts";

/** What a file from elsewhere can have that a world does not have: it would be executed, or stand for something else. */
const HOSTILE: readonly (readonly [string, (sqlite: BetterSqlite3.Database) => void])[] = [
  ["a trigger", (db) => db.exec("CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM projects; END")],
  [
    "a trigger on an update",
    (db) => db.exec("CREATE TRIGGER t AFTER UPDATE ON world BEGIN DELETE FROM api_keys; END"),
  ],
  ["a view", (db) => db.exec("CREATE VIEW v AS SELECT 1")],
  [
    "a view in the place of a table, whose rows never end",
    (db) =>
      db.exec(
        "ALTER TABLE faults RENAME TO x; CREATE VIEW faults AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS id FROM r",
      ),
  ],
  ["a table", (db) => db.exec("CREATE TABLE t (a)")],
  ["a virtual table", (db) => db.exec("CREATE VIRTUAL TABLE t USING fts5(a)")],
  ["an index", (db) => db.exec("CREATE INDEX i ON events (at)")],
  ["an index of an expression", (db) => db.exec("CREATE INDEX i ON events (abs(at))")],
  [
    "a generated column",
    (db) => db.exec("ALTER TABLE faults ADD COLUMN g TEXT GENERATED ALWAYS AS (hex(zeroblob(1000))) VIRTUAL"),
  ],
  ["a column with a default", (db) => db.exec("ALTER TABLE faults ADD COLUMN d TEXT DEFAULT 'x'")],
  ["a missing table", (db) => db.exec("DROP TABLE faults")],
  [
    "a changed definition of a table",
    (db) => {
      db.unsafeMode(true);
      db.exec("PRAGMA writable_schema = ON");
      const changed = db
        .prepare(
          "UPDATE sqlite_master SET sql = replace(sql, 'text', 'text DEFAULT 1') WHERE name = 'faults'",
        )
        .run();
      expect(changed.changes).toBe(1);
      db.exec("PRAGMA writable_schema = OFF");
    },
  ],
];

const shared = temporaryDirectory();
const good = join(shared.path, "good.sqlite");
let server: RunningServer;

beforeAll(async () => {
  const served = await serve(shared.path, ["--clock", "manual", "--seed", "1", "--pg-port", "none"]);
  server = { ...served, ...serverClient(served.ready) };
  await createProjectOn(server, { name: "shop" });
  await runStandin(["export", shared.path, "--out", good]);
}, 120_000);
afterAll(async () => {
  await server.kill("SIGKILL");
  shared.remove();
});

/** The world's file with something else in it. */
function hostileFile(change: (sqlite: BetterSqlite3.Database) => void): string {
  const file = join(testDirectory(), "world.sqlite");
  copyFileSync(good, file);
  const sqlite = new BetterSqlite3(file);
  change(sqlite);
  sqlite.pragma("journal_mode = DELETE");
  sqlite.close();
  return file;
}

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Sends parts to a server as a move does. */
async function arrive(parts: Readonly<Record<string, Buffer>>) {
  const sizeBytes = Object.values(parts).reduce((sum, { length }) => sum + length, 0);
  const begun = await server.sim("POST", "/worlds/team/arrival", { history_id: "h", size_bytes: sizeBytes });
  const { id } = begun.body;
  for (const [name, bytes] of Object.entries(parts)) {
    const url = `${server.ready.control_url}/worlds/team/arrival/${id}/${name}?offset=0`;
    expect((await fetch(url, { method: "PUT", body: new Uint8Array(bytes) })).status).toBe(200);
  }
  const sums = Object.entries(parts).map(([name, { length }]) => ({
    name,
    bytes: length,
    sha256: sha256(parts[name] as Buffer),
  }));
  const body = { parts: sums, secrets: [] };
  const prepared = await server.sim("POST", `/worlds/team/arrival/${id}/prepare`, body);
  const completed = await server.sim("POST", `/worlds/team/arrival/${id}/complete`, {
    ...body,
    history_id: "h",
    seq: 1,
  });
  await server.sim("DELETE", "/worlds/team/arrival?history_id=h");
  return { prepared, completed };
}

/** Each way by which a file from elsewhere becomes a world. Returns what was said. */
const ENTRANCES: readonly (readonly [string, (file: string) => Promise<string>])[] = [
  [
    "import",
    async (file) => {
      const data = testDirectory();
      const { code, stderr } = await runStandin(["import", file, "--data", data]);
      expect(code).toBe(1);
      expect(existsSync(join(data, "worlds"))).toBe(false);
      return stderr;
    },
  ],
  [
    "snapshots pull",
    async (file) => {
      const data = testDirectory();
      const { code, stderr } = await runStandin(["snapshots", "pull", file, "--data", data]);
      expect(code).toBe(1);
      expect(existsSync(join(data, "worlds"))).toBe(false);
      return stderr;
    },
  ],
  [
    "run with world.file",
    async (file) => {
      const scenario = join(dirname(file), "s.yaml");
      writeFileSync(scenario, "version: 1\nworld: { file: world.sqlite }\nlength: 1m\n");
      const { code, stderr } = await runStandin(["run", scenario]);
      expect(code).toBe(2);
      return stderr;
    },
  ],
  [
    "run with a world in the scenario",
    async (file) => {
      const world = `data:application/gzip;base64,${gzipSync(readFileSync(file)).toString("base64")}`;
      const scenario = join(dirname(file), "s.yaml");
      writeFileSync(scenario, `version: 1\nworld: { file: "${world}" }\nlength: 1m\n`);
      const { code, stderr } = await runStandin(["run", scenario]);
      expect(code).toBe(2);
      return stderr;
    },
  ],
  [
    "a move to a server",
    async (file) => {
      const { completed } = await arrive({ file: readFileSync(file) });
      expect(completed.body.code).toBe("ARRIVAL_REFUSED");
      return completed.body.message;
    },
  ],
  [
    "a snapshot of a world that moves to a server",
    async (file) => {
      const parts = { file: readFileSync(good), "snapshot:s": readFileSync(file) };
      const { prepared } = await arrive(parts);
      expect(prepared.body.code).toBe("ARRIVAL_REFUSED");
      expect(readdirSync(join(shared.path, "snapshots", "team"))).toEqual([]);
      return prepared.body.message;
    },
  ],
];

describe.each(ENTRANCES)("%s", (_, enter) => {
  test.each(HOSTILE)("refuses a file with %s, and does not change it", async (__, change) => {
    const file = hostileFile(change);
    const before = sha256(readFileSync(file));
    expect(await enter(file)).toMatch(/its schema (has an unexpected|lacks) /);
    expect(sha256(readFileSync(file))).toBe(before);
    expect(readdirSync(dirname(file)).filter((name) => !/^(world\.sqlite|s\.yaml)$/.test(name))).toEqual([]);
  });
});

test("a trigger in the log of a world that moves is refused", async () => {
  const directory = testDirectory();
  const file = join(directory, "world.sqlite");
  copyFileSync(good, file);
  const sqlite = new BetterSqlite3(file);
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("wal_checkpoint(TRUNCATE)");
  const before = readFileSync(file);
  sqlite.exec("CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM projects; END");
  const log = readFileSync(`${file}-wal`);
  sqlite.close();
  expect(log.length).toBeGreaterThan(0);
  const { completed } = await arrive({ file: before, log });
  expect(completed.body).toMatchObject({
    code: "ARRIVAL_REFUSED",
    message: 'its schema has an unexpected trigger "t"',
  });
  expect((await server.sim("GET", "/worlds")).body.worlds).toHaveLength(1);
});

test("more bytes than were announced, and too many snapshots, are refused", async () => {
  const { id } = (await server.sim("POST", "/worlds/team/arrival", { history_id: "h", size_bytes: 0 })).body;
  const write = async (part: string, offset: number, bytes: Uint8Array<ArrayBuffer>) => {
    const url = `${server.ready.control_url}/worlds/team/arrival/${id}/${part}?offset=${offset}`;
    return (await (await fetch(url, { method: "PUT", body: bytes })).json()) as { message?: string };
  };
  const names = Array.from({ length: 1_000 }, (_, index) => `snapshot:s${index}`);
  for (const name of names) expect(await write(name, 0, new Uint8Array(1))).toEqual({ received_bytes: 1 });
  expect((await write("snapshot:one-more", 0, new Uint8Array(1))).message).toContain(
    "there are more than 1000",
  );
  for (const part of ["..%2f..%2fx", "snapshot:..%2fx", "snapshot:.x", "snapshot:", "file%00"])
    expect((await write(part, 0, new Uint8Array(1))).message).toMatch(/must be file, log, or snapshot/);
  expect((await server.sim("DELETE", "/worlds/team/arrival?history_id=h")).body).toEqual({ arrived: false });
  mkdirSync(join(shared.path, "snapshots", "team"), { recursive: true });
  expect(readdirSync(join(shared.path, "snapshots", "team"))).toEqual([]);
});
