import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../kernel/time.ts";
import type { HistoryOrigin } from "../../simulation/journal.ts";
import { CorruptFile, checksumOf } from "./journal-checksum.ts";

/** The identity of a file's history, and how far it is truncated. */
export type HistoryRow = {
  readonly historyId: string;
  readonly journalVersion: number;
  readonly forgottenSeq: number;
  readonly operationsForgottenBefore: SimTime;
  readonly origin?: HistoryOrigin;
};

const COLUMNS = "history_id, journal_version, forgotten_seq, operations_forgotten_before, origin";

export function readHistoryRow(sqlite: BetterSqlite3.Database): HistoryRow {
  const row = sqlite.prepare(`SELECT ${COLUMNS}, checksum FROM history`).raw().get() as unknown[] | undefined;
  const checksum = row?.pop();
  if (row === undefined || checksum !== checksumOf(row)) throw new CorruptFile("the history row is damaged");
  const [historyId, journalVersion, forgottenSeq, operationsForgottenBefore, origin] = row as [
    string,
    number,
    number,
    number,
    string | null,
  ];
  return {
    historyId,
    journalVersion,
    forgottenSeq,
    operationsForgottenBefore,
    ...(origin === null ? {} : { origin: JSON.parse(origin) }),
  };
}

export function writeHistoryRow(sqlite: BetterSqlite3.Database, history: HistoryRow): void {
  const { historyId, journalVersion, forgottenSeq, operationsForgottenBefore, origin } = history;
  const row = [
    historyId,
    journalVersion,
    forgottenSeq,
    operationsForgottenBefore,
    origin === undefined ? null : JSON.stringify(origin),
  ];
  sqlite
    .prepare(`INSERT OR REPLACE INTO history (id, ${COLUMNS}, checksum) VALUES (1, ?, ?, ?, ?, ?, ?)`)
    .run(...row, checksumOf(row));
}
