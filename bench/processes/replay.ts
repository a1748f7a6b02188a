import { setImmediate as nextTurn } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import { emptyWorld } from "../../src/platform/core/world.ts";
import type { RecordedEvent } from "../../src/platform/events.ts";
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
  /** `rows`: only reads and parses the rows of the events. */
  readonly source: "file" | "memory" | "rows";
};

export type ReplayResult = { readonly events: number; readonly elapsedMs: number };

/** As in a replay. */
const EVENTS_PER_BATCH = 500;
const EVENTS_PER_LOAD = 5_000;

const { file, migrations, source } = JSON.parse(process.argv[2] ?? "") as ReplayOptions;
const result = await (source === "rows" ? readRows() : source === "file" ? foldFile() : foldMemory());
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

/** Reads the same rows in the same batches as a replay. */
function readRows(): ReplayResult {
  const sqlite = new BetterSqlite3(file, { readonly: true });
  const statement = sqlite
    .prepare<[number, number], unknown[]>(
      "SELECT seq, at, type, decision, payload, chain FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
    )
    .raw();
  const startedAt = performance.now();
  const parsed: RecordedEvent[][] = [];
  let events = 0;
  for (
    let rows = statement.all(0, EVENTS_PER_BATCH);
    rows.length > 0;
    rows = statement.all(events, EVENTS_PER_BATCH)
  ) {
    parsed[0] = rows.map((row) => JSON.parse(row[4] as string));
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
