import type BetterSqlite3 from "better-sqlite3";
import { getTableColumns } from "drizzle-orm";
import type { SimTime } from "../../kernel/time.ts";
import type { HistoryOrigin } from "../../simulation/journal.ts";
import { CorruptFile, checksumOf } from "./journal-checksum.ts";
import { history } from "./schema.ts";
import { once, query, textOf, textOfWriteRow } from "./statement.ts";

/** The identity of a file's history, and how far it is truncated. */
export type HistoryRow = {
  readonly historyId: string;
  readonly journalVersion: number;
  readonly forgottenSeq: number;
  readonly operationsForgottenBefore: SimTime;
  readonly origin?: HistoryOrigin;
};

const texts = once(() => {
  const { id: _, ...columns } = getTableColumns(history);
  return { read: textOf(query.select(columns).from(history)), write: textOfWriteRow(history) };
});

/** The values of the single row of a world, with its checksum. */
export function worldRowValues({
  settings,
  numbers,
  clock,
  seq,
  at,
  now,
  chain,
}: {
  readonly settings: object;
  readonly numbers: object;
  readonly clock: object;
  readonly seq: number;
  readonly at: SimTime;
  readonly now: SimTime;
  readonly chain: number;
}): readonly (string | number)[] {
  const json = [settings, numbers, clock].map((value) => JSON.stringify(value));
  const values = [...json, seq, at, now, chain];
  return [...values, checksumOf(values)];
}

export function readHistoryRow(sqlite: BetterSqlite3.Database): HistoryRow {
  const row = sqlite.prepare(texts().read).raw().get() as unknown[] | undefined;
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

export function writeHistoryRow(sqlite: BetterSqlite3.Database, written: HistoryRow): void {
  const { historyId, journalVersion, forgottenSeq, operationsForgottenBefore, origin } = written;
  const row = [
    historyId,
    journalVersion,
    forgottenSeq,
    operationsForgottenBefore,
    origin === undefined ? null : JSON.stringify(origin),
  ];
  sqlite.prepare(texts().write).run(...row, checksumOf(row));
}
