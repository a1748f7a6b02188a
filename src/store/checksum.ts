import { crc32 } from "node:zlib";

/** What a file holds is not what was written: nothing of it is served. */
export class Damaged extends Error {
  override readonly name = "Damaged";
}

/** CRC-32 of a row's values as SQLite holds them, in the order of the columns. */
export function checksumOf(values: readonly unknown[]): number {
  return crc32(JSON.stringify(values));
}

/** An event as it stands in the file, but for its link in the chain. */
export type StoredEvent = {
  readonly seq: number;
  readonly decision: number;
  readonly at: number;
  readonly type: string;
  readonly payload: string;
};

/** The chain with more events: what is changed, lost or out of order breaks it. Many at once cost less than one by one. */
export function chainOf(events: readonly StoredEvent[], before: number): number {
  let text = "";
  for (const { seq, decision, at, type, payload } of events) text += `${seq} ${decision} ${at} ${type} ${payload}`;
  return crc32(text, before);
}
