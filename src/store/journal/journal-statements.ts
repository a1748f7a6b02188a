import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../kernel/time.ts";
import type { CheckpointPosition } from "../../simulation/journal.ts";

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
  return {
    savepoint: prepare("SAVEPOINT beside_history"),
    release: prepare("RELEASE beside_history"),
    rollbackToSavepoint: prepare("ROLLBACK TO beside_history"),
    size: prepare<{ bytes: number }, []>(
      "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
    ),
    writeWorld: prepare(
      `INSERT INTO world (id, settings, numbers, clock, seq, at, now, chain, checksum) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, numbers = excluded.numbers, clock = excluded.clock,
         seq = excluded.seq, at = excluded.at, now = excluded.now, chain = excluded.chain, checksum = excluded.checksum`,
    ),
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
