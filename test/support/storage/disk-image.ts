import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One entry of a recording by `storage-shim.c`. */
export type DiskRecord =
  | {
      readonly kind: "open";
      readonly fd: number;
      readonly path: string;
      readonly isNew: boolean;
      readonly isEmptied: boolean;
    }
  | { readonly kind: "write"; readonly fd: number; readonly offset: number; readonly data: Buffer }
  | { readonly kind: "truncate"; readonly fd: number; readonly size: number }
  | { readonly kind: "sync"; readonly fd: number; readonly failed: boolean }
  | { readonly kind: "unlink" | "rmdir" | "mkdir"; readonly path: string }
  | { readonly kind: "rename" | "link"; readonly path: string; readonly to: string }
  | { readonly kind: "marker"; readonly number: number }
  | { readonly kind: "failure"; readonly call: string; readonly errno: number };

const HEAD_BYTES = 20;

export function readRecording(path: string): DiskRecord[] {
  const bytes = readFileSync(path);
  const records: DiskRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = String.fromCharCode(bytes[at] as number);
    const flag = bytes[at + 1] as number;
    const pathLength = bytes.readUInt16LE(at + 2);
    const fd = bytes.readInt32LE(at + 4);
    const number = Number(bytes.readBigUInt64LE(at + 8));
    const dataLength = bytes.readUInt32LE(at + 16);
    const pathAt = at + HEAD_BYTES;
    const path = bytes.toString("utf8", pathAt, pathAt + pathLength);
    const data = bytes.subarray(pathAt + pathLength, pathAt + pathLength + dataLength);
    at = pathAt + pathLength + dataLength;
    if (kind === "O")
      records.push({ kind: "open", fd, path, isNew: (flag & 1) !== 0, isEmptied: (flag & 2) !== 0 });
    else if (kind === "W") records.push({ kind: "write", fd, offset: number, data });
    else if (kind === "T") records.push({ kind: "truncate", fd, size: number });
    else if (kind === "S") records.push({ kind: "sync", fd, failed: flag !== 0 });
    else if (kind === "U" || kind === "D") records.push({ kind: kind === "U" ? "unlink" : "rmdir", path });
    else if (kind === "K") records.push({ kind: "mkdir", path });
    else if (kind === "R" || kind === "L")
      records.push({ kind: kind === "R" ? "rename" : "link", path, to: data.toString() });
    else if (kind === "M") records.push({ kind: "marker", number });
    else if (kind === "E") records.push({ kind: "failure", call: String.fromCharCode(flag), errno: number });
    else throw new Error(`the recording is damaged at byte ${at}`);
  }
  return records;
}

/** Returns a number from 0 up to, but not including, `below`. */
export type Draw = (below: number) => number;

type DataChange = { readonly offset: number; readonly data: Buffer } | { readonly size: number };
type NameChange = {
  /** A file, or a directory with everything in it. */
  readonly remove?: string;
  readonly add?: { readonly path: string; readonly file: Entry };
};

/** A directory exists while there is a name for it. Its own entries are names as well. */
const DIRECTORY = "directory";
type Entry = StoredFile | typeof DIRECTORY;
type Names = Map<string, Entry>;

const SECTOR_BYTES = 512;

/** Durable content of a file, and changes that may or may not be on disk, because they were not synced. */
class StoredFile {
  #durable: Buffer;
  #pending: DataChange[] = [];

  constructor(content: Buffer = Buffer.alloc(0)) {
    this.#durable = content;
  }

  change(change: DataChange): void {
    this.#pending.push(change);
  }

  sync(): void {
    for (const change of this.#pending) this.#durable = apply(this.#durable, change);
    this.#pending = [];
  }

  /**
   * After a failed sync the system counts its changes as written, though they may be on disk, torn or lost. A
   * later sync does not write them again.
   */
  failSync(draw: Draw): void {
    this.#durable = this.afterPowerCut(draw);
    this.#pending = [];
  }

  /** One of the contents that the disk may have after a power cut. */
  afterPowerCut(draw: Draw): Buffer {
    let content: Buffer = Buffer.from(this.#durable);
    const mode = draw(5);
    if (mode === 0) return content;
    let remaining = this.#pending;
    if (mode === 1) remaining = remaining.slice(0, draw(remaining.length + 1));
    for (const change of remaining) {
      const isLost = mode >= 3 && draw(2) === 0;
      if ("size" in change) {
        // Later writes use blocks that become free or are added by this change, so they are lost with it.
        if (isLost) return content;
        content = apply(content, change);
      } else if (isLost) {
        if (mode === 4) content = applyTorn(content, change, draw);
      } else content = apply(content, change);
    }
    return content;
  }
}

function apply(content: Buffer, change: DataChange): Buffer {
  if ("size" in change) return resize(content, change.size);
  const grown = resize(content, Math.max(content.length, change.offset + change.data.length));
  change.data.copy(grown, change.offset);
  return grown;
}

function resize(content: Buffer, size: number): Buffer {
  if (size <= content.length) return content.subarray(0, size);
  return Buffer.concat([content, Buffer.alloc(size - content.length)]);
}

/** Some sectors of the write are on disk. */
function applyTorn(content: Buffer, { offset, data }: { offset: number; data: Buffer }, draw: Draw): Buffer {
  let torn = content;
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, at + SECTOR_BYTES - ((offset + at) % SECTOR_BYTES));
    if (draw(2) === 0) torn = apply(torn, { offset: offset + at, data: data.subarray(at, end) });
    at = end;
  }
  return torn;
}

/** The disk below one directory, as a recording changes it. */
export class DiskModel {
  readonly #root: string;
  readonly #draw: Draw;
  /** Names as the process sees them, and as they are on disk for certain. */
  readonly #names: Names = new Map();
  readonly #durableNames: Names = new Map();
  #pendingNames: NameChange[] = [];
  readonly #open = new Map<number, StoredFile | { readonly directory: string }>();

  /** The directory as it is now is on disk. */
  constructor(root: string, draw: Draw) {
    this.#root = root;
    this.#draw = draw;
    for (const name of readdirSync(root, { recursive: true }) as string[]) {
      const path = join(root, name);
      const stats = statSync(path);
      if (path.endsWith("-shm")) continue;
      const entry = stats.isDirectory() ? DIRECTORY : new StoredFile(readFileSync(path));
      this.#names.set(path, entry);
      this.#durableNames.set(path, entry);
    }
  }

  add(record: DiskRecord): void {
    if (record.kind === "open") this.#addOpen(record);
    else if (record.kind === "write") this.#fileOf(record.fd)?.change(record);
    else if (record.kind === "truncate") this.#fileOf(record.fd)?.change(record);
    else if (record.kind === "sync") this.#addSync(record);
    else if (record.kind === "unlink" || record.kind === "rmdir") {
      this.#names.delete(record.path);
      this.#pendingNames.push({ remove: record.path });
    } else if (record.kind === "mkdir") {
      this.#names.set(record.path, DIRECTORY);
      this.#pendingNames.push({ add: { path: record.path, file: DIRECTORY } });
    } else if (record.kind === "rename" || record.kind === "link") {
      const file = this.#names.get(record.path);
      if (file === undefined) throw new Error(`${record.path} was renamed or linked, but never created`);
      this.#names.set(record.to, file);
      const add = { path: record.to, file };
      if (record.kind === "rename") this.#names.delete(record.path);
      this.#pendingNames.push(record.kind === "rename" ? { remove: record.path, add } : { add });
    }
  }

  /** Writes what the disk may contain after a power cut at this moment. */
  writeAfterPowerCut(target: string): void {
    const names = new Map(this.#durableNames);
    // File systems write changes of names in order, except for those that a sync of a directory has written.
    for (const change of this.#pendingNames.slice(0, this.#draw(this.#pendingNames.length + 1)))
      applyName(names, change);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(join(target, "worlds"), { recursive: true });
    const written = new Map<StoredFile, string>();
    for (const [path, file] of names) {
      // The entry of a directory above it is not on disk.
      if (this.#above(path).some((directory) => names.get(directory) !== DIRECTORY)) continue;
      const copy = join(target, path.slice(this.#root.length));
      if (file === DIRECTORY) {
        mkdirSync(copy, { recursive: true });
        continue;
      }
      mkdirSync(dirname(copy), { recursive: true });
      const linked = written.get(file);
      if (linked === undefined) writeFileSync(copy, file.afterPowerCut(this.#draw));
      else linkSync(linked, copy);
      written.set(file, copy);
    }
  }

  /** The directories below the root that a path leads through. */
  #above(path: string): string[] {
    const above: string[] = [];
    for (let at = dirname(path); at.length > this.#root.length; at = dirname(at)) above.push(at);
    return above;
  }

  #addOpen({ fd, path, isNew, isEmptied }: DiskRecord & { kind: "open" }): void {
    let file = this.#names.get(path);
    if (isNew) {
      file = new StoredFile();
      this.#names.set(path, file);
      this.#pendingNames.push({ add: { path, file } });
    } else if (isEmptied && file instanceof StoredFile) file.change({ size: 0 });
    this.#open.set(fd, file instanceof StoredFile ? file : { directory: path });
  }

  #addSync({ fd, failed }: DiskRecord & { kind: "sync" }): void {
    const file = this.#open.get(fd);
    if (file instanceof StoredFile) {
      if (failed) file.failSync(this.#draw);
      else file.sync();
    } else if (file !== undefined && !failed) {
      // Names in other directories may still be lost.
      const isHere = (change: NameChange) => dirname(pathOf(change)) === file.directory;
      // A directory that was removed, and then created again, is another one: only this one was synced.
      const isFormer = ({ remove = "", add }: NameChange) =>
        add === undefined && remove !== "" && `${file.directory}/`.startsWith(`${remove}/`);
      const remaining: NameChange[] = [];
      for (const change of this.#pendingNames)
        if (isHere(change) || isFormer(change)) {
          applyName(this.#durableNames, change);
          removeBelow(remaining, change.remove);
        } else remaining.push(change);
      this.#pendingNames = remaining;
    }
  }

  #fileOf(fd: number): StoredFile | undefined {
    const file = this.#open.get(fd);
    return file instanceof StoredFile ? file : undefined;
  }
}

function pathOf({ remove, add }: NameChange): string {
  return add?.path ?? remove ?? "";
}

/** Removes pending changes in a directory that is durably removed. */
function removeBelow(changes: NameChange[], folder: string | undefined): void {
  const others = changes.filter((change) => folder === undefined || !pathOf(change).startsWith(`${folder}/`));
  changes.splice(0, changes.length, ...others);
}

function applyName(names: Names, { remove, add }: NameChange): void {
  if (remove !== undefined)
    for (const name of [...names.keys()])
      if (name === remove || name.startsWith(`${remove}/`)) names.delete(name);
  if (add !== undefined) names.set(add.path, add.file);
}
