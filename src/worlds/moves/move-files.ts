import { statSync } from "node:fs";
import type { World } from "../../platform/world/world.ts";
import type { LoadedWorld } from "../../store/file/loaded-world.ts";
import type { Store } from "../../store/file/open-world.ts";
import { walPath } from "../../store/journal/wal-file.ts";
import { databasesIn, snapshotFilePath, snapshotFolder, worldFilePath } from "../directory-layout.ts";
import type { SecretBox } from "../secret-box.ts";
import { Arrival } from "./arrival.ts";
import { Departure } from "./departure.ts";
import { MoveMarks } from "./move-marks.ts";
import { DepartingSecrets } from "./moving-secrets.ts";
import { type MoveDestination, type MovedWorld, type MovingWorld, SNAPSHOT_PART } from "./world-move.ts";

type MoveFilesOptions = {
  readonly migrationsFolder: string;
  readonly secretBox: SecretBox;
  readonly openStore: (world: string) => Store | undefined;
};

type SendOptions = {
  readonly destination: MoveDestination;
  readonly signal: AbortSignal;
  readonly secrets: DepartingSecrets;
  readonly onStart: (departure: Departure) => void;
  readonly finish: (departure: Departure) => Promise<void>;
};

/** The files of a data directory that moves of worlds read and write. */
export class MoveFiles {
  readonly marks: MoveMarks;
  readonly #directory: string;
  readonly #options: MoveFilesOptions;
  readonly #arrived = new Map<string, LoadedWorld>();

  constructor(directory: string, options: MoveFilesOptions) {
    this.#directory = directory;
    this.#options = options;
    this.marks = new MoveMarks(directory);
  }

  /** Size of the world's file with its snapshots, in bytes. */
  sizeOf(world: string): number {
    return [worldFilePath(this.#directory, world), ...this.#snapshots(world).map(({ path }) => path)]
      .map((path) => statSync(path).size)
      .reduce((sum, size) => sum + size, 0);
  }

  /**
   * Sends the file of an open world and its snapshots, and most of its log, to the destination, which reads them.
   * `finish` then closes the world and completes the departure.
   */
  async send(world: string, { destination, signal, secrets, onStart, finish }: SendOptions): Promise<void> {
    const store = this.#options.openStore(world);
    if (store === undefined) throw new Error(`world "${world}" is not open`);
    const path = worldFilePath(this.#directory, world);
    await store.whilePinned(async () => {
      const departure = new Departure(destination, walPath(path), signal);
      onStart(departure);
      try {
        await departure.sendFile("file", path);
        for (const { name, path: snapshot } of this.#snapshots(world))
          await departure.sendFile(`${SNAPSHOT_PART}${name}`, snapshot, statSync(snapshot).mtimeMs);
        await departure.sendGrowingLog();
        await departure.prepareDestination(await secrets.readAll());
        // Sends the commits of the meantime.
        await departure.sendGrowingLog();
        await finish(departure);
      } finally {
        await departure.close();
      }
    });
  }

  secretsOf(world: World): DepartingSecrets {
    return new DepartingSecrets(world, this.#options.secretBox);
  }

  receive(world: string, moving: MovingWorld): Arrival {
    const places = {
      world: worldFilePath(this.#directory, world),
      snapshot: (name: string) => snapshotFilePath(this.#directory, world, name),
    };
    return new Arrival(moving, places, this.#options.secretBox, this.#options.migrationsFolder);
  }

  async complete(world: string, arrival: Arrival, moved: MovedWorld): Promise<void> {
    this.#arrived.set(world, await arrival.complete(moved));
    this.marks.delete(world);
  }

  /** For `takeArrived`. */
  keepLoaded(world: string, loaded: LoadedWorld): void {
    this.#arrived.set(world, loaded);
  }

  /** The world that has just arrived or was restored, for the first opening of its file. */
  takeArrived(world: string): LoadedWorld | undefined {
    const loaded = this.#arrived.get(world);
    this.#arrived.delete(world);
    return loaded;
  }

  #snapshots(world: string): { readonly name: string; readonly path: string }[] {
    const names = databasesIn(snapshotFolder(this.#directory, world));
    return names.map((name) => ({ name, path: snapshotFilePath(this.#directory, world, name) }));
  }
}
