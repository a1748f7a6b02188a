import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { importWorld } from "../../../src/cli/history/world-history.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { worldState } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";
import { createStorageDouble, openStorageDouble } from "../../support/double/storage-double.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { SMALL_BLOCKS } from "../../support/store/small-blocks.ts";

async function createInFiles() {
  const made = await createStorageDouble("in files");
  onTestFinished(made.end);
  return made;
}

test("only its user can read what a data directory contains", async () => {
  const scratch = temporaryDirectory();
  onTestFinished(scratch.remove);
  const data = join(scratch.path, "new", "data");
  const directory = new DataDirectory(data, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  const double = await createDouble({ storage: directory });
  await double.sim("POST", "/snapshots", { name: "first" });
  await double.sim("POST", "/worlds", { name: "fork" });
  await double.sim("POST", "/snapshots/first/restore");
  await double.api("POST", "/projects", { project: {} });
  const modes = [".", ...(readdirSync(data, { recursive: true }) as string[])].map((name) => {
    const { mode } = statSync(join(data, name));
    return `${name}: ${(mode & 0o777).toString(8)}`;
  });
  await double.close();
  directory.release();
  expect(modes.filter((text) => !/: (600|700)$/.test(text))).toEqual([]);
  expect(modes).toContain("worlds/default.sqlite-wal: 600");
  expect(modes).toContain("snapshots/default: 700");
});

test("a restored world is read in steps, and opened as it was read", async () => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  const directory = new DataDirectory(path, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  const double = await createDouble({ storage: directory });
  onTestFinished(async () => {
    await double.close();
    directory.release();
  });
  const { moves } = directory;
  const read: number[] = [];
  const keep = moves.keepLoaded.bind(moves);
  moves.keepLoaded = (world, loaded) => {
    read.push(loaded.head.seq);
    keep(world, loaded);
  };
  await createProject(double);
  await double.sim("POST", "/snapshots", { name: "first" });
  const { seq } = double.world.history();
  const before = await worldState(double);
  await createProject(double);
  expect((await double.sim("POST", "/snapshots/first/restore")).status).toBe(200);
  expect(read).toEqual([seq]);
  expect(moves.takeArrived("default")).toBeUndefined();
  expect(await worldState(double)).toBe(before);
});

test("a fork that nobody has opened has a head mark", async () => {
  const scratch = temporaryDirectory();
  onTestFinished(scratch.remove);
  const directory = new DataDirectory(scratch.path, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  const double = await createDouble({ storage: directory });
  await double.sim("POST", "/worlds", { name: "now" });
  await double.sim("POST", "/worlds", { name: "past", at: 1, seed: 7 });
  await double.close();
  directory.release();
  const unmarked: string[] = [];
  const options = { ...SMALL_BLOCKS, onUnmarked: (worlds: readonly string[]) => unmarked.push(...worlds) };
  const next = new DataDirectory(scratch.path, MIGRATIONS_FOLDER, options);
  onTestFinished(() => next.release());
  expect([next.worlds(), unmarked]).toEqual([["default", "now", "past"], []]);
  expect(next.worlds().map((world) => next.info(world).error)).toEqual([undefined, undefined, undefined]);
  expect(readdirSync(join(scratch.path, "worlds")).filter((name) => name.includes("unfinished"))).toEqual([]);
});

test("a data directory removed under a running server is 503, and no new world is created", async () => {
  const made = await createInFiles();
  const before = (await made.double().api("POST", "/projects", { project: {} })).status;
  rmSync(made.directory, { recursive: true });
  const refused = await made.double().api("POST", "/projects", { project: {} });
  expect([before, refused.status, refused.body.code]).toEqual([201, 503, "STORE_UNAVAILABLE"]);
  expect(refused.body.message).toMatch(/was removed or replaced.*; nothing was changed$/);
  mkdirSync(join(made.directory, "worlds"), { recursive: true });
  expect((await made.double().api("GET", "/projects")).status).toBe(503);
  expect(readdirSync(join(made.directory, "worlds"))).toEqual([]);
});

test("a server whose directory is locked by another one through a new lock file changes nothing", async () => {
  const made = await createInFiles();
  rmSync(join(made.directory, "standin.lock"));
  const other = new DataDirectory(made.directory, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  onTestFinished(() => other.release());
  const { seq } = made.double().world.history();
  const refused = await made.double().api("POST", "/projects", { project: {} });
  expect(refused).toMatchObject({ status: 503, body: { code: "STORE_UNAVAILABLE" } });
  expect(refused.body.message).toContain("restart the server");
  expect(await made.verify("default")).toMatchObject([{ ok: true, to: seq }]);
});

test("a fork of a point whose history is damaged is 503, and leaves no file", async () => {
  const made = await createInFiles();
  await made.double().api("POST", "/projects", { project: {} });
  const { seq } = made.double().world.history();
  const other = new BetterSqlite3(made.file());
  expect(other.prepare("DELETE FROM event_blocks").run().changes).toBeGreaterThan(0);
  other.close();
  const refused = await made.double().sim("POST", "/worlds", { name: "fork", at: seq - 1 });
  expect(refused).toMatchObject({ status: 503, body: { code: "STORE_UNAVAILABLE" } });
  expect(refused.body.message).toMatch(
    /^the file of world "default" is damaged \(.*\); restore a snapshot of it/,
  );
  expect(readdirSync(join(made.directory, "worlds")).filter((name) => name.startsWith("fork"))).toEqual([]);
});

test("a world file replaced under a running server is 503", async () => {
  const made = await createInFiles();
  const file = made.file();
  cpSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  const refused = await made.double().api("POST", "/projects", { project: {} });
  expect(refused).toMatchObject({ status: 503, body: { code: "STORE_UNAVAILABLE" } });
});

test.each([
  ["fork", "BEGIN IMMEDIATE", "/worlds"],
  ["snapshot", "PRAGMA journal_mode = DELETE", "/snapshots"],
])("nothing is left of a %s that cannot be written", async (_, statement, path) => {
  const made = await createInFiles();
  const double = made.double();
  await double.advance("1h");
  const files = () => readdirSync(made.directory, { recursive: true, encoding: "utf8" }).sort();
  // A snapshot creates the directory of its world.
  await double.sim("POST", "/snapshots", { name: "first" });
  const before = files();
  const { exec } = BetterSqlite3.prototype;
  let failures = 0;
  const failing = vi.spyOn(BetterSqlite3.prototype, "exec");
  onTestFinished(() => failing.mockRestore());
  failing.mockImplementation(function (this: BetterSqlite3.Database, text) {
    if (!text.includes(statement)) return exec.call(this, text);
    failures += 1;
    throw new BetterSqlite3.SqliteError("disk I/O error", "SQLITE_IOERR");
  });
  const at = path === "/worlds" ? "2026-01-01T00:00:00Z" : undefined;
  const { status } = await double.sim("POST", path, { name: "new", at });
  expect([status, failures > 0, files()]).toEqual([503, true, before]);
});

test("a world is deleted even if some of its files cannot be removed", async () => {
  const made = await createInFiles();
  await made.double().sim("POST", "/worlds", { name: "fork" });
  // A directory with the name of a journal cannot be removed as a file.
  mkdirSync(join(made.directory, "worlds", "fork.sqlite-journal"));
  expect((await made.double().sim("DELETE", "/worlds/fork")).status).toBe(200);
  const again = await made.double().sim("POST", "/worlds", { name: "fork" });
  expect(again).toMatchObject({ status: 503, body: { code: "STORE_UNAVAILABLE" } });
  rmSync(join(made.directory, "worlds", "fork.sqlite-journal"), { recursive: true });
  expect((await made.double().sim("POST", "/worlds", { name: "fork" })).status).toBe(201);
});

test("a world with the name of one that was not completely deleted survives a restart", async () => {
  const scratch = temporaryDirectory();
  onTestFinished(scratch.remove);
  const first = await openStorageDouble(scratch.path);
  writeFileSync(join(scratch.path, "worlds", "fork.sqlite.deleted"), "");
  await first.double().sim("POST", "/worlds", { name: "fork" });
  await first.release();
  const second = await openStorageDouble(scratch.path);
  const { body } = await second.double().sim("GET", "/worlds");
  await second.release();
  expect(body.worlds.map(({ name }: { name: string }) => name)).toEqual(["default", "fork"]);
});

test.each([
  ["trigger", "CREATE TRIGGER extra AFTER INSERT ON events BEGIN DELETE FROM faults; END"],
  ["view", "CREATE VIEW extra AS SELECT 1"],
  ["table", "CREATE TABLE extra (a)"],
  ["index", "CREATE INDEX extra ON events (at)"],
])("a file with an extra %s is not imported", async (type, statement) => {
  const made = await createInFiles();
  await made.double().close();
  const sqlite = new BetterSqlite3(made.file());
  sqlite.exec(statement);
  sqlite.close();
  const target = join(made.directory, "imported");
  await expect(importWorld(made.file(), target, "default")).rejects.toThrow(
    `its schema has an unexpected ${type} "extra"`,
  );
});

test.each(["0.1.0", "0.2.0", "0.3.0", "0.4.0"])("the file of release %s is imported", async (release) => {
  const scratch = temporaryDirectory();
  onTestFinished(scratch.remove);
  const file = join(import.meta.dirname, "../../replay/fixtures", release, "world.sqlite");
  expect(await importWorld(file, join(scratch.path, "data"), "default")).toMatchObject({ ok: true });
});
