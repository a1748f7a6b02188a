import type BetterSqlite3 from "better-sqlite3";
import { and, desc, eq, gt, lt, lte, min, notInArray, type SQL, sql } from "drizzle-orm";
import { CLIENT_WORK_EVENTS } from "../../platform/model/events.ts";
import { eventBlocks, events } from "../tables/schema.ts";
import { named, once, parametersFor, query, textOf } from "../tables/statement.ts";
import type { StoredBlock } from "./event-block.ts";
import type { RawEvent } from "./event-rows.ts";

/** A place in history, with the chain checksum up to it. */
export type Link = { readonly seq: number; readonly chain: number };

const parameter = sql.placeholder;
/** Columns in the order of `RawEvent`. */
const EVENT = {
  seq: events.seq,
  at: events.at,
  type: events.type,
  decision: events.decision,
  payload: events.payload,
  chain: events.chain,
};
const BLOCK = {
  firstSeq: named(eventBlocks.firstSeq, "firstSeq"),
  lastSeq: named(eventBlocks.lastSeq, "lastSeq"),
  types: eventBlocks.types,
  chainBefore: named(eventBlocks.chainBefore, "chainBefore"),
  chain: eventBlocks.chain,
  events: eventBlocks.events,
};

const blockAfter = once(() =>
  textOf(
    query
      .select(BLOCK)
      .from(eventBlocks)
      .where(gt(eventBlocks.lastSeq, parameter("after")))
      .orderBy(eventBlocks.lastSeq)
      .limit(1),
    "after",
  ),
);

/** Returns the block with the oldest event after an event, if it is in a block. */
export function prepareBlockAfter(
  sqlite: BetterSqlite3.Database,
): BetterSqlite3.Statement<[number], StoredBlock> {
  return sqlite.prepare(blockAfter());
}

/** The newest events between two that mention an id. */
function eventsAbout(...conditions: SQL[]) {
  return query
    .select(EVENT)
    .from(events)
    .where(
      and(
        ...conditions,
        gt(events.seq, parameter("after")),
        lt(events.seq, parameter("before")),
        sql`instr(${events.payload}, ${parameter("mention")}) > 0`,
      ),
    )
    .orderBy(desc(events.seq))
    .limit(parameter("limit"));
}

/** The statements about events that are rows: the newest ones. */
const rowTexts = once(() => ({
  firstRow: textOf(query.select({ seq: min(events.seq) }).from(events)),
  lastRow: textOf(
    query.select({ seq: events.seq, chain: events.chain }).from(events).orderBy(desc(events.seq)).limit(1),
  ),
  chainAt: textOf(
    query
      .select({ chain: events.chain })
      .from(events)
      .where(eq(events.seq, parameter("seq"))),
    "seq",
  ),
  insertRow: textOf(
    query.insert(events).values(parametersFor(events)),
    ...["seq", "at", "type", "payload", "decision", "chain"],
  ),
  rowsSince: textOf(
    query
      .select(EVENT)
      .from(events)
      .where(gt(events.seq, parameter("after")))
      .orderBy(events.seq)
      .limit(parameter("limit")),
    ...["after", "limit"],
  ),
  rowsAbout: textOf(eventsAbout(), ...["after", "before", "mention", "limit"]),
  rowsOfLifecycleAbout: textOf(
    eventsAbout(notInArray(events.type, [...CLIENT_WORK_EVENTS])),
    ...["after", "before", "mention", "limit"],
  ),
  rowsOfTypeAbout: textOf(
    eventsAbout(eq(events.type, parameter("type"))),
    ...["type", "after", "before", "mention", "limit"],
  ),
  rowOfType: textOf(
    query
      .select({ found: sql`1` })
      .from(events)
      .where(
        and(
          gt(events.seq, parameter("after")),
          lte(events.seq, parameter("upTo")),
          eq(events.type, parameter("type")),
        ),
      )
      .limit(1),
    ...["after", "upTo", "type"],
  ),
  deleteRowsBefore: textOf(query.delete(events).where(lt(events.seq, parameter("seq"))), "seq"),
  deleteRowsUpTo: textOf(query.delete(events).where(lte(events.seq, parameter("seq"))), "seq"),
  deleteRowsAfter: textOf(query.delete(events).where(gt(events.seq, parameter("seq"))), "seq"),
}));

/** The statements about events in blocks. */
const blockTexts = once(() => ({
  firstBlock: textOf(
    query.select({ firstSeq: BLOCK.firstSeq }).from(eventBlocks).orderBy(eventBlocks.lastSeq).limit(1),
  ),
  lastBlock: textOf(
    query
      .select({ seq: named(eventBlocks.lastSeq, "seq"), chain: eventBlocks.chain })
      .from(eventBlocks)
      .orderBy(desc(eventBlocks.lastSeq))
      .limit(1),
  ),
  chainOfBlock: textOf(
    query
      .select({ chain: eventBlocks.chain })
      .from(eventBlocks)
      .where(eq(eventBlocks.lastSeq, parameter("seq"))),
    "seq",
  ),
  lastLargeBlock: textOf(
    query
      .select({ seq: named(eventBlocks.lastSeq, "seq") })
      .from(eventBlocks)
      .where(sql`${eventBlocks.lastSeq} - ${eventBlocks.firstSeq} + 1 >= ${parameter("events")}`)
      .orderBy(desc(eventBlocks.lastSeq))
      .limit(1),
    "events",
  ),
  blocksOfType: textOf(
    query
      .select(BLOCK)
      .from(eventBlocks)
      .where(
        and(
          gt(eventBlocks.lastSeq, parameter("after")),
          lte(eventBlocks.firstSeq, parameter("upTo")),
          sql`instr(${eventBlocks.types}, ${parameter("type")}) > 0`,
        ),
      ),
    ...["after", "upTo", "type"],
  ),
  insertBlock: textOf(
    query.insert(eventBlocks).values(parametersFor(eventBlocks)),
    ...["lastSeq", "firstSeq", "types", "chainBefore", "chain", "events"],
  ),
  deleteBlocksBefore: textOf(
    query.delete(eventBlocks).where(lt(eventBlocks.lastSeq, parameter("seq"))),
    "seq",
  ),
  deleteBlocksAfter: textOf(
    query.delete(eventBlocks).where(gt(eventBlocks.lastSeq, parameter("seq"))),
    "seq",
  ),
}));

/** The statements about events, prepared once for each connection. */
export function prepareEventStatements(sqlite: BetterSqlite3.Database) {
  const prepare = <Row, Parameters extends unknown[]>(text: string) => sqlite.prepare<Parameters, Row>(text);
  const text = { ...rowTexts(), ...blockTexts() };
  return {
    firstRow: prepare<number | null, []>(text.firstRow).pluck(),
    lastRow: prepare<Link, []>(text.lastRow),
    chainAt: prepare<number, [number]>(text.chainAt).pluck(),
    insertRow: prepare<unknown, [number, number, string, string, number, number]>(text.insertRow),
    rowsSince: prepare<RawEvent, [number, number]>(text.rowsSince).raw(),
    rowsAbout: prepare<RawEvent, [number, number, string, number]>(text.rowsAbout).raw(),
    rowsOfLifecycleAbout: prepare<RawEvent, [number, number, string, number]>(
      text.rowsOfLifecycleAbout,
    ).raw(),
    rowsOfTypeAbout: prepare<RawEvent, [string, number, number, string, number]>(text.rowsOfTypeAbout).raw(),
    rowOfType: prepare<unknown, [number, number, string]>(text.rowOfType),
    deleteRowsBefore: prepare<unknown, [number]>(text.deleteRowsBefore),
    deleteRowsUpTo: prepare<unknown, [number]>(text.deleteRowsUpTo),
    deleteRowsAfter: prepare<unknown, [number]>(text.deleteRowsAfter),
    firstBlock: prepare<{ firstSeq: number }, []>(text.firstBlock),
    lastBlock: prepare<Link, []>(text.lastBlock),
    blockAfter: prepareBlockAfter(sqlite),
    chainOfBlock: prepare<number, [number]>(text.chainOfBlock).pluck(),
    lastLargeBlock: prepare<{ seq: number }, [number]>(text.lastLargeBlock),
    blocksOfType: prepare<StoredBlock, [number, number, string]>(text.blocksOfType),
    insertBlock: prepare<unknown, [number, number, string, number, number, Buffer]>(text.insertBlock),
    deleteBlocksBefore: prepare<unknown, [number]>(text.deleteBlocksBefore),
    deleteBlocksAfter: prepare<unknown, [number]>(text.deleteBlocksAfter),
  };
}
