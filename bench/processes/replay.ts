import { setImmediate as nextTurn } from "node:timers/promises";
import { inflateRawSync } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";
import type { RecordedEvent } from "../../src/platform/model/events.ts";
import { emptyWorld } from "../../src/platform/world/world.ts";
import type { Journal } from "../../src/simulation/journal.ts";
import { MemoryJournal } from "../../src/simulation/memory-journal.ts";
import { worldAt } from "../../src/simulation/replay.ts";
import { openForReading } from "../../src/store/file/open-read-only.ts";
import { readWorldRow } from "../../src/store/file/read-world.ts";
import { SqliteJournal } from "../../src/store/journal/sqlite-journal.ts";

export type ReplayOptions = {
  /** Path of a world's file without checkpoints. */
  readonly file: string;
  readonly migrations: string;
  /** `payloads`: only reads and parses the events. */
  readonly source: "file" | "memory" | "payloads";
};

export type ReplayResult = { readonly events: number; readonly elapsedMs: number };

/** Same batch size as in a replay. */
const EVENTS_PER_BATCH = 500;
const EVENTS_PER_LOAD = 5_000;

const { file, migrations, source } = JSON.parse(process.argv[2] ?? "") as ReplayOptions;
const result = await (source === "payloads" ? readPayloads() : source === "file" ? foldFile() : foldMemory());
process.stdout.write(`${JSON.stringify(result)}\n`);

async function foldFile(): Promise<ReplayResult> {
  const { journal, head, close } = openJournal();
  const folded = await fold(journal, head);
  close();
  return folded;
}

async function foldMemory(): Promise<ReplayResult> {
  const { journal, head, close } = openJournal();
  const inMemory = new MemoryJournal();
  const { settings, numbers } = emptyWorld();
  const clock = { mode: "manual", factor: 0, simAnchor: 0, wallAnchor: 0 } as const;
  for (let seq = 0; seq < head; ) {
    const events = journal.events(seq, EVENTS_PER_LOAD);
    inMemory.write({ events, changes: [], settings, numbers, clock, now: 0 });
    seq += events.length;
  }
  close();
  return fold(inMemory, head);
}

async function fold(journal: Journal, head: number): Promise<ReplayResult> {
  if (journal.newestCheckpoint.seq !== 0)
    throw new Error("the journal has a checkpoint, so the replay would not cover all events");
  const startedAt = performance.now();
  const world = await worldAt(journal, head, () => nextTurn());
  return { events: world.seq, elapsedMs: performance.now() - startedAt };
}

/** Reads and parses the payloads of the same events, a block or as many rows at a time. */
function readPayloads(): ReplayResult {
  const sqlite = new BetterSqlite3(file, { readonly: true });
  const blockAfter = sqlite.prepare<[number], { last_seq: number; events: Buffer }>(
    "SELECT last_seq, events FROM event_blocks WHERE last_seq > ? ORDER BY last_seq LIMIT 1",
  );
  const rowsAfter = sqlite
    .prepare<[number, number], string>("SELECT payload FROM events WHERE seq > ? ORDER BY seq LIMIT ?")
    .pluck();
  const startedAt = performance.now();
  const parsed: RecordedEvent[][] = [];
  let events = 0;
  for (let block = blockAfter.get(0); block !== undefined; block = blockAfter.get(events)) {
    const [, ...payloads] = inflateRawSync(block.events).toString().split("\n");
    parsed[0] = payloads.map((payload) => JSON.parse(payload));
    events = block.last_seq;
  }
  for (
    let rows = rowsAfter.all(events, EVENTS_PER_BATCH);
    rows.length > 0;
    rows = rowsAfter.all(events, EVENTS_PER_BATCH)
  ) {
    parsed[0] = rows.map((payload) => JSON.parse(payload));
    events += rows.length;
  }
  const elapsedMs = performance.now() - startedAt;
  sqlite.close();
  return { events, elapsedMs };
}

function openJournal() {
  const { sqlite, close } = openForReading(file, migrations);
  const row = readWorldRow(sqlite);
  if (row === undefined) throw new Error(`${file} contains no world`);
  return { journal: new SqliteJournal(sqlite, row), head: row.seq, close };
}
