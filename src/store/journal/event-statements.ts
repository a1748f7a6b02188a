import type BetterSqlite3 from "better-sqlite3";
import { CLIENT_WORK_EVENTS } from "../../platform/model/events.ts";
import type { StoredBlock } from "./event-block.ts";
import type { RawEvent } from "./event-rows.ts";

/** A place in history, with the chain checksum up to it. */
export type Link = { readonly seq: number; readonly chain: number };

const BLOCK = "first_seq AS firstSeq, last_seq AS lastSeq, types, chain_before AS chainBefore, chain, events";

/** For `IN`: names of types have no quotes. */
const CLIENT_WORK = [...CLIENT_WORK_EVENTS].map((type) => `'${type}'`).join(", ");

/** Returns the block with the oldest event after an event, if it is in a block. */
export function prepareBlockAfter(
  sqlite: BetterSqlite3.Database,
): BetterSqlite3.Statement<[number], StoredBlock> {
  return sqlite.prepare(`SELECT ${BLOCK} FROM event_blocks WHERE last_seq > ? ORDER BY last_seq LIMIT 1`);
}

/** The statements about events, prepared once for each connection. */
export function prepareEventStatements(sqlite: BetterSqlite3.Database) {
  const prepare = <Row, Parameters extends unknown[]>(source: string) =>
    sqlite.prepare<Parameters, Row>(source);
  const event = "seq, at, type, decision, payload, chain";
  return {
    firstRow: prepare<number | null, []>("SELECT min(seq) FROM events").pluck(),
    lastRow: prepare<Link, []>("SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1"),
    chainAt: prepare<number, [number]>("SELECT chain FROM events WHERE seq = ?").pluck(),
    insertRow: prepare<unknown, [number, number, string, string, number, number]>(
      "INSERT INTO events (seq, at, type, payload, decision, chain) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    rowsSince: prepare<RawEvent, [number, number]>(
      `SELECT ${event} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`,
    ).raw(),
    rowsAbout: prepare<RawEvent, [number, number, string, number]>(
      `SELECT ${event} FROM events WHERE seq > ? AND seq < ? AND instr(payload, ?) > 0 ORDER BY seq DESC LIMIT ?`,
    ).raw(),
    rowsOfLifecycleAbout: prepare<RawEvent, [number, number, string, number]>(
      `SELECT ${event} FROM events WHERE seq > ? AND seq < ? AND type NOT IN (${CLIENT_WORK}) AND instr(payload, ?) > 0 ORDER BY seq DESC LIMIT ?`,
    ).raw(),
    rowsOfTypeAbout: prepare<RawEvent, [string, number, number, string, number]>(
      `SELECT ${event} FROM events WHERE type = ? AND seq > ? AND seq < ? AND instr(payload, ?) > 0 ORDER BY seq DESC LIMIT ?`,
    ).raw(),
    rowOfType: prepare<unknown, [number, number, string]>(
      "SELECT 1 FROM events WHERE seq > ? AND seq <= ? AND type = ? LIMIT 1",
    ),
    deleteRowsBefore: prepare<unknown, [number]>("DELETE FROM events WHERE seq < ?"),
    deleteRowsUpTo: prepare<unknown, [number]>("DELETE FROM events WHERE seq <= ?"),
    deleteRowsAfter: prepare<unknown, [number]>("DELETE FROM events WHERE seq > ?"),
    firstBlock: prepare<{ firstSeq: number }, []>(
      "SELECT first_seq AS firstSeq FROM event_blocks ORDER BY last_seq LIMIT 1",
    ),
    lastBlock: prepare<Link, []>(
      "SELECT last_seq AS seq, chain FROM event_blocks ORDER BY last_seq DESC LIMIT 1",
    ),
    blockAfter: prepareBlockAfter(sqlite),
    blocksOfType: prepare<StoredBlock, [number, number, string]>(
      `SELECT ${BLOCK} FROM event_blocks WHERE last_seq > ? AND first_seq <= ? AND instr(types, ?) > 0`,
    ),
    insertBlock: prepare<unknown, [number, number, string, number, number, Buffer]>(
      "INSERT INTO event_blocks (last_seq, first_seq, types, chain_before, chain, events) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    deleteBlocksBefore: prepare<unknown, [number]>("DELETE FROM event_blocks WHERE last_seq < ?"),
    deleteBlocksAfter: prepare<unknown, [number]>("DELETE FROM event_blocks WHERE last_seq > ?"),
  };
}
