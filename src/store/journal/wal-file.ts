import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { endianness } from "node:os";
import type BetterSqlite3 from "better-sqlite3";

// The format is documented at https://www.sqlite.org/fileformat2.html#walformat.

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The lowest bit states whether checksums read the data as big-endian words. */
const MAGIC = 0x377f0682;
const FORMAT_VERSION = 3_007_000;
const BYTES_PER_COPY = 1_048_576;
const BYTES_PER_READ = 1_048_576;
const MAX_ATTEMPTS = 5;

export function walPath(path: string): string {
  return `${path}-wal`;
}

/** Returns a function that returns where the last successful commit of this connection ends in the log. */
export function walEnd(sqlite: BetterSqlite3.Database): () => number {
  const size = sqlite.prepare<[], { log: number }>("PRAGMA wal_checkpoint(NOOP)");
  const pageSize = sqlite.prepare<[], number>("PRAGMA page_size").pluck().get() as number;
  return () => {
    const frames = size.get()?.log ?? -1;
    if (frames < 0) throw new Error("the database has no write-ahead log");
    return frames === 0 ? 0 : HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageSize);
  };
}

/** The header of the log of a file, whose salts change when the log begins anew; `undefined` if the log is empty. */
export function readWalHeader(path: string): Buffer | undefined {
  return readAt(walPath(path), 0, HEADER_BYTES);
}

/**
 * Returns a function that cuts the write-ahead log after the last successful commit of this connection, and
 * makes that durable. Safe while others read the log: they read only what remains.
 */
export function cutWal(sqlite: BetterSqlite3.Database): () => void {
  const endOfLog = walEnd(sqlite);
  let wasCut = true;
  return () => {
    const end = endOfLog();
    // Closing a file releases the locks of this process on it, but SQLite locks other files.
    const file = openSync(walPath(sqlite.name), "r+");
    try {
      if (wasCut && fstatSync(file).size <= end) return;
      wasCut = false;
      // Written again on each attempt: the system may have dropped what a failed sync did not write.
      writeSync(file, Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, end);
      ftruncateSync(file, end);
      fsyncSync(file);
      wasCut = true;
    } finally {
      closeSync(file);
    }
  };
}

/**
 * Writes the log of a file again, byte for byte, and syncs it. After a failed sync the system counts data as
 * written although it may not be on disk (decision 0019), so what can be read from the log may be lost by a
 * power failure, and no later sync would prevent that. The same bytes at the same place damage nothing if the
 * power fails now. No other connection may write to the log in the meantime.
 */
export function makeWalDurable(path: string): void {
  if ((statSync(walPath(path), { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const file = openSync(walPath(path), "r+");
  try {
    const buffer = Buffer.alloc(BYTES_PER_COPY);
    for (let at = 0; ; ) {
      const read = readSync(file, buffer, 0, buffer.length, at);
      if (read === 0) break;
      for (let done = 0; done < read; ) done += writeSync(file, buffer, done, read - done, at + done);
      at += read;
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Intact commits that SQLite cannot read because a frame before them is damaged. */
export type WalDamage = { readonly atByte: number; readonly unreadableCommits: number };

/**
 * Looks for commits after the first invalid frame of a write-ahead log. SQLite ignores everything from that
 * frame on. After a power failure these are the frames of the last commit, whose sync had not returned. A
 * commit that is followed by more frames had been synced, so it was lost by damage.
 */
export function findWalDamage(path: string): WalDamage | undefined {
  for (let attempt = 1; ; attempt += 1) {
    const header = readWalHeader(path);
    const damage = header === undefined ? undefined : scanFile(walPath(path), header).damage;
    if (damage === undefined) return undefined;
    // A server that uses the log may have restarted it during the scan.
    const isUnchanged = readWalHeader(path)?.equals(header as Buffer) === true;
    if (isUnchanged || attempt === MAX_ATTEMPTS) return isUnchanged ? damage : undefined;
  }
}

/** Up to where the log of a file is intact. */
export function intactWalBytes(path: string): number {
  const header = readWalHeader(path);
  return header === undefined ? 0 : scanFile(walPath(path), header).intactBytes;
}

function scanFile(path: string, header: Buffer): WalScan {
  const scan = new WalScan();
  scan.add(header);
  for (let offset = HEADER_BYTES; ; offset += BYTES_PER_READ) {
    const bytes = readAt(path, offset, BYTES_PER_READ);
    if (bytes !== undefined) scan.add(bytes);
    if (bytes === undefined || bytes.length < BYTES_PER_READ) return scan;
  }
}

type Checksum = readonly [number, number];
type FrameFormat = { readonly bytes: number; readonly salts: Buffer; readonly isBigEndian: boolean };

/** Looks for damage in a write-ahead log, which is added from its beginning on, in portions of any size. */
export class WalScan {
  /** `undefined` before the header, and for a header without valid frames. */
  #format: FrameFormat | undefined;
  #hasHeader = false;
  #previous: Checksum = [0, 0];
  /** The beginning of a frame, or of the header, whose end is missing. */
  #rest = Buffer.alloc(0);
  #offset = HEADER_BYTES;
  #firstInvalid: number | undefined;
  #commits = 0;
  #commitsWithSuccessor = 0;

  add(bytes: Uint8Array): void {
    let left = Buffer.concat([this.#rest, bytes]);
    if (!this.#hasHeader && left.length >= HEADER_BYTES) {
      this.#readHeader(left.subarray(0, HEADER_BYTES));
      left = left.subarray(HEADER_BYTES);
    }
    if (this.#hasHeader && this.#format === undefined) return;
    const { bytes: frameBytes = Number.POSITIVE_INFINITY } = this.#format ?? {};
    for (; left.length >= frameBytes; left = left.subarray(frameBytes))
      this.#readFrame(left.subarray(0, frameBytes), this.#format as FrameFormat);
    // A copy, so that the portion is not retained.
    this.#rest = Buffer.from(left);
  }

  get damage(): WalDamage | undefined {
    if (this.#firstInvalid === undefined || this.#commitsWithSuccessor === 0) return undefined;
    return { atByte: this.#firstInvalid, unreadableCommits: this.#commits };
  }

  /** Up to the first invalid frame. */
  get intactBytes(): number {
    if (this.#format === undefined) return 0;
    return this.#firstInvalid ?? this.#offset;
  }

  /** Without a valid header, the log does not state which frames are current. The head mark decides. */
  #readHeader(header: Buffer): void {
    this.#hasHeader = true;
    const magic = header.readUInt32BE(0);
    const isBigEndian = (magic & 1) === 1;
    const stored = storedChecksum(header, 24);
    if (
      (magic & ~1) >>> 0 !== MAGIC ||
      header.readUInt32BE(4) !== FORMAT_VERSION ||
      !isEqual(checksum(header.subarray(0, 24), [0, 0], isBigEndian), stored)
    )
      return;
    const pageSize = header.readUInt32BE(8);
    this.#format = {
      ...{ bytes: FRAME_HEADER_BYTES + pageSize, salts: Buffer.from(header.subarray(16, 24)), isBigEndian },
    };
    this.#previous = stored;
  }

  #readFrame(frame: Buffer, { bytes, salts, isBigEndian }: FrameFormat): void {
    const stored = storedChecksum(frame, 16);
    const own = checksum(
      frame.subarray(FRAME_HEADER_BYTES),
      checksum(frame.subarray(0, 8), this.#previous, isBigEndian),
      isBigEndian,
    );
    // The checksum continues that of the frame before, which states its own even if it is damaged.
    const isValid = frame.subarray(8, 16).equals(salts) && isEqual(own, stored);
    this.#previous = stored;
    if (!isValid) this.#firstInvalid ??= this.#offset;
    else if (this.#firstInvalid !== undefined) {
      this.#commitsWithSuccessor = this.#commits;
      if (frame.readUInt32BE(4) !== 0) this.#commits += 1;
    }
    this.#offset += bytes;
  }
}

function storedChecksum(bytes: Buffer, at: number): Checksum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function isEqual(one: Checksum, other: Checksum): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

function checksum(bytes: Buffer, [first, second]: Checksum, isBigEndian: boolean): Checksum {
  const isHostOrder = isBigEndian === (endianness() === "BE");
  // A copy, because a view of words must begin at a multiple of 4.
  const data = Buffer.from(bytes);
  if (!isHostOrder) data.swap32();
  const words = new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
  let [s0, s1] = [first, second];
  for (let index = 0; index < words.length; index += 2) {
    s0 = (s0 + (words[index] as number) + s1) >>> 0;
    s1 = (s1 + (words[index + 1] as number) + s0) >>> 0;
  }
  return [s0, s1];
}

/** Up to `length` bytes from `position` on; `undefined` if there are none or no file. */
function readAt(path: string, position: number, length: number): Buffer | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    const read = readSync(file, bytes, 0, length, position);
    return read === 0 ? undefined : bytes.subarray(0, read);
  } finally {
    closeSync(file);
  }
}
