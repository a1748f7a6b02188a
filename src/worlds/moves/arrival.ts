import { createHash, type Hash } from "node:crypto";
import { rmSync, utimesSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { Simulation } from "../../simulation/simulation.ts";
import { makeDirectory, moveIntoPlace, removeDatabase, temporaryPath } from "../../store/file/atomic-file.ts";
import { openStore } from "../../store/file/open-world.ts";
import type { SecretBox } from "../secret-box.ts";
import { type MovedWorld, type PartName, SNAPSHOT_PART } from "./world-move.ts";

/** Paths in the data directory where a world arrives. */
export type ArrivalPlaces = {
  readonly world: string;
  readonly snapshot: (name: string) => string;
};

/** The world that arrived is not the one that was sent, or cannot be opened here. */
export class ArrivalRefused extends Error {
  override readonly name = "ArrivalRefused";
}

type ReceivedPart = { readonly path: string; readonly file: FileHandle; readonly hash: Hash; bytes: number };

/**
 * A world that another server sends. Its parts are written under temporary names, which the next start removes,
 * and move into place at once.
 */
export class Arrival {
  readonly historyId: string;
  readonly #places: ArrivalPlaces;
  readonly #parts = new Map<PartName, ReceivedPart>();

  constructor(historyId: string, places: ArrivalPlaces) {
    this.historyId = historyId;
    this.#places = places;
    removeDatabase(temporaryPath(places.world));
  }

  /** Parts arrive from their beginning on, without gaps. */
  async write(name: PartName, offset: number, bytes: Uint8Array): Promise<void> {
    const part = this.#parts.get(name) ?? (await this.#open(name));
    if (offset !== part.bytes)
      throw new ArrivalRefused(`offset: ${name} continues at byte ${part.bytes}, not at ${offset}`);
    part.bytes += bytes.length;
    part.hash.update(bytes);
    await part.file.write(bytes, 0, bytes.length, offset);
    // Now, while the world is in service elsewhere. At its end, all that arrived would have to reach the disk at once.
    await part.file.datasync();
  }

  /** Checks what arrived, and puts it in place: the snapshots first, because the world refers to none of them. */
  async complete(moved: MovedWorld, migrationsFolder: string, box: SecretBox): Promise<void> {
    for (const { name, bytes, sha256 } of moved.parts) {
      const part = this.#parts.get(name);
      // An empty log is not sent.
      if (part === undefined && bytes === 0) continue;
      if (part?.bytes !== bytes || part.hash.copy().digest("hex") !== sha256)
        throw new ArrivalRefused(`parts: ${name} did not arrive as it was sent`);
    }
    for (const { file } of this.#parts.values()) {
      await file.sync();
      await file.close();
    }
    const temporary = temporaryPath(this.#places.world);
    this.#openAndSeal(temporary, moved, migrationsFolder, box);
    for (const { name, takenAt } of moved.parts) {
      if (!name.startsWith(SNAPSHOT_PART)) continue;
      const path = this.#pathOf(name);
      if (takenAt !== undefined) utimesSync(path, new Date(), new Date(takenAt));
      moveIntoPlace(path, this.#places.snapshot(name.slice(SNAPSHOT_PART.length)));
    }
    moveIntoPlace(temporary, this.#places.world);
    removeDatabase(temporary);
    this.#parts.clear();
  }

  /** Removes what has arrived. */
  async discard(): Promise<void> {
    for (const { file, path } of this.#parts.values()) {
      await file.close().catch(() => undefined);
      rmSync(path, { force: true });
    }
    this.#parts.clear();
    removeDatabase(temporaryPath(this.#places.world));
  }

  /** Opens the file as a server would, with its log, and encrypts the secrets with the key of this directory. */
  #openAndSeal(path: string, moved: MovedWorld, migrationsFolder: string, box: SecretBox): void {
    const store = openStore(path, { migrationsFolder });
    try {
      const { world, journal, clock, historyId } = store;
      if (historyId !== moved.historyId || world.seq !== moved.seq || clock === undefined)
        throw new ArrivalRefused(
          `the file ends at event ${world.seq} of history ${historyId}, not at event ${moved.seq} of history ${moved.historyId}`,
        );
      for (const { id, value } of moved.secrets) world.secrets.set({ id, value: box.seal(id, value) });
      const simulation = new Simulation(world, journal);
      if (simulation.hasUncommittedRows) simulation.commit(clock.state, clock.now);
    } finally {
      store.close();
    }
  }

  async #open(name: PartName): Promise<ReceivedPart> {
    const path = this.#pathOf(name);
    makeDirectory(dirname(path));
    const part = { path, file: await open(path, "w", 0o600), hash: createHash("sha256"), bytes: 0 };
    this.#parts.set(name, part);
    return part;
  }

  #pathOf(name: PartName): string {
    const file = temporaryPath(this.#places.world);
    if (name === "file") return file;
    if (name === "log") return `${file}-wal`;
    return temporaryPath(this.#places.snapshot(name.slice(SNAPSHOT_PART.length)));
  }
}
