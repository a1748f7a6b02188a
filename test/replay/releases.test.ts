import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { importWorld, verifyWorld } from "../../src/cli/history/world-history.ts";
import { openForReading } from "../../src/store/file/open-read-only.ts";
import { connect, connectReadOnly } from "../../src/store/file/sqlite-connection.ts";
import { JOURNAL_VERSION, SCHEMA_VERSION, schemaVersionOf } from "../../src/store/tables/format-version.ts";
import type { AnsweredEvent } from "../support/answers/control-answers.ts";
import { journalOf } from "../support/double/call-log.ts";
import { createProject } from "../support/double/double.ts";
import { createStorageDouble, openStorageDouble, verify } from "../support/double/storage-double.ts";
import { worldStateText } from "../support/model/recorded-run.ts";
import { temporaryDirectory } from "../support/process/process.ts";

const FIXTURES = join(import.meta.dirname, "fixtures");
/** Opens a world as it is, without adding a key. */
const AS_IT_IS = { apiKey: undefined, seed: undefined, startAt: undefined, clock: undefined };

/** A data directory whose default world is a copy of this file; deleted after the test. */
function directoryOf(file: string): { path: string; world: string } {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  mkdirSync(`${path}/worlds`);
  const world = `${path}/worlds/default.sqlite`;
  copyFileSync(file, world);
  return { path, world };
}

/** The closed file of a new world after a change; deleted after the test. */
async function changedWorld(change: string): Promise<string> {
  const shelved = await createStorageDouble("in files");
  await createProject(shelved.double());
  await shelved.release();
  const { world } = directoryOf(shelved.file());
  await shelved.end();
  changeFile(world, change);
  return world;
}

function changeFile(file: string, change: string): void {
  const sqlite = connect(file);
  sqlite.exec(change);
  sqlite.close();
}

function ndjson(file: string): AnsweredEvent[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

test("the version of the schema is the number of its migrations", () => {
  const { entries } = JSON.parse(readFileSync(join(MIGRATIONS_FOLDER, "meta/_journal.json"), "utf8"));
  expect(SCHEMA_VERSION).toBe(entries.length);
});

test("there is a file of the first release", () => {
  expect(readdirSync(FIXTURES)).toContain("0.1.0");
});

describe.each(readdirSync(FIXTURES))("a file of release %s", (release) => {
  const fixture = (name: string) => join(FIXTURES, release, name);
  const isOlder = schemaOf(fixture("world.sqlite")) < SCHEMA_VERSION;
  /** The state that the file was created with, plus fields that this release adds. */
  const expectedState = () => {
    const state = JSON.parse(readFileSync(fixture("state.json"), "utf8"));
    const numbers = { record: 0, snapshot: 0, ...state.numbers };
    return { hourly_usage: [], branch_snapshots: [], records: [], faults: [], ...state, numbers };
  };

  test("has the world and the history that it was created with", async () => {
    const { path } = directoryOf(fixture("world.sqlite"));
    const shelved = await openStorageDouble(path, AS_IT_IS);
    onTestFinished(shelved.end);
    expect(JSON.parse(await worldStateText(shelved.double()))).toEqual(expectedState());
    const events = await journalOf(shelved.double());
    const journal = ndjson(fixture("journal.ndjson"));
    // The first release did not record decisions.
    const withoutDecisions = journal.every((event) => event.decision === undefined);
    const kept = events.slice(0, journal.length);
    expect(withoutDecisions ? kept.map(({ decision, ...event }) => event) : kept).toEqual(journal);
    expect(events).toHaveLength(journal.length);
    for (const [index, { decision, at }] of events.entries()) {
      expect(decision).toBeLessThanOrEqual(index + 1);
      // A decision is contiguous and happens at one instant.
      expect([events[decision - 1]?.decision, events[decision - 1]?.at]).toEqual([decision, at]);
    }
    expect(await shelved.verify("default")).toMatchObject([
      { ok: true, from: 0, to: events.length, differences: [] },
    ]);
  });

  test(`${isOlder ? "is preserved byte for byte when it is upgraded" : "is opened as it is"}`, async () => {
    const { path } = directoryOf(fixture("world.sqlite"));
    const shelved = await openStorageDouble(path, AS_IT_IS);
    onTestFinished(shelved.end);
    const { snapshots } = (await shelved.double().sim("GET", "/snapshots")).body;
    if (!isOlder) {
      expect(snapshots).toEqual([]);
      return;
    }
    expect(snapshots).toMatchObject([{ name: "auto-before-upgrade", kind: "automatic" }]);
    expect(snapshots[0]).not.toHaveProperty("error");
    const kept = readFileSync(`${path}/snapshots/default/auto-before-upgrade.sqlite`);
    expect(kept.equals(readFileSync(fixture("world.sqlite")))).toBe(true);
    // Only the first open upgrades.
    await shelved.reopen();
    expect((await shelved.double().sim("GET", "/snapshots")).body.snapshots).toHaveLength(1);
  });

  test("continues as a world of this release", async () => {
    const { path } = directoryOf(fixture("world.sqlite"));
    const shelved = await openStorageDouble(path, AS_IT_IS);
    onTestFinished(shelved.end);
    const double = shelved.double();
    await double.sim("PUT", "/clock", { mode: "manual" });
    const { key } = (await double.sim("POST", "/api_keys", { key_name: "mine" })).body;
    expect((await double.advance("10m")).status).toBe(200);
    const { path: endpoint } = await createProject(double, { name: "after all" }, key);
    expect((await double.api("GET", endpoint, undefined, key)).body.endpoint.current_state).toBe("active");
    await double.advance("7d");
    expect((await double.api("GET", endpoint, undefined, key)).body.endpoint.current_state).toBe("idle");
    expect((await double.sim("GET", "/invariants")).body.violations).toEqual([]);
    const state = await worldStateText(double);
    await shelved.reopen();
    await shelved.double().sim("PUT", "/clock", { mode: "manual" });
    expect(await worldStateText(shelved.double())).toBe(state);
    for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
  });

  test("can be forked at any point and restored to its original state", async () => {
    const { path } = directoryOf(fixture("world.sqlite"));
    const shelved = await openStorageDouble(path, AS_IT_IS);
    onTestFinished(shelved.end);
    const double = shelved.double();
    await double.sim("PUT", "/clock", { mode: "manual" });
    const state = await worldStateText(double);
    const { seq } = double.world.history();
    for (const at of [1, Math.ceil(seq / 2), seq]) {
      expect((await double.sim("POST", "/worlds", { name: `fork-${at}`, at, clock: "manual" })).status).toBe(
        201,
      );
    }
    expect(JSON.parse(await worldStateText(shelved.world(`fork-${seq}`))).seq).toBe(seq);
    for (const { differences } of await shelved.verify("fork-1", `fork-${Math.ceil(seq / 2)}`))
      expect(differences).toEqual([]);
    if (!isOlder) return;
    await double.sim("POST", "/accounts", { id: "later", name: "later" });
    expect((await double.sim("POST", "/snapshots/auto-before-upgrade/restore")).status).toBe(200);
    expect(await worldStateText(double)).toBe(state);
    for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
  });

  test("is read, verified and imported without being changed", async () => {
    const { world } = directoryOf(fixture("world.sqlite"));
    const before = readFileSync(world);
    expect(await verifyWorld(world, "default")).toMatchObject({ ok: true, differences: [] });
    const { path, remove } = temporaryDirectory();
    onTestFinished(remove);
    expect(await importWorld(world, path, "imported")).toMatchObject({ ok: true });
    expect(readFileSync(world).equals(before)).toBe(true);
    const shelved = await openStorageDouble(path, AS_IT_IS);
    onTestFinished(shelved.end);
    expect(JSON.parse(await worldStateText(shelved.world("imported")))).toEqual(expectedState());
  });
});

/** Files that are rejected, and the reason. */
const REFUSED: readonly {
  readonly what: string;
  readonly make: () => string | Promise<string>;
  readonly why: RegExp;
}[] = [
  {
    what: "with a newer schema",
    make: () => changedWorld(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`),
    why: new RegExp(
      `written by a newer standin: its schema has version ${SCHEMA_VERSION + 1}, this release supports up to ${SCHEMA_VERSION}`,
    ),
  },
  {
    what: "with events of a newer meaning",
    make: () => changedWorld(`UPDATE history SET journal_version = ${JOURNAL_VERSION + 1}`),
    why: new RegExp(
      `written by a newer standin: its journal has version ${JOURNAL_VERSION + 1}, this release supports up to ${JOURNAL_VERSION}`,
    ),
  },
  {
    what: "with a newer schema, at rest as an export leaves it",
    make: () => changedWorld(`PRAGMA user_version = ${SCHEMA_VERSION + 1}; PRAGMA journal_mode = DELETE`),
    why: /written by a newer standin/,
  },
  {
    what: "of another program",
    make: () => {
      const { path, remove } = temporaryDirectory();
      onTestFinished(remove);
      changeFile(`${path}/default.sqlite`, "CREATE TABLE events (id INTEGER); INSERT INTO events VALUES (1)");
      return `${path}/default.sqlite`;
    },
    why: /it is a database, but not one of standin's worlds/,
  },
  {
    what: "of another program that marks its files",
    make: () => {
      const { path, remove } = temporaryDirectory();
      onTestFinished(remove);
      changeFile(
        `${path}/default.sqlite`,
        "PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE world (id INTEGER)",
      );
      return `${path}/default.sqlite`;
    },
    why: /it is a database, but not one of standin's worlds/,
  },
];

for (const { what, make, why } of REFUSED) {
  test(`a file ${what} is not served and not changed`, async () => {
    const { path, world } = directoryOf(await make());
    const before = readFileSync(world);
    await expect(openStorageDouble(path, AS_IT_IS)).rejects.toThrow(why);
    expect(readFileSync(world).equals(before), "every byte of it").toBe(true);
    // SQLite may leave an empty log next to a file that it has read.
    const sizes = readdirSync(`${path}/worlds`).map((file) =>
      /-shm$/.test(file) ? 0 : statSync(`${path}/worlds/${file}`).size,
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBe(before.length);
    expect(existsSync(`${path}/snapshots`)).toBe(false);
  });

  test(`a file ${what} is neither verified nor imported, and not changed`, async () => {
    const { path, world } = directoryOf(await make());
    const before = readFileSync(world);
    expect(() => openForReading(world, MIGRATIONS_FOLDER)).toThrow(why);
    await expect(verify(world)).rejects.toThrow(why);
    await expect(importWorld(world, `${path}/data`, "default")).rejects.toThrow(why);
    expect(readFileSync(world).equals(before), "every byte of it").toBe(true);
  });
}

/** Evaluated while tests are collected, before a test exists that could own a directory. */
function schemaOf(file: string): number {
  const { path, remove } = temporaryDirectory();
  try {
    copyFileSync(file, `${path}/world.sqlite`);
    const sqlite = connectReadOnly(`${path}/world.sqlite`);
    const version = schemaVersionOf(sqlite);
    sqlite.close();
    return version;
  } finally {
    remove();
  }
}
