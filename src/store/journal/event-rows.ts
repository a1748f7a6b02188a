import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { CorruptFile, chainChecksum, type StoredEvent } from "../tables/journal-checksum.ts";
import { eventWith, payloadOf } from "./event-payload.ts";

/** Rows of events are read as arrays: SQLite returns them at twice the speed of objects. */
export type RawEvent = [
  seq: number,
  at: SimTime,
  type: string,
  decision: number,
  payload: string,
  chain: number,
];

/** A row of `events`. */
export type EventRow = StoredEvent & { readonly chain: number };

/** Throws `CorruptFile` at the first row that is changed, missing or out of order. */
export function verifyChain(rows: readonly EventRow[], since: number, before: number): void {
  let [seq, chain] = [since, before];
  for (const row of rows) {
    seq += 1;
    chain = chainChecksum([row], chain);
    if (row.seq !== seq || row.chain !== chain)
      throw new CorruptFile(`event ${seq} or the one before it is damaged`);
  }
}

export function rowOf([seq, at, type, decision, payload, chain]: RawEvent): EventRow {
  // A column that turned into a blob would have the same checksum as its text.
  if (typeof type !== "string" || typeof payload !== "string")
    throw new CorruptFile(`event ${seq} is damaged`);
  return { seq, at, type, payload, decision, chain };
}

export function eventOf(stored: StoredEvent): RecordedEvent {
  return eventWith(stored, stored.payload) as RecordedEvent;
}

export function storedEventOf(event: RecordedEvent): StoredEvent {
  const { seq, at, type, decision } = event;
  return { seq, decision, at, type, payload: payloadOf(event) };
}
