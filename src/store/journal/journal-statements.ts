import type BetterSqlite3 from "better-sqlite3";
import { and, desc, eq, gt, inArray, lt, lte, sql } from "drizzle-orm";
import type { SimTime } from "../../kernel/time.ts";
import type { CheckpointPosition } from "../../simulation/journal.ts";
import { checkpoints, operations, world } from "../tables/schema.ts";
import { once, parametersFor, query, textOf, textOfWriteRow } from "../tables/statement.ts";

export type CheckpointRow = {
  readonly seq: number;
  readonly at: SimTime;
  readonly chain: number;
  readonly world: Buffer;
};

export type JournalStatements = ReturnType<typeof prepareJournalStatements>;

const parameter = sql.placeholder;
const POSITION = { seq: checkpoints.seq, at: checkpoints.at };
const bySeq = lte(checkpoints.seq, parameter("seq"));
const byTime = lte(checkpoints.at, parameter("at"));

const texts = once(() => ({
  writeWorld: textOfWriteRow(world),
  operationsAfter: textOf(
    query
      .select({ number: operations.number, updatedAt: operations.updatedAt })
      .from(operations)
      .where(gt(operations.number, parameter("after")))
      .orderBy(operations.number)
      .limit(parameter("limit")),
    ...["after", "limit"],
  ),
  deleteOperations: textOf(
    query
      .delete(operations)
      .where(
        and(
          gt(operations.number, parameter("after")),
          lte(operations.number, parameter("upTo")),
          lt(operations.updatedAt, parameter("before")),
          inArray(operations.status, ["finished", "failed", "cancelled"]),
        ),
      ),
    ...["after", "upTo", "before"],
  ),
  checkpointAt: textOf(
    query
      .select()
      .from(checkpoints)
      .where(eq(checkpoints.seq, parameter("seq"))),
    "seq",
  ),
  checkpointBySeq: textOf(
    query.select().from(checkpoints).where(bySeq).orderBy(desc(checkpoints.seq)).limit(1),
    "seq",
  ),
  checkpointByTime: textOf(
    query.select().from(checkpoints).where(byTime).orderBy(desc(checkpoints.seq)).limit(1),
    "at",
  ),
  newestCheckpoint: textOf(query.select(POSITION).from(checkpoints).orderBy(desc(checkpoints.seq)).limit(1)),
  checkpointPositionBySeq: textOf(
    query.select(POSITION).from(checkpoints).where(bySeq).orderBy(desc(checkpoints.seq)).limit(1),
    "seq",
  ),
  checkpointPositionByTime: textOf(
    query.select(POSITION).from(checkpoints).where(byTime).orderBy(desc(checkpoints.seq)).limit(1),
    "at",
  ),
  insertCheckpoint: textOf(
    query.insert(checkpoints).values(parametersFor(checkpoints)).onConflictDoNothing(),
    ...["seq", "at", "chain", "world"],
  ),
  deleteCheckpoints: textOf(query.delete(checkpoints).where(lt(checkpoints.seq, parameter("seq"))), "seq"),
}));

/** The statements of a journal, prepared once for each connection. */
export function prepareJournalStatements(sqlite: BetterSqlite3.Database) {
  const prepare = <Row, Parameters extends unknown[]>(text: string) => sqlite.prepare<Parameters, Row>(text);
  const text = texts();
  return {
    savepoint: prepare("SAVEPOINT beside_history"),
    release: prepare("RELEASE beside_history"),
    rollbackToSavepoint: prepare("ROLLBACK TO beside_history"),
    size: prepare<{ bytes: number }, []>(
      "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
    ),
    writeWorld: prepare(text.writeWorld),
    operationsAfter: prepare<{ number: number; updated_at: SimTime }, [number, number]>(text.operationsAfter),
    deleteOperations: prepare<unknown, [number, number, SimTime]>(text.deleteOperations),
    checkpointAt: prepare<CheckpointRow, [number]>(text.checkpointAt),
    checkpointBySeq: prepare<CheckpointRow, [number]>(text.checkpointBySeq),
    checkpointByTime: prepare<CheckpointRow, [SimTime]>(text.checkpointByTime),
    newestCheckpoint: prepare<CheckpointPosition, []>(text.newestCheckpoint),
    checkpointPositionBySeq: prepare<CheckpointPosition, [number]>(text.checkpointPositionBySeq),
    checkpointPositionByTime: prepare<CheckpointPosition, [SimTime]>(text.checkpointPositionByTime),
    insertCheckpoint: prepare<unknown, [number, SimTime, number, Buffer]>(text.insertCheckpoint),
    deleteCheckpoints: prepare<unknown, [number]>(text.deleteCheckpoints),
  };
}
