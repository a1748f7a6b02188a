import { join } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { copyBranchData } from "../../../src/platform/model/branch-data.ts";
import type { RecordedEvent } from "../../../src/platform/model/events.ts";
import type { Operation } from "../../../src/platform/model/operation.ts";
import { JOURNALED_TABLES } from "../../../src/platform/world/tables.ts";
import type { World } from "../../../src/platform/world/world.ts";
import { foldOperation } from "../../../src/simulation/fold-operation.ts";
import { worldAt } from "../../../src/simulation/replay.ts";
import { type DivergenceOptions, divergeCopy } from "../../../src/store/file/diverge-copy.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { readWorldRow } from "../../../src/store/file/read-world.ts";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import { SqliteJournal } from "../../../src/store/journal/sqlite-journal.ts";
import { readHistoryRow } from "../../../src/store/tables/journal-row.ts";
import { RowWriter } from "../../../src/store/tables/row-writer.ts";
import { prepareReader } from "../../../src/store/tables/stored-tables.ts";
import { createShop, MAIN_COMPUTE } from "../../support/rules/rule-worlds.ts";
import { after, HOUR, MINUTE, type Step } from "../../support/rules/rules.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import {
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
const WALL_NOW = 5_000;

const verify = (file: string) => verifyFile(inMemory(file), async () => undefined);

/** A copy that goes its own way. */
async function diverged(file: string, options: Partial<DivergenceOptions> = {}): Promise<string> {
  const copy = copyOf(file);
  const result = await divergeCopy(copy, OPTIONS, {
    ...{ historyId: "fork", originWorld: "default", clock: { wallNow: WALL_NOW } },
    ...options,
  });
  expect(result).toEqual({ ok: true });
  return copy;
}

/** A copy as of an earlier event, and the world at that point. */
async function rewound(
  file: string,
  seq: number,
  change: (sqlite: BetterSqlite3.Database) => void = () => undefined,
) {
  const sqlite = inMemory(file);
  const journal = new SqliteJournal(sqlite, readWorldRow(sqlite) ?? { seq: 0, at: 0, chain: 0 });
  const world = await worldAt(journal, seq, async () => undefined);
  const changed = copyOf(file);
  inDatabase(changed, change);
  return { world, path: await diverged(changed, { rewindTo: { seq, at: world.at } }) };
}

/** The last events of all decisions that a file has. */
function pointsIn(file: string): number[] {
  return inMemory(file)
    .prepare<[], number>("SELECT max(seq) FROM events GROUP BY decision ORDER BY 1")
    .pluck()
    .all();
}

/** The journaled part of a world, with the rows of each table by key. */
function contentOf(world: World): unknown {
  const { seq, at, settings, numbers } = world;
  const tables = JOURNALED_TABLES.map((name) => [name, Object.fromEntries(world[name].entries())]);
  return JSON.parse(JSON.stringify({ seq, at, settings, numbers, tables }));
}

function read(file: string) {
  const { journal, world, clock, close } = openStore(copyOf(file), OPTIONS);
  const content = { world: contentOf(world), events: journal.events(0, 9_999), clock };
  close();
  return content;
}

describe("a copy of the current world", () => {
  test("has the same world and the same events", async () => {
    for (const file of [files.complete, files.truncated]) {
      const copy = await diverged(file);
      const { clock: _, ...content } = read(copy);
      const { clock, ...expected } = read(file);
      expect(content).toEqual(expected);
      expect(await verify(copy)).toMatchObject({ ok: true, to: files.head });
    }
  });

  test("has a history of its own, which states its origin", async () => {
    const copy = await diverged(files.truncated);
    const { historyId, ...history } = readHistoryRow(inMemory(files.truncated));
    expect(readHistoryRow(inMemory(copy))).toEqual({
      ...history,
      historyId: "fork",
      origin: { world: "default", historyId, seq: files.head, at: files.simulated.now },
    });
  });

  test("continues with the clock of its origin, or with another one", async () => {
    const { now } = files.simulated;
    const state = { mode: "manual", factor: 0, simAnchor: now, wallAnchor: WALL_NOW };
    expect(read(await diverged(files.complete)).clock).toEqual({ now, state });
    const scaled = { mode: "scaled", factor: 60 } as const;
    const other = await diverged(files.complete, { clock: { ...scaled, wallNow: WALL_NOW } });
    expect(read(other).clock).toEqual({ now, state: { ...state, ...scaled } });
  });

  test("refers to the data of its origin and writes to none of its volumes", async () => {
    const { now, world } = files.simulated;
    const rows = prepareReader(inMemory(await diverged(files.complete)), "branchData")();
    const expected = world.branchData.toArray().map((row) => copyBranchData(row, now, true));
    expect(rows).toEqual(expected.sort((one, other) => (one.id < other.id ? -1 : 1)));
    expect(JSON.stringify(rows)).toContain("volume-1");
  });

  test("has to have a world", async () => {
    await expect(diverged(files.empty)).rejects.toThrow("there is no world in this file");
  });
});

describe.each(["complete", "truncated"] as const)("a copy of an earlier point of a %s history", (which) => {
  test("has the world, the events, the operations and the checkpoints of that point", async () => {
    const file = files[which];
    const { events } = read(file);
    const seqs = pointsIn(file);
    expect(seqs.length).toBeGreaterThan(which === "complete" ? 10 : 5);
    for (const seq of seqs) {
      const { path, world } = await rewound(file, seq);
      const copied = read(path);
      expect(copied.events).toEqual(events.filter((event) => event.seq <= seq));
      expect(copied.world).toEqual(contentOf(world));
      expect(await verify(path)).toMatchObject({ ok: true, differences: [], to: seq });
      const operations = prepareReader<Operation>(inMemory(path), "operations")();
      expect(operations).toEqual(operationsAfter(files.simulated.events, seq));
      const checkpoints = inMemory(path).prepare("SELECT seq FROM checkpoints").pluck().all();
      expect(checkpoints).toEqual([files.first, files.second].filter((checkpoint) => checkpoint <= seq));
    }
  });

  test("has the clock of that point", async () => {
    const [seq = 0] = pointsIn(files[which]).slice(-3);
    const { path, world } = await rewound(files[which], seq);
    const state = { mode: "manual", factor: 0, simAnchor: world.at, wallAnchor: WALL_NOW };
    expect(read(path).clock).toEqual({ now: world.at, state });
    expect(readHistoryRow(inMemory(path)).origin).toMatchObject({ seq, at: world.at });
  });
});

test("a point that is no longer in the history of the copy is refused", async () => {
  const rewindTo = { seq: files.first - 1, at: 0 };
  const divergence = { historyId: "fork", originWorld: "default", clock: { wallNow: WALL_NOW }, rewindTo };
  expect(await divergeCopy(copyOf(files.truncated), OPTIONS, divergence)).toMatchObject({
    ok: false,
    refusal: { code: "HISTORY_FORGOTTEN" },
  });
});

test("the world at the point can be stated", async () => {
  const seq = files.first;
  const { path, world } = await rewound(files.complete, seq);
  const stated = await diverged(files.complete, { rewindTo: { seq, at: world.at, world } });
  expect(read(stated)).toEqual(read(path));
});

test("a copy has the requests and the uses of keys up to its point, and the data of its branches", async () => {
  const used = "SELECT last_used_at FROM api_key_uses";
  const at = inMemory(files.complete).prepare(used).pluck().get() as number;
  for (const seq of pointsIn(files.complete)) {
    const { path, world } = await rewound(files.complete, seq);
    const sqlite = inMemory(path);
    expect(sqlite.prepare(used).pluck().all()).toEqual(world.at < at ? [] : [at]);
    expect(sqlite.prepare("SELECT count(*) FROM requests").pluck().get()).toBe(
      world.at < files.simulated.now ? 0 : 1,
    );
    const owners = [...world.branches.values(), ...world.branchSnapshots.values()].map(({ id }) => id);
    const rows = prepareReader<{ id: string }>(sqlite, "branchData")();
    const expected = files.simulated.world.branchData
      .toArray()
      .filter(({ id }) => owners.includes(id))
      .map((row) => copyBranchData(row, world.at, false));
    expect(rows).toEqual(expected.sort((one, other) => (one.id < other.id ? -1 : 1)));
  }
});

/** All operations after an event, also finished ones, in the order of their creation. */
function operationsAfter(events: readonly RecordedEvent[], seq: number): Operation[] {
  const operations = new Map<string, Operation>();
  for (const event of events) if (event.seq <= seq) foldOperation(operations, event);
  return [...operations.values()].sort((one, other) => one.number - other.number);
}

test.each([
  ["without later operations", []],
  ["followed by other operations", [createShop]],
  ["followed by other operations later", [after(MINUTE), createShop]],
] as [string, Step[]][])("a reset, %s, deletes the operations of no earlier point", async (_, then) => {
  // Operations are unfinished at the checkpoint, and finish after it.
  const before: Step[] = [after(HOUR), { type: "RestartCompute", ...MAIN_COMPUTE }];
  const reset: Step[] = [{ type: "RestartCompute", ...MAIN_COMPUTE }, { type: "ResetWorld" }, ...then];
  const lives: Step[] = [
    [FULL_LIFE, before],
    [after(MINUTE), reset],
  ];
  for (const truncated of [false, true]) {
    const file = join(testDirectory(), "reset.sqlite");
    const simulated = await writeWorldFile(file, lives, { truncated });
    const resetAt = simulated.last("WorldReset")?.seq ?? 0;
    const { forgottenSeq } = readHistoryRow(inMemory(file));
    const knownFrom = simulated.events[forgottenSeq - 1]?.at ?? 0;
    for (const seq of pointsIn(file).filter((point) => point >= resetAt - 6 && point > forgottenSeq)) {
      const { path } = await rewound(file, seq);
      expect(await verify(path)).toMatchObject({ ok: true, differences: [], to: seq });
      const stored = prepareReader<Operation>(inMemory(path), "operations")();
      // The reset has deleted those that had finished before history begins.
      const expected = operationsAfter(simulated.events, seq);
      expect(stored).toEqual(expected.filter(({ updatedAt }) => updatedAt >= knownFrom));
      if (seq < resetAt) expect(stored).not.toEqual([]);
    }
  }
});

test("a point long ago is found in a large file", async () => {
  const seq = files.first;
  const { path, world } = await rewound(files.complete, seq, (sqlite) => {
    // Later events, operations and hours; what they say does not matter.
    sqlite.exec(`
      PRAGMA synchronous = OFF;
      BEGIN;
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 50000)
      INSERT INTO events (seq, at, type, payload, decision, chain)
        SELECT ${files.head} + number, 0, 'ActivityDropped', '{}', 0, 0 FROM numbers`);
    editWorldRow(sqlite, (row) => {
      row["seq"] += 50_000;
    });
    const [operation] = prepareReader<Operation>(sqlite, "operations")();
    const [usage] = prepareReader<{ of: string; hour: number }>(sqlite, "hourlyUsage")();
    const writer = new RowWriter(sqlite);
    for (let number = 100; number < 4_600; number += 1) {
      const [key, hourKey] = [`later ${number}`, `later/${number}`];
      writer.write({ table: "operations", key, value: { ...operation, id: key, number } });
      writer.write({ table: "hourlyUsage", key: hourKey, value: { ...usage, hour: number } });
    }
    sqlite.exec("COMMIT");
  });
  expect(await verify(path)).toMatchObject({ ok: true, differences: [], to: seq });
  expect(read(path).events).toEqual(files.simulated.events.slice(0, seq));
  expect(world.seq).toBe(seq);
});

test("a point has the hours of usage up to it, whether they are few or most of them", async () => {
  const hours = (count: number): Step[] => [
    { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query", durationMs: count * HOUR } },
    after((count + 1) * HOUR),
  ];
  const file = join(testDirectory(), "hours.sqlite");
  const simulated = await writeWorldFile(file, [FULL_LIFE, ...Array.from({ length: 6 }, () => hours(3))]);
  const total = inMemory(file).prepare<[], number>("SELECT count(*) FROM hourly_usage").pluck().get() ?? 0;
  const shares: number[] = [];
  const points = pointsIn(file).filter((point) => point > files.head);
  for (const seq of points.filter((_, index) => index % 4 === 0)) {
    const { path, world } = await rewound(file, seq);
    expect(await verify(path)).toMatchObject({ ok: true, differences: [] });
    if (seq < simulated.world.seq) shares.push(world.hourlyUsage.size / total);
  }
  expect(Math.min(...shares)).toBeLessThan(0.5);
  expect(shares.filter((share) => share > 0.5 && share < 1)).not.toEqual([]);
});

test("a point whose event is missing is damage", async () => {
  const { first, complete } = files;
  await expect(
    rewound(complete, first - 1, (sqlite) =>
      sqlite.prepare("DELETE FROM events WHERE seq = ?").run(first - 1),
    ),
  ).rejects.toThrow(`event ${first - 1} is missing`);
});
