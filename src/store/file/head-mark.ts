import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { checksumOf } from "../tables/journal-checksum.ts";

/** The last commit that a world has acknowledged. */
export type Head = {
  readonly historyId: string;
  readonly seq: number;
  readonly chain: number;
  readonly now: number;
};

type Slot = Head & { readonly number: number };

/** Size of a disk sector: a torn write damages one slot only. */
const SLOT_BYTES = 512;
const SLOTS = 2;

export function headMarkPath(path: string): string {
  return `${path}-head`;
}

/**
 * The mark next to a world's file that states its last acknowledged commit, so that a lost log is noticed
 * (decision 0020). It is written after the commit is durable, so it never states more than the file contains.
 * The mark survives a killed process. After a power failure it may be up to one idle period old.
 */
export class HeadMark {
  readonly #file: number;
  #number: number;

  constructor(path: string) {
    this.#number = newestSlot(path)?.number ?? 0;
    this.#file = openSync(headMarkPath(path), openFlags(path), 0o600);
  }

  write(head: Head): void {
    this.#number += 1;
    const row = [this.#number, head.historyId, head.seq, head.chain, head.now];
    const text = `${JSON.stringify([...row, checksumOf(row)])}\n`.padEnd(SLOT_BYTES);
    try {
      writeSync(this.#file, text, (this.#number % SLOTS) * SLOT_BYTES);
    } catch {
      // The commit is durable all the same. The mark states an earlier one until the next write.
    }
  }

  sync(): void {
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Marks the head of a file that is not open, so that a later loss of its log is noticed. */
export function markHead(path: string, head: Head): void {
  const mark = new HeadMark(path);
  try {
    mark.write(head);
    mark.sync();
  } finally {
    mark.close();
  }
}

/** The mark of a world's file; `undefined` if there is none, or none that is intact. */
export function readHeadMark(path: string): Head | undefined {
  return newestSlot(path);
}

function openFlags(path: string): "r+" | "w+" {
  return readIfExists(headMarkPath(path)) === undefined ? "w+" : "r+";
}

function newestSlot(path: string): Slot | undefined {
  const text = readIfExists(headMarkPath(path)) ?? "";
  let newest: Slot | undefined;
  for (let at = 0; at < SLOTS * SLOT_BYTES; at += SLOT_BYTES) {
    const slot = parseSlot(text.slice(at, at + SLOT_BYTES));
    if (slot !== undefined && slot.number > (newest?.number ?? 0)) newest = slot;
  }
  return newest;
}

function parseSlot(text: string): Slot | undefined {
  try {
    const row = JSON.parse(text) as [number, string, number, number, number, number];
    const checksum = row.pop();
    if (checksum !== checksumOf(row)) return undefined;
    const [number, historyId, seq, chain, now] = row;
    return { number, historyId, seq, chain, now };
  } catch {
    return undefined;
  }
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
