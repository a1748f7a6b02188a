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

/** The chain with one more event: what is changed, lost or out of order breaks it. */
export function chainOf({ seq, decision, at, type, payload }: StoredEvent, before: number): number {
  return crc32(`${seq} ${decision} ${at} ${type} ${payload}`, before);
}
