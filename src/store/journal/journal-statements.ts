import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../platform/core/time.ts";
import type { CheckpointPosition } from "../../simulation/journal.ts";

/** Rows of events are read as arrays: SQLite returns them at twice the speed of objects. */
export type RawEvent = [
  seq: number,
  at: SimTime,
  type: string,
  decision: number,
  payload: string,
  chain: number,
];

export type CheckpointRow = {
  readonly seq: number;
  readonly at: SimTime;
  readonly chain: number;
  readonly world: Buffer;
};

export type JournalStatements = ReturnType<typeof prepareJournalStatements>;

/** The statements of a journal, prepared once for each connection. */
export function prepareJournalStatements(sqlite: BetterSqlite3.Database) {
  const prepare = <Row, Parameters extends unknown[]>(source: string) =>
    sqlite.prepare<Parameters, Row>(source);
  const event = "seq, at, type, decision, payload, chain";
  return {
    savepoint: prepare("SAVEPOINT beside_history"),
    release: prepare("RELEASE beside_history"),
    rollbackToSavepoint: prepare("ROLLBACK TO beside_history"),
    size: prepare<{ bytes: number }, []>(
      "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
    ),
    appendEvent: prepare<unknown, [number, SimTime, string, string, number, number]>(
      "INSERT INTO events (seq, at, type, payload, decision, chain) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    writeWorld: prepare(
      `INSERT INTO world (id, settings, numbers, clock, seq, at, now, chain, checksum) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, numbers = excluded.numbers, clock = excluded.clock,
         seq = excluded.seq, at = excluded.at, now = excluded.now, chain = excluded.chain, checksum = excluded.checksum`,
    ),
    chainAt: prepare<{ chain: number }, [number]>("SELECT chain FROM events WHERE seq = ?"),
    firstEvent: prepare<{ seq: number | null }, []>("SELECT min(seq) AS seq FROM events"),
    eventsSince: prepare<RawEvent, [number, number]>(
      `SELECT ${event} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`,
    ).raw(),
    eventsAbout: prepare<RawEvent, [number, number, string, number]>(
      `SELECT ${event} FROM events WHERE seq > ? AND seq < ? AND instr(payload, ?) > 0 ORDER BY seq DESC LIMIT ?`,
    ).raw(),
    eventsButActivityAbout: prepare<RawEvent, [number, number, string, number]>(
      `SELECT ${event} FROM events WHERE seq > ? AND seq < ? AND type NOT LIKE 'Activity%' AND instr(payload, ?) > 0 ORDER BY seq DESC LIMIT ?`,
    ).raw(),
    eventsOfTypeAbout: prepare<RawEvent, [string, number, number, string, number]>(
      `SELECT ${event} FROM events WHERE type = ? AND seq > ? AND seq < ? AND instr(payload, ?) > 0 ORDER BY seq DESC LIMIT ?`,
    ).raw(),
    deleteEvents: prepare<unknown, [number]>("DELETE FROM events WHERE seq < ?"),
    operationsAfter: prepare<{ number: number; updated_at: SimTime }, [number, number]>(
      "SELECT number, updated_at FROM operations WHERE number > ? ORDER BY number LIMIT ?",
    ),
    deleteOperations: prepare<unknown, [number, number, SimTime]>(
      `DELETE FROM operations WHERE number > ? AND number <= ? AND updated_at < ? AND status IN ('finished', 'failed', 'cancelled')`,
    ),
    checkpointAt: prepare<CheckpointRow, [number]>("SELECT * FROM checkpoints WHERE seq = ?"),
    checkpointBySeq: prepare<CheckpointRow, [number]>(
      "SELECT * FROM checkpoints WHERE seq <= ? ORDER BY seq DESC LIMIT 1",
    ),
    checkpointByTime: prepare<CheckpointRow, [SimTime]>(
      "SELECT * FROM checkpoints WHERE at <= ? ORDER BY seq DESC LIMIT 1",
    ),
    newestCheckpoint: prepare<CheckpointPosition, []>(
      "SELECT seq, at FROM checkpoints ORDER BY seq DESC LIMIT 1",
    ),
    checkpointPositionBySeq: prepare<CheckpointPosition, [number]>(
      "SELECT seq, at FROM checkpoints WHERE seq <= ? ORDER BY seq DESC LIMIT 1",
    ),
    checkpointPositionByTime: prepare<CheckpointPosition, [SimTime]>(
      "SELECT seq, at FROM checkpoints WHERE at <= ? ORDER BY seq DESC LIMIT 1",
    ),
    insertCheckpoint: prepare<unknown, [number, SimTime, number, Buffer]>(
      "INSERT OR IGNORE INTO checkpoints (seq, at, chain, world) VALUES (?, ?, ?, ?)",
    ),
    deleteCheckpoints: prepare<unknown, [number]>("DELETE FROM checkpoints WHERE seq < ?"),
  };
}
