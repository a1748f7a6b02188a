import { createHash, type Hash } from "node:crypto";
import { rmSync, utimesSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readStoredRows } from "../../platform/world/stored-rows.ts";
import { makeDirectory, moveIntoPlace, removeDatabase, temporaryPath } from "../../store/file/atomic-file.ts";
import { checkSchema } from "../../store/file/check-schema.ts";
import { type LoadedWorld, readLoadedWorld } from "../../store/file/loaded-world.ts";
import { type OpenOptions, openStore } from "../../store/file/open-world.ts";
import { WalScan, walPath } from "../../store/journal/wal-file.ts";
import type { SecretBox } from "../secret-box.ts";
import { ArrivingSecrets } from "./moving-secrets.ts";
import {
  LOG_PART,
  type MovedWorld,
  type MovingWorld,
  type PartName,
  type PartSum,
  type PreparedWorld,
  SNAPSHOT_PART,
} from "./world-move.ts";

/** Snapshots of one world, beside its file and its log. */
const MAX_PARTS = 1_000;
/** Growth that is allowed while a world is sent, because it is in service in the meantime. */
const MAX_GROWTH_BYTES = 1024 ** 3;

/** Paths in the data directory where a world arrives. */
export type ArrivalPlaces = {
  readonly world: string;
  readonly snapshot: (name: string) => string;
};

/** The world that arrived is not the one that was sent, or cannot be opened here. */
export class ArrivalRefused extends Error {
  override readonly name = "ArrivalRefused";
}

/** `file` is absent once the part is complete. */
type ReceivedPart = {
  readonly path: string;
  readonly hash: Hash;
  file: FileHandle | undefined;
  bytes: number;
};

/**
 * A world that another server sends. Its parts are written under temporary names, which the next start removes,
 * and move into place at once.
 */
export class Arrival {
  readonly historyId: string;
  readonly #places: ArrivalPlaces;
  readonly #parts = new Map<PartName, ReceivedPart>();
  readonly #secrets: ArrivingSecrets;
  readonly #logScan = new WalScan();
  readonly #migrationsFolder: string;
  /** Snapshots whose schema was checked to be the schema of a world. */
  readonly #checked = new Set<PartName>();
  readonly #maxBytes: number;
  #bytes = 0;
  #preparation: Promise<LoadedWorld | undefined> | undefined;
  /** Whether a part could not be written. */
  #isBroken = false;

  constructor(
    { historyId, sizeBytes }: MovingWorld,
    places: ArrivalPlaces,
    box: SecretBox,
    migrationsFolder: string,
  ) {
    this.historyId = historyId;
    this.#maxBytes = sizeBytes + MAX_GROWTH_BYTES;
    this.#migrationsFolder = migrationsFolder;
    this.#places = places;
    this.#secrets = new ArrivingSecrets(box);
    removeDatabase(temporaryPath(places.world));
  }

  /** Parts arrive from their beginning on, without gaps. */
  async write(name: PartName, offset: number, bytes: Uint8Array): Promise<void> {
    if (this.#bytes + bytes.length > this.#maxBytes)
      throw new ArrivalRefused("size_bytes: more arrives than was announced");
    const part = this.#parts.get(name) ?? (await this.#open(name));
    if (offset !== part.bytes)
      throw new ArrivalRefused(`offset: ${name} continues at byte ${part.bytes}, not at ${offset}`);
    if (part.file === undefined) throw new ArrivalRefused(`part: ${name} is complete already`);
    part.bytes += bytes.length;
    this.#bytes += bytes.length;
    part.hash.update(bytes);
    if (name === LOG_PART) this.#logScan.add(bytes);
    try {
      await part.file.write(bytes, 0, bytes.length, offset);
      // Now, while the world is in service elsewhere. At its end, all that arrived would have to reach the disk at once.
      await part.file.datasync();
    } catch (error) {
      // The checksum has bytes that the file may not have.
      this.#isBroken = true;
      throw error;
    }
  }

  /**
   * Checks the parts that are complete, and reads the world as far as its log has arrived. The world is still in
   * service elsewhere, so `complete` only has to read what follows. Returns the last event that has arrived.
   */
  async prepare({ parts, secrets }: PreparedWorld): Promise<number | undefined> {
    for (const part of parts) await this.#finishPart(part);
    for (const { name } of parts) {
      this.#checkSnapshot(name);
      await nextTurn();
    }
    await this.#secrets.seal(secrets);
    this.#preparation ??= readLoadedWorld(temporaryPath(this.#places.world), nextTurn);
    const loaded = await this.#preparation;
    if (loaded !== undefined) this.#checkHistory(loaded.historyId, this.historyId);
    return loaded?.head.seq;
  }

  /**
   * Checks what arrived, and puts it in place: the snapshots first, because the world refers to none of them. Returns
   * the world, for opening its file.
   */
  async complete(moved: MovedWorld): Promise<LoadedWorld> {
    const prepared = await this.#preparation?.catch(() => undefined);
    for (const part of moved.parts) await this.#finishPart(part);
    for (const part of this.#parts.values()) await closePart(part);
    const temporary = temporaryPath(this.#places.world);
    const { damage } = this.#logScan;
    if (damage !== undefined)
      throw new ArrivalRefused(`the write-ahead log is damaged at byte ${damage.atByte}`);
    for (const { name } of moved.parts) this.#checkSnapshot(name);
    // With its log, which may change the schema.
    checkSchema(temporary, this.#migrationsFolder);
    const options = { migrationsFolder: this.#migrationsFolder, loaded: prepared, isLogChecked: true };
    const loaded = this.#openAndSeal(temporary, options, moved);
    for (const { name, takenAt } of moved.parts) {
      if (!name.startsWith(SNAPSHOT_PART)) continue;
      const path = this.#pathOf(name);
      if (takenAt !== undefined) utimesSync(path, new Date(), new Date(takenAt));
      moveIntoPlace(path, this.#places.snapshot(name.slice(SNAPSHOT_PART.length)));
    }
    moveIntoPlace(temporary, this.#places.world);
    removeDatabase(temporary);
    this.#parts.clear();
    return loaded;
  }

  /** Removes what has arrived. */
  async discard(): Promise<void> {
    await this.#preparation?.catch(() => undefined);
    for (const { file, path } of this.#parts.values()) {
      await file?.close().catch(() => undefined);
      rmSync(path, { force: true });
    }
    this.#parts.clear();
    removeDatabase(temporaryPath(this.#places.world));
  }

  /** Opens the file as a server would, with its log, and encrypts the secrets with the key of this directory. */
  #openAndSeal(path: string, options: OpenOptions, moved: MovedWorld): LoadedWorld {
    const store = openStore(path, options);
    try {
      const { world, journal, clock, historyId } = store;
      this.#checkHistory(historyId, moved.historyId);
      const chain = journal.chainAt(world.seq);
      if (world.seq !== moved.seq || clock === undefined || chain === undefined)
        throw new ArrivalRefused(`the file ends at event ${world.seq}, not at event ${moved.seq}`);
      this.#secrets.replace(world, moved.secrets);
      const { settings, numbers, changes } = world;
      if (changes.list.length > 0)
        journal.write({
          ...{ events: [], changes: changes.list, settings, numbers },
          ...{ clock: clock.state, now: clock.now },
        });
      changes.clear();
      // Later, this connection is closed.
      while (!readStoredRows(world));
      world.hourlyUsage.read(Number.POSITIVE_INFINITY);
      return { world, historyId, head: { seq: world.seq, at: world.at, chain } };
    } finally {
      store.close();
    }
  }

  /** A snapshot is in place from now on, and a later restore opens it. */
  #checkSnapshot(name: PartName): void {
    const isKnown = !name.startsWith(SNAPSHOT_PART) || this.#checked.has(name) || !this.#parts.has(name);
    if (isKnown) return;
    checkSchema(this.#pathOf(name), this.#migrationsFolder);
    this.#checked.add(name);
  }

  #checkHistory(historyId: string, expected: string): void {
    if (historyId !== expected)
      throw new ArrivalRefused(`the file has history ${historyId}, not history ${expected}`);
  }

  /** Checks that a part is complete. No bytes can be added to it any more. */
  async #finishPart({ name, bytes, sha256 }: PartSum): Promise<void> {
    if (this.#isBroken) throw new ArrivalRefused("parts: one could not be written; begin again");
    const part = this.#parts.get(name);
    // An empty log is not sent.
    if (part === undefined && bytes === 0) return;
    if (part?.bytes !== bytes || part.hash.copy().digest("hex") !== sha256)
      throw new ArrivalRefused(`parts: ${name} did not arrive as it was sent`);
    await closePart(part);
  }

  async #open(name: PartName): Promise<ReceivedPart> {
    if (this.#parts.size >= MAX_PARTS) throw new ArrivalRefused(`parts: there are more than ${MAX_PARTS}`);
    const path = this.#pathOf(name);
    makeDirectory(dirname(path));
    const part: ReceivedPart = {
      ...{ path, file: await open(path, "w", 0o600), hash: createHash("sha256"), bytes: 0 },
    };
    this.#parts.set(name, part);
    return part;
  }

  #pathOf(name: PartName): string {
    const file = temporaryPath(this.#places.world);
    if (name === "file") return file;
    if (name === LOG_PART) return walPath(file);
    return temporaryPath(this.#places.snapshot(name.slice(SNAPSHOT_PART.length)));
  }
}

async function closePart(part: ReceivedPart): Promise<void> {
  const { file } = part;
  part.file = undefined;
  await file?.sync();
  await file?.close();
}
