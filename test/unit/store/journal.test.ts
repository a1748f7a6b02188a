import { readFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import type { Batch } from "../../../src/simulation/journal.ts";
import type { StoredRequest } from "../../../src/simulation/request-log.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { readWorldRow } from "../../../src/store/file/read-world.ts";
import { rechain } from "../../../src/store/journal/rechain.ts";
import { RequestRows } from "../../../src/store/journal/request-rows.ts";
import { SqliteJournal } from "../../../src/store/journal/sqlite-journal.ts";
import { EVENTS_PER_BLOCK } from "../../../src/store/journal/stored-events.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { MAIN_COMPUTE, restartMain, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { DAY, HOUR, SECOND, START } from "../../support/rules/rules.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

const templates = temporaryDirectory();
let template: Buffer;
beforeAll(() => {
  const path = join(templates.path, "empty.sqlite");
  openStore(path, { migrationsFolder: "migrations" }).close();
  template = readFileSync(path);
  // A log cannot be in memory. These bytes of the header state the kind of log.
  template.fill(1, 18, 20);
});
afterAll(templates.remove);

const AT_BEGINNING = { seq: 0, at: 0, chain: 0 };

function emptyFile() {
  const sqlite = new BetterSqlite3(template);
  onTestFinished(() => void sqlite.close());
  return sqlite;
}

/** A world in a database in memory. Its journal is open. */
function createWorld() {
  const sqlite = emptyFile();
  const written: unknown[] = [];
  const journal = new SqliteJournal(sqlite, AT_BEGINNING, { onWritten: (head) => written.push(head) });
  const simulation = new Simulation(emptyWorld(), journal);
  const world = new SimulatedWorld().use(simulation);
  /** The journal after another start. */
  const reopened = () => new SqliteJournal(sqlite, readWorldRow(sqlite) ?? AT_BEGINNING);
  const batch = { ...emptyWorld(), changes: [], clock: { mode: "manual", factor: 0 } as never };
  const writeNothing = () => journal.write({ ...batch, events: [], now: world.now });
  return { sqlite, journal, simulation, world, written, reopened, writeNothing, batch };
}

function createWorldWithProject() {
  const made = createWorld();
  made.world.run(worldWithProject());
  return made;
}

const seqs = (events: readonly { readonly seq: number }[]) => events.map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe("a write in steps", () => {
  /** A batch of many events and rows, and a journal that has not written it. */
  function createLargeBatch() {
    const { journal, simulation, world, sqlite, written } = createWorldWithProject();
    const { computeId } = MAIN_COMPUTE;
    const batches: Batch[] = [];
    journal.write = (batch) => void batches.push(batch);
    const rounds = 3 * EVENTS_PER_BLOCK;
    for (let round = 0; round < rounds; round += 1)
      simulation.execute(
        {
          type: "RecordActivity",
          activity: { endpointId: computeId, kind: "connect", connectionId: `c${round}`, pooled: true },
        },
        world.now,
      );
    simulation.commit({ mode: "manual", factor: 0 } as never, world.now);
    Reflect.deleteProperty(journal, "write");
    const [batch] = batches;
    if (batch === undefined) throw new Error("nothing was written");
    written.length = 0;
    return { journal, sqlite, batch, written, last: batch.events.at(-1)?.seq ?? 0 };
  }

  test("takes several, and ends as one at once does", () => {
    const { journal, sqlite, batch, written, last } = createLargeBatch();
    const write = journal.beginWrite(batch);
    let steps = 1;
    for (; !write.step(); steps += 1) expect([sqlite.inTransaction, written]).toEqual([true, []]);
    expect(steps).toBeGreaterThan(3);
    expect(written).toEqual([expect.objectContaining({ seq: last })]);
    const twin = createLargeBatch();
    twin.journal.write(twin.batch);
    for (const table of ["event_blocks", "events", "connections", "world"]) {
      const rows = (database: BetterSqlite3.Database) => database.prepare(`SELECT * FROM ${table}`).all();
      expect(rows(sqlite)).toEqual(rows(twin.sqlite));
    }
  });

  test.each([
    [1, 99, 1],
    [1, 100, 3],
    [1, 101, 3],
    [128, 0, 1],
    [129, 0, 2],
    // Two blocks, and what remains.
    [1_024, 0, 3],
    [1_025, 200, 6],
  ])("of %i events and %i rows takes %i", (events, rows, expected) => {
    const { journal, batch } = createLargeBatch();
    const onLost = vi.fn();
    const { requests, ...rest } = batch;
    const write = journal.beginWrite({
      ...rest,
      events: batch.events.slice(0, events),
      changes: batch.changes.slice(0, rows),
      onLost,
    });
    let steps = 1;
    for (; !write.step(); steps += 1);
    expect([steps, onLost.mock.calls]).toEqual([expected, []]);
  });

  test("that fails throws the same error again, and nothing of it is stored", () => {
    const { journal, sqlite, batch, written } = createLargeBatch();
    const changes = [...batch.changes, { table: "nothing", key: "k", value: {}, constrained: "" }];
    const write = journal.beginWrite({ ...batch, changes });
    const run = () => {
      while (!write.step());
    };
    expect(run).toThrow("there is no table for changes of nothing");
    expect([write.hasEnded, sqlite.inTransaction, written]).toEqual([true, false, []]);
    expect(run).toThrow("there is no table for changes of nothing");
    journal.write(batch);
    expect(written).toHaveLength(1);
  });

  test("is not completed by a checkpoint, which waits for it", async () => {
    const { journal, batch, last } = createLargeBatch();
    const before = last - batch.events.length;
    const checkpoint = { ...takeCheckpoint(emptyWorld()), seq: before, at: 1 };
    const stored = journal.storeCheckpoint(checkpoint);
    const write = journal.beginWrite(batch);
    write.step();
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    expect([write.hasEnded, journal.newestCheckpoint.seq]).toEqual([false, 0]);
    while (!write.step());
    await stored;
    expect(journal.newestCheckpoint.seq).toBe(before);
  });

  test("does not keep a checkpoint waiting after the connection was closed", async () => {
    const { journal, sqlite, batch, last } = createLargeBatch();
    const checkpoint = { ...takeCheckpoint(emptyWorld()), seq: last - batch.events.length, at: 1 };
    const stored = journal.storeCheckpoint(checkpoint);
    journal.beginWrite(batch).step();
    sqlite.close();
    await expect(stored).rejects.toThrow("not open");
  });

  test.each<[string, (journal: SqliteJournal, last: number) => unknown]>([
    ["events", (journal, last) => journal.events(last - 1, 9).length],
    ["events about an object", (journal) => journal.eventsAbout(MAIN_COMPUTE.computeId, 1e9, 1).length],
    ["the chain", (journal, last) => (journal.chainAt(last) === undefined ? 0 : 1)],
    ["an operation", (journal) => (journal.operation("none") === undefined ? 1 : 0)],
    ["operations", (journal) => journal.operations("none", 1).length + 1],
    ["requests", (journal) => journal.requests(0, 1).length + 1],
    ["a deletion of requests", (journal) => journal.clearRequests() ?? 1],
    ["its completion", (journal) => journal.completeWrite() ?? 1],
  ])("is completed by who asks for %s", (_, ask) => {
    const { journal, batch, written, last } = createLargeBatch();
    const write = journal.beginWrite(batch);
    write.step();
    expect(ask(journal, last)).toBe(1);
    expect([write.hasEnded, written.length, write.step()]).toEqual([true, 1, true]);
  });
});

describe("events", () => {
  test("are read after a position, up to a limit", () => {
    const { journal, world, reopened } = createWorldWithProject();
    const { events } = world;
    const all = upTo(events.length);
    for (const reader of [journal, reopened()]) {
      expect(reader.events(0, Number.POSITIVE_INFINITY)).toEqual(events);
      expect(seqs(reader.events(2, 3))).toEqual([3, 4, 5]);
      expect(seqs(reader.events(events.length - 1, 9))).toEqual(all.slice(-1));
      expect(reader.events(events.length, 9)).toEqual([]);
      expect(reader.events(events.length + 1, 9)).toEqual([]);
    }
  });

  test("are refused from the first changed one on", () => {
    const { sqlite, journal, world } = createWorldWithProject();
    sqlite.prepare("UPDATE events SET at = at + 1 WHERE seq = 5").run();
    expect(seqs(journal.events(0, 4))).toEqual([1, 2, 3, 4]);
    expect(() => journal.events(0, 5)).toThrow(CorruptFile);
    expect(() => journal.verifiedEvents(0, 99)).toThrow(CorruptFile);
    expect(() => journal.verifiedEvents(4, 99)).toThrow(CorruptFile);
    expect(() => journal.verifiedEvents(5, 99)).not.toThrow();
    sqlite.prepare("UPDATE events SET at = at - 1 WHERE seq = 5").run();
    expect(journal.events(0, 99)).toEqual(world.events);
  });

  test("are refused from a missing one on", () => {
    const { sqlite, journal } = createWorldWithProject();
    sqlite.prepare("DELETE FROM events WHERE seq = 5").run();
    expect(() => journal.events(0, 9)).toThrow(CorruptFile);
    expect(journal.events(5, 9)).toEqual([]);
  });

  test("about an object come newest first, of all types, of one, or without activity", () => {
    const { journal, world } = createWorldWithProject();
    const { computeId } = MAIN_COMPUTE;
    world.execute({
      type: "RecordActivity",
      activity: { endpointId: computeId, kind: "query", durationMs: 5, pooled: false },
    });
    const about = world.events.filter((event) => JSON.stringify(event).includes(`"${computeId}"`)).reverse();
    expect(journal.eventsAbout(computeId, 999, 99)).toEqual(about);
    expect(journal.eventsAbout(computeId, 999, 2)).toEqual(about.slice(0, 2));
    const [newest] = about;
    expect(newest?.type).toBe("ActivityRecorded");
    expect(journal.eventsAbout(computeId, newest?.seq ?? 0, 99)).toEqual(about.slice(1));
    expect(journal.eventsAbout(computeId, 999, 99, "lifecycle")).toEqual(about.slice(1));
    expect(journal.eventsAbout(computeId, 999, 99, "ComputeActivated").map(({ type }) => type)).toEqual([
      "ComputeActivated",
    ]);
    expect(journal.eventsAbout("no id", 999, 99)).toEqual([]);
  });

  test("about an object are checked one by one", () => {
    const { sqlite, journal } = createWorldWithProject();
    const activated = journal.eventsAbout(MAIN_COMPUTE.computeId, 999, 99, "ComputeActivated")[0]?.seq;
    sqlite.prepare("UPDATE events SET at = at + 1 WHERE seq = ?").run(activated);
    expect(() => journal.eventsAbout(MAIN_COMPUTE.computeId, 999, 99)).toThrow(CorruptFile);
    expect(journal.eventsAbout(MAIN_COMPUTE.computeId, activated ?? 0, 99)).not.toEqual([]);
  });
});

test("after each commit the head is that of its last event, with the instant of the commit", () => {
  const { world, written, journal, writeNothing } = createWorldWithProject();
  const last = world.events.at(-1);
  const head = { seq: last?.seq, at: last?.at, chain: journal.chainAt(last?.seq ?? 0), now: world.now };
  expect(written.at(-1)).toEqual(head);
  world.now += HOUR;
  writeNothing();
  expect(written.at(-1)).toEqual({ ...head, now: world.now });
});

test("the size of a file is that of its pages", () => {
  const { sqlite, journal } = createWorldWithProject();
  expect(journal.sizeBytes()).toBe(sqlite.serialize().length);
});

test("operations are found by project and by id, newest first", () => {
  const { journal, world } = createWorldWithProject();
  world.execute(restartMain);
  const all = journal.operations("shop", 99);
  const numbers = all.map(({ number }) => number);
  expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
  expect(numbers.length).toBeGreaterThan(3);
  expect(journal.operations("shop", 2)).toEqual(all.slice(0, 2));
  expect(journal.operations("shop", 99, numbers[1])).toEqual(all.slice(2));
  expect(journal.operations("other", 99)).toEqual([]);
  expect(journal.operation(all[1]?.id ?? "")).toEqual(all[1]);
  expect(journal.operation("none")).toBeUndefined();
});

describe("checkpoints", () => {
  test("are found by event and by instant", async () => {
    const { journal, simulation, world } = createWorldWithProject();
    expect([journal.oldest, journal.newestCheckpoint]).toEqual([AT_BEGINNING, AT_BEGINNING]);
    const first = takeCheckpoint(simulation.world);
    await journal.storeCheckpoint(first);
    world.execute(restartMain);
    world.wait(10 * SECOND);
    const second = takeCheckpoint(simulation.world);
    await journal.storeCheckpoint(second);
    const positions = [first, second].map(({ seq, at }) => ({ seq, at }));
    expect(journal.newestCheckpoint).toEqual(positions[1]);
    for (const [point, expected] of [
      [{ seq: first.seq - 1 }, undefined],
      [{ seq: first.seq }, 0],
      [{ seq: second.seq - 1 }, 0],
      [{ seq: second.seq }, 1],
      [{ at: first.at - 1 }, undefined],
      [{ at: first.at }, 0],
      [{ at: second.at }, 1],
    ] as const) {
      expect(journal.checkpointPositionBefore(point)).toEqual(
        expected === undefined ? AT_BEGINNING : positions[expected],
      );
      expect(journal.checkpointBefore(point).seq).toBe(expected === undefined ? 0 : positions[expected]?.seq);
    }
    expect(JSON.stringify(journal.checkpointBefore({ seq: 999 }))).toBe(
      JSON.stringify({ ...second, tables: JSON.parse(JSON.stringify(second.tables, iterables)) }),
    );
  });

  test("are stored of existing events only", async () => {
    const { journal, simulation } = createWorldWithProject();
    const checkpoint = { ...takeCheckpoint(simulation.world), seq: 999 };
    await expect(journal.storeCheckpoint(checkpoint)).rejects.toThrow(
      "cannot store a checkpoint: there is no event 999",
    );
    expect(() => journal.truncate({ eventsUpTo: 3, operationsBefore: 0 })).toThrow(
      "cannot truncate history: there is no checkpoint at event 3",
    );
  });
});

const iterables = (_: string, value: unknown) =>
  typeof value === "object" && value !== null && Symbol.iterator in value
    ? [...(value as Set<unknown>)]
    : value;

describe("truncated history", () => {
  async function truncatedWorld() {
    const made = createWorldWithProject();
    const { journal, simulation, world } = made;
    const checkpoint = takeCheckpoint(simulation.world);
    await journal.storeCheckpoint(checkpoint);
    world.wait(HOUR);
    journal.truncate({ eventsUpTo: checkpoint.seq, operationsBefore: START + DAY });
    return { ...made, checkpoint };
  }

  test("cannot be read, also after another start", async () => {
    const { journal, world, reopened, checkpoint } = await truncatedWorld();
    const rest = world.events.filter(({ seq }) => seq > checkpoint.seq);
    expect(rest).not.toEqual([]);
    for (const reader of [journal, reopened()]) {
      expect(reader.oldest).toMatchObject({ seq: checkpoint.seq, at: checkpoint.at });
      expect(reader.events(0, 99)).toEqual(rest);
      expect(reader.eventsAbout("shop", 999, 99).every(({ seq }) => seq > checkpoint.seq)).toBe(true);
      expect(reader.checkpointBefore({ seq: 1 }).seq).toBe(checkpoint.seq);
      expect(reader.checkpointPositionBefore({ at: START }).seq).toBe(checkpoint.seq);
      expect(reader.operationsPrunedBefore).toBe(START + DAY);
    }
  });

  test("is deleted by prune, and finished operations with it", async () => {
    const { sqlite, journal, world, checkpoint } = await truncatedWorld();
    const count = (table: string) => sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
    expect(count("events")).toBe(world.events.length);
    expect(journal.prune()).toBe(true);
    expect(count("events")).toBe(world.events.length - checkpoint.seq);
    expect(count("operations")).toBe(0);
    expect(journal.prune()).toBe(true);
    expect(journal.events(0, 99)).toHaveLength(world.events.length - checkpoint.seq);
  });

  test("is deleted by later writes, also after another start", async () => {
    const { sqlite, reopened, batch, world, checkpoint } = await truncatedWorld();
    reopened().write({ ...batch, events: [], now: world.now });
    const first = sqlite.prepare("SELECT min(seq) FROM events").pluck().get();
    expect(first).toBe(checkpoint.seq + 1);
  });

  test("a limit that was later stays later", async () => {
    const { journal, checkpoint } = await truncatedWorld();
    journal.truncate({ eventsUpTo: checkpoint.seq, operationsBefore: START });
    expect(journal.operationsPrunedBefore).toBe(START + DAY);
  });

  test("is an error if its checkpoint is missing", async () => {
    const { sqlite, reopened, checkpoint } = await truncatedWorld();
    sqlite.prepare("DELETE FROM checkpoints").run();
    expect(reopened).toThrow(`checkpoint ${checkpoint.seq}, where history begins, is missing`);
  });
});

describe("the request log", () => {
  const request = (number: number): StoredRequest => ({
    number,
    at: START + number,
    text: JSON.stringify({ number, at: START + number }),
  });
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => request(from + index));

  function createLog(...portions: readonly (readonly [from: number, to: number])[]) {
    const sqlite = emptyFile();
    const log = new RequestRows(sqlite);
    for (const [from, to] of portions) log.add({ add: numbered(from, to), limit: 10_000 });
    const numbers = (since = 0, limit = 10_000) => log.since(since, limit).map(({ number }) => number);
    const blocks = () => sqlite.prepare("SELECT number, last FROM requests ORDER BY number").raw().all();
    return { sqlite, log, numbers, blocks };
  }

  test("is read in portions over blocks of 500", () => {
    const { log, numbers, blocks } = createLog([1, 1_100], [1_101, 1_103]);
    expect(blocks()).toEqual([
      [1, 500],
      [501, 1_000],
      [1_001, 1_100],
      [1_101, 1_103],
    ]);
    expect(log.newest).toBe(1_103);
    expect(numbers()).toEqual(upTo(1_103));
    expect(numbers(499, 3)).toEqual([500, 501, 502]);
    expect(numbers(500, 2)).toEqual([501, 502]);
    expect(numbers(1_102)).toEqual([1_103]);
    expect([numbers(1_103), numbers(0, 0)]).toEqual([[], []]);
    expect(new RequestRows(emptyFile()).newest).toBe(0);
  });

  test("keeps the newest requests, and deletes blocks of others when 500 are beyond the limit", () => {
    const { log, numbers } = createLog([1, 500], [501, 1_099]);
    const logNext = (limit: number) => {
      const next = log.newest + 1;
      log.add({ add: numbered(next, next), limit });
    };
    logNext(601);
    expect(numbers()).toEqual(upTo(1_100));
    logNext(601);
    expect(numbers()).toEqual(upTo(1_101).slice(500));
    log.add({ add: [], limit: 1 });
    logNext(2_000);
    expect(numbers()).toHaveLength(602);
  });

  test("with a small limit, contains at most twice as many requests", () => {
    const { log, numbers } = createLog();
    for (let next = 1; next <= 20; next += 1) {
      log.add({ add: numbered(next, next), limit: 3 });
      expect(numbers().length).toBeLessThan(6);
      expect(numbers().slice(-3)).toEqual(upTo(next).slice(-3));
    }
  });

  test("loses what was logged after an instant", () => {
    const { log, numbers, blocks } = createLog([1, 10], [11, 20], [21, 30]);
    log.deleteAfter(START + 15);
    expect(numbers()).toEqual(upTo(15));
    expect(blocks()).toEqual([
      [1, 10],
      [11, 15],
    ]);
    log.deleteAfter(START + 10);
    expect(blocks()).toEqual([[1, 10]]);
    log.deleteAfter(START);
    expect([numbers(), log.newest]).toEqual([[], 0]);
  });

  test("can be cleared, and names the damaged block", () => {
    const { sqlite, log, numbers } = createLog([1, 10], [11, 20]);
    sqlite.prepare("UPDATE requests SET payload = '[' WHERE number = 11").run();
    expect(numbers(0, 10)).toEqual(upTo(10));
    expect(() => numbers()).toThrow(new CorruptFile("the request log is damaged from request 11 on"));
    log.clear();
    expect(numbers()).toEqual([]);
  });

  test("is written beside history: its failure is reported and loses nothing else", () => {
    const { sqlite, journal, world, batch } = createWorldWithProject();
    const lost: unknown[] = [];
    const uses = { table: "apiKeyUses", key: "7", value: { keyId: 7, lastUsedAt: 1, lastUsedFromAddr: "" } };
    const write = (number: number) =>
      journal.write({
        ...{ ...batch, events: [], now: world.now, onLost: (error) => lost.push(error) },
        changes: [uses],
        requests: { add: [request(number)], limit: 9 },
      });
    sqlite.exec("CREATE TRIGGER refuse BEFORE INSERT ON requests BEGIN SELECT raise(ABORT, 'refused'); END");
    world.now += HOUR;
    write(1);
    expect(lost).toEqual([expect.objectContaining({ message: "refused" })]);
    expect([journal.requests(0, 9), journal.newestRequest]).toEqual([[], 0]);
    expect(readWorldRow(sqlite)?.now).toBe(world.now);
    const countUses = () => sqlite.prepare("SELECT count(*) FROM api_key_uses").pluck().get();
    expect(countUses(), "what was written before the failure is undone").toBe(0);
    sqlite.exec("DROP TRIGGER refuse");
    write(2);
    expect([journal.requests(0, 9).length, journal.newestRequest, countUses()]).toEqual([1, 2, 1]);
    expect(lost).toHaveLength(1);
    journal.clearRequests();
    expect(journal.requests(0, 9)).toEqual([]);
  });

  test("fails the commit if the failure concerns the whole file", () => {
    const { sqlite, journal, world, batch } = createWorldWithProject();
    const before = readWorldRow(sqlite);
    sqlite.pragma(`max_page_count = ${sqlite.pragma("page_count", { simple: true })}`);
    const text = JSON.stringify({ text: "x".repeat(100_000) });
    const add = [{ number: 1, at: START, text }];
    world.now += HOUR;
    const write = () => journal.write({ ...batch, events: [], now: world.now, requests: { add, limit: 9 } });
    expect(write).toThrow(expect.objectContaining({ code: "SQLITE_FULL" }));
    expect(readWorldRow(sqlite)).toEqual(before);
    sqlite.pragma("max_page_count = 1073741823");
    write();
    expect(readWorldRow(sqlite)?.now).toBe(world.now);
  });
});

describe("a file whose events were changed on purpose", () => {
  test("has a valid chain again, also in its checkpoints and its world row", async () => {
    const { sqlite, journal, simulation, world, reopened } = createWorldWithProject();
    await journal.storeCheckpoint(takeCheckpoint(simulation.world));
    world.wait(HOUR);
    const chains = () => sqlite.prepare("SELECT chain FROM events ORDER BY seq").pluck().all();
    const before = chains();
    rechain(sqlite, (event) => event);
    expect(chains(), "nothing was changed").toEqual(before);
    rechain(sqlite, (event) =>
      event.type === "AccountCreated"
        ? { ...event, payload: event.payload.replace("Owner", "Other"), decision: 1 }
        : event,
    );
    expect(chains().map((chain, index) => chain === before[index])).toEqual(
      before.map((_, index) => world.events[index]?.type === "WorldCreated"),
    );
    expect(readWorldRow(sqlite)?.chain).toBe(chains().at(-1));
    const events = reopened().events(0, 99);
    expect(events[1]).toMatchObject({ type: "AccountCreated", account: { name: "Other" }, decision: 1 });
    expect(seqs(events)).toEqual(upTo(world.events.length));
    const { seq } = journal.newestCheckpoint;
    expect(sqlite.prepare("SELECT chain FROM checkpoints").pluck().get()).toBe(chains()[seq - 1]);
  });

  test("continues the chain of a truncated history", async () => {
    const { sqlite, journal, simulation, world, reopened } = createWorldWithProject();
    const checkpoint = takeCheckpoint(simulation.world);
    await journal.storeCheckpoint(checkpoint);
    world.wait(HOUR);
    journal.truncate({ eventsUpTo: checkpoint.seq, operationsBefore: 0 });
    journal.prune();
    rechain(sqlite, (event) => event);
    expect(seqs(reopened().events(0, 99))).toEqual(upTo(world.events.length).slice(checkpoint.seq));
  });

  test("may have no world yet", () => {
    const sqlite = emptyFile();
    rechain(sqlite, (event) => event);
    expect(readWorldRow(sqlite)).toBeUndefined();
  });
});
