import BetterSqlite3 from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { encodeEvents } from "../../../../src/store/journal/event-block.ts";
import { SmallBlocks } from "../../../../src/store/journal/small-blocks.ts";
import {
  EVENTS_PER_BLOCK,
  MIN_EVENTS_PER_BLOCK,
  StoredEvents,
} from "../../../../src/store/journal/stored-events.ts";
import {
  CorruptFile,
  chainChecksum,
  type StoredEvent,
} from "../../../../src/store/tables/journal-checksum.ts";
import { expectHolds } from "../../../support/properties/properties.ts";

const TYPES = ["ActivityRecorded", "ComputeActivated", "ComputeSuspended", "WorldReset"];
const BEGINNING = { seq: 0, chain: 0 };

/** Event `seq` of a made history: every third one belongs to the decision of the one before it. */
function eventAt(seq: number): StoredEvent {
  return {
    seq,
    decision: seq % 3 === 0 ? seq - 1 : seq,
    at: 1_767_225_600_000 + Math.floor(seq / 2) * 1_234,
    type: seq === 700 ? "WorldReset" : (TYPES[seq % 3] as string),
    payload: JSON.stringify([`id-${seq % 5}`, seq, "line\nbreak"]),
  };
}

const between = (after: number, upTo: number) =>
  Array.from({ length: upTo - after }, (_, index) => eventAt(after + 1 + index));

function openFile() {
  const sqlite = new BetterSqlite3(":memory:");
  onTestFinished(() => void sqlite.close());
  migrate(drizzle(sqlite, { casing: "snake_case" }), { migrationsFolder: "migrations" });
  const count = (table: string) => sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  const events = new StoredEvents(sqlite);
  let head = BEGINNING;
  /** Adds so many events in one commit. */
  const commit = (added: number, oldest = BEGINNING) => {
    const seq = head.seq + added;
    head = { seq, chain: events.append(between(head.seq, seq), head.chain, oldest) };
  };
  /** Adds so many events in commits that are too small for a block. */
  const commitRows = (added: number) => {
    for (let left = added; left > 0; left -= MIN_EVENTS_PER_BLOCK - 1)
      commit(Math.min(left, MIN_EVENTS_PER_BLOCK - 1));
  };
  const all = () => events.since({ ...BEGINNING }, Number.POSITIVE_INFINITY).map(plain);
  return { sqlite, events, commit, commitRows, all, counts: () => [count("event_blocks"), count("events")] };
}

const headAfter = (seq: number) => chainChecksum(between(0, seq), 0);
const plain = ({ seq, decision, at, type, payload }: StoredEvent) => ({ seq, decision, at, type, payload });

describe("events of a file", () => {
  test("stay rows until there are enough for a block", () => {
    const { commit, commitRows, counts, all } = openFile();
    commitRows(EVENTS_PER_BLOCK - 1);
    expect(counts()).toEqual([0, EVENTS_PER_BLOCK - 1]);
    commit(1);
    expect(counts()).toEqual([1, 0]);
    commit(3);
    expect(counts()).toEqual([1, 3]);
    commit(2 * EVENTS_PER_BLOCK - 4);
    expect(counts()).toEqual([2, 0]);
    expect(all()).toEqual(between(0, 3 * EVENTS_PER_BLOCK - 1));
  });

  test("of one commit become a small block, and small blocks with the rows between them a large one", () => {
    const { sqlite, commit, counts, all } = openFile();
    commit(MIN_EVENTS_PER_BLOCK - 1);
    expect(counts()).toEqual([0, 15]);
    commit(MIN_EVENTS_PER_BLOCK);
    expect(counts(), "with the rows before it").toEqual([1, 0]);
    commit(3);
    commit(200);
    commit(200);
    commit(7);
    const blocks = () =>
      sqlite.prepare("SELECT first_seq, last_seq FROM event_blocks ORDER BY last_seq").raw().all();
    expect(blocks()).toEqual([
      [1, 31],
      [32, 234],
      [235, 434],
    ]);
    commit(EVENTS_PER_BLOCK - 442);
    expect([counts(), all()]).toEqual([[4, 0], between(0, EVENTS_PER_BLOCK - 1)]);
    commit(1);
    expect([counts(), blocks(), all()]).toEqual([[1, 0], [[1, 512]], between(0, EVENTS_PER_BLOCK)]);
    commit(20);
    commit(500);
    expect(blocks()).toEqual([
      [1, 512],
      [513, 1_032],
    ]);
    expect(all()).toEqual(between(0, 1_032));
  });

  test("of small blocks are encoded in a large one as if no small ones had been written", () => {
    const largest = ({ sqlite }: ReturnType<typeof openFile>) =>
      sqlite.prepare("SELECT * FROM event_blocks ORDER BY first_seq, last_seq DESC").get();
    const atOnce = openFile();
    atOnce.commit(537);
    const inParts = openFile();
    for (const added of [3, 17, 16, 1, 200, 300]) inParts.commit(added);
    expect(inParts.counts()).toEqual([1, 0]);
    expect(largest(inParts)).toEqual(largest(atOnce));
  });

  test("in a small block that was undone are not in a large one", () => {
    const { sqlite, events, commit, all, counts } = openFile();
    commit(100);
    sqlite.exec("BEGIN");
    events.append(
      [{ ...eventAt(101), payload: '"undone"' }, ...between(101, 150)],
      headAfter(100),
      BEGINNING,
    );
    sqlite.exec("ROLLBACK");
    commit(20);
    sqlite.exec("BEGIN");
    events.append(
      [...between(120, 199), { ...eventAt(200), payload: '"undone"' }],
      headAfter(120),
      BEGINNING,
    );
    sqlite.exec("ROLLBACK");
    commit(5);
    commit(400);
    expect([counts(), all()]).toEqual([[1, 0], between(0, 525)]);
  });

  test("in small blocks that were deleted are not kept in memory", () => {
    const blocks = new SmallBlocks();
    const block = (firstSeq: number, lastSeq: number) => ({
      ...{ firstSeq, lastSeq, types: "[]", chainBefore: 0, chain: 0, events: Buffer.alloc(0) },
    });
    const encoded = encodeEvents(between(0, 1));
    for (const first of [1, 21, 41]) blocks.add(block(first, first + 19), encoded);
    const inMemory = (after: number) =>
      blocks.storedBetween(after, 60, (seq) => block(seq + 1, seq + 20)).map(({ stored }) => stored.firstSeq);
    expect(inMemory(0)).toEqual([1, 21, 41]);
    // The block of the first event that is left stays whole.
    blocks.deleteBefore(30);
    expect([inMemory(0), inMemory(20)]).toEqual([[], [21, 41]]);
  });

  test("in small blocks are deleted and truncated like others", () => {
    const { events, commit, counts, all } = openFile();
    for (let count = 0; count < 5; count += 1) commit(100);
    events.deleteAfter(250);
    expect([counts(), all()]).toEqual([[2, 50], between(0, 250)]);
    const oldest = { seq: 150, chain: chainChecksum(between(0, 150), 0) };
    events.deleteBefore(151);
    let chain = chainChecksum(between(0, 250), 0);
    for (let seq = 250; seq < 750; seq += 50) chain = events.append(between(seq, seq + 50), chain, oldest);
    expect(counts()).toEqual([2, 0]);
    expect(events.since(oldest, 9_999).map(plain)).toEqual(between(150, 750));
  });

  test("are read from a large block that ends where a small one did", () => {
    const { sqlite } = openFile();
    const events = new StoredEvents(sqlite, 32);
    let head = BEGINNING;
    const commit = (added: number, oldest: typeof BEGINNING) => {
      for (let left = added; left > 0; ) {
        const portion = events.portionOf(left);
        const seq = head.seq + portion;
        head = { seq, chain: events.append(between(head.seq, seq), head.chain, oldest) };
        left -= portion;
      }
    };
    commit(16, BEGINNING);
    const oldest = { seq: 15, chain: chainChecksum(between(0, 15), 0) };
    for (const added of [0, 16, 14, 30]) {
      commit(added, oldest);
      events.deleteBefore(oldest.seq + 1);
    }
    expect(events.since({ seq: 20, chain: undefined }, 1).map(({ seq }) => seq)).toEqual([21]);
  });

  test("longer than a part of the compression format are returned from a small block", () => {
    const { sqlite } = openFile();
    for (const length of [65_000, 65_535, 65_536, 200_000]) {
      sqlite.exec("DELETE FROM event_blocks");
      const long = between(0, 20).map((event) => ({ ...event, payload: `["${"ü".repeat(length / 40)}"]` }));
      const events = new StoredEvents(sqlite);
      events.append(long, 0, BEGINNING);
      expect(events.since(BEGINNING, 99).map(plain)).toEqual(long);
    }
  });

  test("in a damaged small block are not put into a large one", () => {
    const { sqlite, events, commit, counts } = openFile();
    commit(100);
    commit(100);
    sqlite.exec("UPDATE event_blocks SET chain_before = 1 WHERE first_seq = 101");
    commit(400);
    expect(counts()).toEqual([2, 400]);
    expect(() => events.since(BEGINNING, 9_999)).toThrow(CorruptFile);
  });

  test("are the same whatever the sizes of the commits, read from anywhere", async () => {
    const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 100, max: 1_500 })), {
      minLength: 1,
      maxLength: 12,
    });
    const position = fc.nat({ max: 6_000 });
    const reads = fc.array(fc.tuple(position, fc.integer({ min: 1, max: 1_200 })), { maxLength: 5 });
    await expectHolds(
      fc.property(sizes, reads, (sizes, reads) => {
        const { events, commit, all } = openFile();
        for (const size of sizes) commit(size);
        const head = sizes.reduce((sum, size) => sum + size, 0);
        const expected = between(0, head);
        expect(all()).toEqual(expected);
        expect(events.last?.chain ?? 0).toBe(chainChecksum(expected, 0));
        for (const [at, limit] of reads) {
          const from = Math.min(at, head);
          const chain = chainChecksum(expected.slice(0, from), 0);
          if (from > 0) expect(events.chainAt(from)).toBe(chain);
          for (const known of [chain, from === 0 ? 0 : undefined])
            expect(events.since({ seq: from, chain: known }, limit).map(plain)).toEqual(
              expected.slice(from, from + limit),
            );
          const verified = events.verified({ seq: from, chain }, limit).map(plain);
          expect(verified).toEqual(expected.slice(from, from + verified.length));
          expect(verified.length).toBeGreaterThanOrEqual(Math.min(limit, head - from, 1));
          expect(verified.length).toBeLessThanOrEqual(limit);
        }
      }),
      130,
    );
  });

  test("about an object come newest first, from rows and blocks", () => {
    const { events, commit } = openFile();
    commit(1_300);
    commit(20);
    const mentions = (id: string, keep: (event: StoredEvent) => boolean) =>
      between(0, 1_320)
        .filter((event) => event.payload.includes(`"${id}"`) && keep(event))
        .reverse();
    const about = (...parameters: Parameters<StoredEvents["about"]>) =>
      events.about(...parameters).map(plain);
    const any = () => true;
    expect(about("id-3", BEGINNING, 9_999, 9_999)).toEqual(mentions("id-3", any));
    expect(about("id-3", BEGINNING, 9_999, 7)).toEqual(mentions("id-3", any).slice(0, 7));
    const oldest = { seq: 600, chain: events.chainAt(600) ?? 0 };
    const inRange = mentions("id-3", ({ seq }) => seq > 600 && seq < 1_100);
    expect(about("id-3", oldest, 1_100, 9_999)).toEqual(inRange);
    // The first and the last event of a range mention this one.
    expect(about("id-0", oldest, 1_101, 9_999)).toEqual(
      mentions("id-0", ({ seq }) => seq > 600 && seq <= 1_100),
    );
    expect(about("id-0", oldest, 1_101, 2)).toEqual(
      between(1_094, 1_100)
        .filter(({ seq }) => seq % 5 === 0)
        .reverse(),
    );
    expect(about("id-0", oldest, 601, 9_999)).toEqual([]);
    const isLife = mentions("id-3", ({ type }) => type !== "ActivityRecorded");
    expect(about("id-3", BEGINNING, 9_999, 9_999, "lifecycle")).toEqual(isLife);
    const resets = mentions("id-0", ({ type }) => type === "WorldReset");
    expect(about("id-0", BEGINNING, 9_999, 9_999, "WorldReset")).toEqual(resets);
    expect(about("id-9", BEGINNING, 9_999, 9_999)).toEqual([]);
  });

  test("of a type are found in rows and blocks", () => {
    const { events, commit } = openFile();
    commit(800);
    expect(events.hasType("WorldReset", 0, 800)).toBe(true);
    expect(events.hasType("WorldReset", 699, 700)).toBe(true);
    expect(events.hasType("WorldReset", 700, 800)).toBe(false);
    expect(events.hasType("WorldReset", 0, 699)).toBe(false);
    const inRows = openFile();
    for (let count = 0; count < 10; count += 1) inRows.commit(1);
    expect(inRows.events.hasType("ComputeActivated", 9, 10)).toBe(true);
    expect(inRows.events.hasType("ComputeActivated", 10, 99)).toBe(false);
  });

  test.each([0, 1, 511, 512, 513, 900, 1_023, 1_024, 1_029, 1_030])("after %i can be deleted", (seq) => {
    const { events, commit, all } = openFile();
    commit(1_024);
    commit(6);
    events.deleteAfter(seq);
    expect(all()).toEqual(between(0, seq));
    expect(events.last?.seq ?? 0).toBe(seq);
    const before = chainChecksum(between(0, seq), 0);
    events.append(between(seq, 2_000), before, BEGINNING);
    expect(all()).toEqual(between(0, 2_000));
  });

  test("that are truncated are deleted, except in a block with later ones", () => {
    const { events, commit, counts } = openFile();
    commit(1_024);
    commit(6);
    events.deleteBefore(513);
    expect([counts(), events.first]).toEqual([[1, 6], 513]);
    const oldest = { seq: 600, chain: chainChecksum(between(0, 600), 0) };
    events.deleteBefore(601);
    expect([counts(), events.first]).toEqual([[1, 6], 513]);
    expect(events.since(oldest, 9_999).map(plain)).toEqual(between(600, 1_030));
    events.deleteBefore(1_030);
    expect([counts(), events.first]).toEqual([[0, 1], 1_030]);
  });

  test("after truncation become blocks when the truncated rows are gone", () => {
    const { events, commit, counts } = openFile();
    for (let count = 0; count < 100; count += 1) commit(1);
    const oldest = { seq: 50, chain: chainChecksum(between(0, 50), 0) };
    commit(600, oldest);
    expect(counts()).toEqual([0, 700]);
    events.deleteBefore(51);
    commit(1, oldest);
    expect(counts()).toEqual([1, 138]);
    commit(600, oldest);
    expect(counts()).toEqual([2, 0]);
    expect(events.since(oldest, 9_999).map(plain)).toEqual(between(50, 1_301));
  });

  test("of an older release become blocks, a few with every commit", () => {
    const { sqlite, commitRows, counts, all } = openFile();
    commitRows(511);
    const insert = sqlite.prepare(
      "INSERT INTO events (seq, at, type, payload, decision, chain) VALUES (@seq, @at, @type, @payload, @decision, @chain)",
    );
    let chain = sqlite.prepare("SELECT chain FROM events ORDER BY seq DESC LIMIT 1").pluck().get() as number;
    for (const event of between(511, 3_000)) {
      chain = chainChecksum([event], chain);
      insert.run({ ...event, chain });
    }
    expect(counts()).toEqual([0, 3_000]);
    let head = { seq: 3_000, chain };
    const reopened = new StoredEvents(sqlite);
    const rows: unknown[] = [];
    for (let count = 0; count < 8; count += 1) {
      const seq = head.seq + 1;
      head = { seq, chain: reopened.append(between(head.seq, seq), head.chain, BEGINNING) };
      rows.push(counts()[1]);
    }
    expect(rows).toEqual([2_488, 1_976, 1_464, 952, 440, 441, 442, 443]);
    expect(all()).toEqual(between(0, 3_008));
  });
});

describe("damage", () => {
  test("of any byte of a block is found before an event of it is returned", () => {
    const { sqlite, commit } = openFile();
    commit(600);
    const blob = sqlite.prepare("SELECT events FROM event_blocks").pluck().get() as Buffer;
    const write = sqlite.prepare("UPDATE event_blocks SET events = ?");
    for (let position = 0; position < blob.length; position += 1 + (position % 11)) {
      const damaged = Buffer.from(blob);
      damaged[position] = (damaged[position] ?? 0) ^ (1 << (position % 8));
      write.run(damaged);
      const events = new StoredEvents(sqlite);
      // Of the last byte, some bits mean nothing.
      let read: StoredEvent[];
      try {
        read = events.since(BEGINNING, 9_999);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptFile);
        continue;
      }
      expect(read.map(plain)).toEqual(between(0, 600));
    }
    write.run(blob.subarray(0, blob.length - 2));
    expect(() => new StoredEvents(sqlite).since(BEGINNING, 1)).toThrow("events 1 to 600 are damaged");
  });

  test.each(["first_seq", "last_seq", "chain", "chain_before"])("of %s of a block is found", (column) => {
    const { sqlite, commit } = openFile();
    commit(1_024);
    commit(5);
    sqlite.exec(`UPDATE event_blocks SET ${column} = ${column} + 1 WHERE first_seq = 513`);
    const events = new StoredEvents(sqlite);
    expect(() => events.since(BEGINNING, 9_999)).toThrow(CorruptFile);
    expect(() => {
      for (let { seq } = BEGINNING; seq < 1_029; )
        seq = events.verified({ seq, chain: undefined }, 9_999).at(-1)?.seq ?? 9_999;
    }).toThrow(CorruptFile);
    expect(events.since(BEGINNING, 512).map(plain)).toEqual(between(0, 512));
  });

  test("of the types of a block is found, and so is a missing block", () => {
    const { sqlite, commit } = openFile();
    commit(1_024);
    sqlite.exec("UPDATE event_blocks SET types = ' WorldReset ' WHERE first_seq = 513");
    expect(() => new StoredEvents(sqlite).since(BEGINNING, 9_999)).toThrow("events 513 to 1024 are damaged");
    sqlite.exec("DELETE FROM event_blocks WHERE first_seq = 1");
    expect(() => new StoredEvents(sqlite).since(BEGINNING, 9_999)).toThrow("event 1 or the one before it");
    expect(() => new StoredEvents(sqlite).about("id-1", BEGINNING, 9_999, 9_999)).toThrow(CorruptFile);
  });

  test("of a missing block is found by a search for an object", () => {
    const { sqlite, events, commit } = openFile();
    commit(3 * EVENTS_PER_BLOCK);
    sqlite.exec("DELETE FROM event_blocks WHERE first_seq > 1 AND first_seq < 1000");
    expect(() => events.about("id-1", BEGINNING, 9_999, 9_999)).toThrow(
      new CorruptFile(`event ${2 * EVENTS_PER_BLOCK} is missing`),
    );
    expect(events.about("id-1", BEGINNING, 9_999, 3)).toHaveLength(3);
    expect(events.chainAt(EVENTS_PER_BLOCK + 1)).toBeUndefined();
  });

  test("of rows stays in the rows", () => {
    const { sqlite, commit, commitRows, events, counts } = openFile();
    commitRows(400);
    sqlite.exec("UPDATE events SET at = at + 1 WHERE seq = 7");
    commit(400);
    commit(400);
    expect(counts()).toEqual([0, 1_200]);
    expect(() => events.since(BEGINNING, 9_999)).toThrow("event 7 or the one before it is damaged");
  });
});
