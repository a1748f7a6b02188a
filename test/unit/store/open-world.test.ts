import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { NO_NUMBERS } from "../../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { HeadMark, readHeadMark } from "../../../src/store/file/head-mark.ts";
import { openStore, type Store } from "../../../src/store/file/open-world.ts";
import { readWorldRow } from "../../../src/store/file/read-world.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { readHistoryRow } from "../../../src/store/tables/journal-row.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import {
  clockAt,
  copyOf,
  editWorldRow,
  FULL_LIFE,
  inDatabase,
  inMemory,
  OPTIONS,
  testDirectory,
  writeWorldFile,
} from "../../support/store/world-files.ts";

const files = worldFiles();

function open(path: string, options: object = {}): Store {
  const store = openStore(path, { ...OPTIONS, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Opens a copy after a change of it. */
function openChanged(change: (sqlite: BetterSqlite3.Database) => void, file = files.complete): Store {
  const path = copyOf(file);
  inDatabase(path, change);
  return open(path);
}

/** An open world at work. */
function worldAtWork(path: string, options: object = {}) {
  const store = open(path, options);
  const simulated = new SimulatedWorld().use(new Simulation(store.world, store.journal));
  simulated.now = store.clock?.now ?? 0;
  let renamed = 0;
  const rename = () => {
    renamed += 1;
    simulated.run({ type: "UpdateProject", accountId: "owner", projectId: "shop", name: `shop ${renamed}` });
  };
  return { store, simulated, rename };
}

const seqOf = (path: string) => {
  const store = openStore(path, OPTIONS);
  store.close();
  return store.world.seq;
};

describe("an open file", () => {
  test("has the world, its clock and its history", () => {
    const { simulated, complete, truncated } = files;
    for (const file of [complete, truncated]) {
      const store = open(copyOf(file));
      expect(takeCheckpoint(store.world)).toEqual(takeCheckpoint(simulated.world));
      expect(store.clock).toEqual({
        state: { mode: "manual", factor: 0, simAnchor: simulated.now, wallAnchor: 0 },
        now: simulated.now,
      });
      expect(store.historyId).toBe(readHistoryRow(inMemory(file)).historyId);
      const unfinished = Array.from(store.world.operations.values(), ({ state }) => state.status);
      expect(unfinished.length).toBeGreaterThan(0);
      expect(unfinished).not.toContain("finished");
    }
  });

  test("is new if there is none, and its world has no clock yet", () => {
    const path = join(testDirectory(), "new.sqlite");
    const store = open(path);
    expect("clock" in store).toBe(false);
    expect([store.world.seq, store.journal.events(0, 9)]).toEqual([0, []]);
    expect(existsSync(path)).toBe(true);
  });

  test("may have no events any more", async () => {
    const path = join(testDirectory(), "world.sqlite");
    const simulated = await writeWorldFile(path, [FULL_LIFE, []], { truncated: true });
    const store = open(path);
    expect(store.journal.events(0, 9)).toEqual([]);
    expect(takeCheckpoint(store.world)).toEqual(takeCheckpoint(simulated.world));
  });

  test("can be written before its world is created", () => {
    const path = join(testDirectory(), "new.sqlite");
    const store = open(path);
    new Simulation(store.world, store.journal).commit(clockAt(5), 5);
    store.close();
    expect(open(path).clock).toEqual({ state: clockAt(5), now: 5 });
  });

  test("has the counters that a file of an older release does not have", () => {
    const store = openChanged((sqlite) => {
      editWorldRow(sqlite, (row) => {
        const { record: _, ...numbers } = JSON.parse(row["numbers"]);
        row["numbers"] = JSON.stringify(numbers);
      });
    });
    expect(store.world.numbers).toEqual({ ...files.simulated.world.numbers, record: NO_NUMBERS.record });
  });

  test("has a log, which a checkpoint moves into the file", () => {
    const path = copyOf(files.complete);
    const { store, rename } = worldAtWork(path);
    rename();
    expect(store.walBytes()).toBe(statSync(`${path}-wal`).size);
    expect(store.walBytes()).toBeGreaterThan(0);
    store.checkpoint();
    expect(store.walBytes()).toBe(0);
    rename();
    store.close();
    expect(readdirSync(dirname(path))).toEqual(["world.sqlite"]);
    expect(store.walBytes()).toBe(0);
  });

  test("leaves its log to another program, if there is one", () => {
    const path = copyOf(files.complete);
    const { store, rename } = worldAtWork(path, { leavesLog: true });
    rename();
    const bytes = store.walBytes();
    store.checkpoint();
    expect([store.walBytes(), bytes > 0]).toEqual([bytes, true]);
  });

  test("is copied while it is in use, without later commits", async () => {
    for (const leavesLog of [false, true]) {
      const path = copyOf(files.complete);
      const { store, simulated, rename } = worldAtWork(path, { leavesLog });
      rename();
      const { seq } = simulated.world;
      const copied = store.copyTo(`${path}-copy`);
      await copied;
      rename();
      expect(existsSync(`${path}-copy-wal`)).toBe(false);
      expect(seqOf(`${path}-copy`)).toBe(seq);
      expect(simulated.world.seq).toBe(seq + 1);
    }
  });

  test("that is closed while it is pinned leaves file and log as they are, and loses nothing", async () => {
    const path = copyOf(files.complete);
    const { store, simulated, rename } = worldAtWork(path);
    rename();
    let wasPinned = false;
    await store.whilePinned(async () => {
      wasPinned = true;
      const file = readFileSync(path);
      rename();
      const log = store.walBytes();
      store.close();
      expect(readFileSync(path).equals(file)).toBe(true);
      expect([statSync(`${path}-wal`).size, log > 0]).toEqual([log, true]);
    });
    expect([wasPinned, seqOf(path)]).toEqual([true, simulated.world.seq]);
  });

  test("is not written any more once it must not be", () => {
    let isUsable = true;
    const checkUsable = () => {
      if (!isUsable) throw new Error("the file was replaced");
    };
    const { simulated, rename, store } = worldAtWork(copyOf(files.complete), { checkUsable });
    rename();
    isUsable = false;
    expect(rename).toThrow("the file was replaced");
    expect(store.journal.events(files.head, 9)).toHaveLength(1);
    expect(simulated.world.seq).toBe(files.head + 2);
  });
});

describe("the mark of the acknowledged head", () => {
  const headOf = (path: string) => {
    const { number: _, ...head } = { number: 0, ...readHeadMark(path) };
    return head;
  };

  test("is written when the file is opened, and with each commit", () => {
    const path = copyOf(files.complete);
    const { simulated, rename } = worldAtWork(path, { marksHead: true });
    const { historyId } = readHistoryRow(inMemory(files.complete));
    const { chain } = readWorldRow(inMemory(files.complete)) ?? {};
    expect(headOf(path)).toEqual({ historyId, seq: files.head, chain, now: simulated.now });
    simulated.now += 1_000;
    rename();
    expect(headOf(path)).toMatchObject({ historyId, seq: simulated.world.seq, now: simulated.now });
    expect(simulated.world.seq).toBeGreaterThan(files.head);
    expect(headOf(path)).not.toMatchObject({ chain });
  });

  test("is not written for a world that is not in service", () => {
    const path = copyOf(files.complete);
    worldAtWork(path).rename();
    expect(existsSync(`${path}-head`)).toBe(false);
  });

  test("is written with the first commit of a new world", () => {
    const path = join(testDirectory(), "new.sqlite");
    const { simulated } = worldAtWork(path, { marksHead: true });
    expect(readHeadMark(path)).toBeUndefined();
    simulated.run({ type: "CreateWorld", settings: files.simulated.world.settings });
    expect(readHeadMark(path)).toMatchObject({ seq: 1 });
  });

  test("is durable when the log that it is compared with is gone", () => {
    const { store, rename } = worldAtWork(copyOf(files.complete), { marksHead: true });
    const synced = vi.spyOn(HeadMark.prototype, "sync");
    onTestFinished(() => synced.mockRestore());
    rename();
    expect(synced).not.toHaveBeenCalled();
    store.checkpoint();
    expect(store.walBytes()).toBe(0);
    expect(synced).toHaveBeenCalledTimes(1);
  });
});

describe("a damaged file is not opened", () => {
  test("without its world row, although it has events or had some", () => {
    const message = "the world row is missing";
    const remove = (sqlite: BetterSqlite3.Database) => void sqlite.exec("DELETE FROM world");
    expect(() => openChanged(remove)).toThrow(new CorruptFile(message));
    const removeAll = (sqlite: BetterSqlite3.Database) =>
      void sqlite.exec("DELETE FROM world; DELETE FROM events");
    expect(() => openChanged(removeAll, files.truncated)).toThrow(new CorruptFile(message));
    expect(openChanged(removeAll, files.empty).world.seq).toBe(0);
  });

  test("with a world row that was changed", () => {
    const change = (sqlite: BetterSqlite3.Database) => void sqlite.exec("UPDATE world SET now = now + 1");
    expect(() => openChanged(change)).toThrow(new CorruptFile("the world row is damaged"));
  });

  test("with tables and a journal that end at different events", () => {
    const { head, complete, truncated, first } = files;
    const remove = (after: number) => (sqlite: BetterSqlite3.Database) =>
      void sqlite.prepare("DELETE FROM events WHERE seq > ?").run(after);
    const message = (end: number) => `the tables are at event ${head}, but the journal ends at event ${end}`;
    expect(() => openChanged(remove(head - 1))).toThrow(new CorruptFile(message(head - 1)));
    expect(() => openChanged(remove(0), complete)).toThrow(new CorruptFile(message(0)));
    expect(() => openChanged(remove(0), truncated)).toThrow(new CorruptFile(message(first)));
    const replace = (sqlite: BetterSqlite3.Database) =>
      void sqlite.prepare("UPDATE events SET chain = chain + 1 WHERE seq = ?").run(head);
    expect(() => openChanged(replace)).toThrow(new CorruptFile(message(head)));
  });

  test("with an index that lacks rows, if the file is small enough to be checked whole", () => {
    const intact = inMemory(files.complete);
    intact.unsafeMode(true);
    intact.pragma("writable_schema = ON");
    intact.exec(
      "UPDATE sqlite_schema SET sql = replace(sql, '''scheduling''', '''finished''') WHERE name = 'operations_unfinished'",
    );
    const path = join(testDirectory(), "world.sqlite");
    writeFileSync(path, intact.serialize());
    const { size } = statSync(path);
    expect(() => open(path, { fullCheckMaxBytes: size })).toThrow(/missing from index operations_unfinished/);
    // Of a larger file, only tables that are read completely are checked.
    expect(open(path, { fullCheckMaxBytes: size - 1 }).world.seq).toBe(files.head);
  });

  test("with a page that has lost a row, whatever its size", () => {
    const path = copyOf(files.complete);
    const sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'branches'";
    const page = inDatabase(path, (sqlite) => sqlite.prepare<[], number>(sql).pluck().get()) ?? 1;
    const bytes = readFileSync(path);
    const countAt = (page - 1) * 4_096 + 3;
    bytes.writeUInt16BE(bytes.readUInt16BE(countAt) - 1, countAt);
    for (const fullCheckMaxBytes of [0, 1e9]) {
      const copy = `${path}-${fullCheckMaxBytes}`;
      writeFileSync(copy, bytes);
      expect(() => open(copy, { fullCheckMaxBytes })).toThrow(CorruptFile);
    }
  });

  test("with a page of a table that cannot be read, whatever its size", () => {
    const path = copyOf(files.complete);
    const page = inDatabase(path, (sqlite) =>
      sqlite.prepare<[], number>("SELECT rootpage FROM sqlite_schema WHERE name = 'branches'").pluck().get(),
    );
    const bytes = readFileSync(path);
    bytes.fill(0xff, ((page ?? 1) - 1) * 4_096, (page ?? 1) * 4_096);
    writeFileSync(path, bytes);
    for (const fullCheckMaxBytes of [0, 1e9]) {
      const copy = `${path}-${fullCheckMaxBytes}`;
      copyFileSync(path, copy);
      expect(() => open(copy, { fullCheckMaxBytes })).toThrow(CorruptFile);
    }
  });

  test("and stays as it is if it is another database", () => {
    const path = join(testDirectory(), "other.sqlite");
    const other = new BetterSqlite3(path);
    other.exec("CREATE TABLE other (x)");
    other.close();
    const before = readFileSync(path);
    expect(() => open(path)).toThrow("it is a database, but not one of standin's worlds");
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(dirname(path))).toEqual(["other.sqlite"]);
  });
});
