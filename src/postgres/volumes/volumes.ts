import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { replaceDurably, syncPath, syncTree } from "./durable-files.ts";
import { Marks } from "./marks.ts";
import type { NewVolume, Scratch, Volume, VolumeBase, VolumeOrigin } from "./volume.ts";
import { VolumeOrigins } from "./volume-origins.ts";
import { VolumePins } from "./volume-pins.ts";
import { VolumeUsage } from "./volume-usage.ts";

const DATA = "data";
const LOG = "wal";
const MARKS = "marks";
const OPEN = "open";
/** How the names of directories begin that volumes begin with. */
export const BASE = "base";
/** Name of the file in the directory of a history with the relative path of the data directory of its worlds. */
const OWNER = "owner";

/** Directories with the data of branches: `<root>/<history id>/<name>/`. */
export class Volumes {
  readonly root: string;
  readonly usage: VolumeUsage;
  readonly #owner: string;
  readonly #open = new Map<string, Volume>();
  readonly #origins: VolumeOrigins;
  readonly #durableBases = new Set<string>();
  /** Volumes that are open, also after a power failure. */
  readonly #durablyOpen = new Set<string>();
  /** Volumes that no world refers to yet, or that are being copied. */
  readonly #pins = new VolumePins();

  /** `dataDirectory` holds the worlds. Servers of several data directories may share the root. */
  constructor(root: string, dataDirectory: string) {
    this.root = resolve(root);
    this.usage = new VolumeUsage(this.root);
    this.#origins = new VolumeOrigins(this.root);
    // Relative, so that a data directory can be moved together with its volumes.
    this.#owner = relative(this.root, resolve(dataDirectory));
  }

  /** Throws if there is no such volume. */
  volume(id: string): Volume {
    let volume = this.#open.get(id);
    if (volume === undefined) {
      volume = this.#read(id);
      this.#open.set(id, volume);
    }
    return volume;
  }

  has(id: string): boolean {
    return this.#origins.has(id);
  }

  /**
   * The volume exists when this resolves, also after a power failure, or not at all. It is pinned until
   * `release` is called.
   */
  async create(
    historyId: string,
    branchId: string,
    fill: (volume: NewVolume) => Promise<VolumeOrigin>,
  ): Promise<{ readonly volume: Volume; readonly release: () => void }> {
    const { created: volume, release } = await this.#createDirectory(historyId, branchId, async (id) => {
      const directory = join(this.root, id);
      const logDirectory = join(directory, LOG);
      mkdirSync(logDirectory, { mode: 0o711 });
      this.#origins.write(id, await fill({ dataDirectory: join(directory, DATA), logDirectory }));
      await this.makeDurable(id);
      return this.volume(id);
    });
    return { volume, release };
  }

  /** A directory for a base: it is used while a volume has the base, or until `release` is called. */
  async createBase(
    historyId: string,
    fill: (path: string) => Promise<void>,
  ): Promise<{ readonly path: string; readonly release: () => void }> {
    const { created: path, release } = await this.#createDirectory(historyId, BASE, async (id) => {
      await fill(this.dataDirectory(id));
      await this.makeDurable(id);
      return this.dataDirectory(id);
    });
    return { path, release };
  }

  /** Creates a temporary cluster. It exists until it is removed, or until the next server removes unused volumes. */
  async createScratch(
    historyId: string,
    prefix: string,
    fill: (scratch: NewVolume) => Promise<void>,
  ): Promise<Scratch> {
    const { created, release } = await this.#createDirectory(historyId, prefix, async (id) => {
      const scratch = { dataDirectory: this.dataDirectory(id), logDirectory: join(this.root, id, LOG) };
      await fill(scratch);
      this.usage.begin(id);
      return { id, ...scratch };
    });
    return {
      dataDirectory: created.dataDirectory,
      remove: () => this.remove(created.id).finally(release),
    };
  }

  /**
   * Syncs a volume, with the names that lead to it. A world may refer to it afterwards: Postgres syncs only what it
   * writes itself, not the files of the copy that it begins with.
   */
  async makeDurable(id: string): Promise<void> {
    const directory = join(this.root, id);
    await syncTree(directory);
    for (const parent of [dirname(directory), this.root, dirname(this.root)]) syncPath(parent);
  }

  /** Syncs an empty cluster from which other clusters are copied, and the names that lead to it. */
  async makeBaseDurable(path: string): Promise<void> {
    if (this.#durableBases.has(path)) return;
    await syncTree(path);
    for (const parent of [dirname(path), dirname(dirname(path))]) syncPath(parent);
    this.#durableBases.add(path);
  }

  /** The stored directories that the volume cannot do without. */
  directoriesOf(id: string): string[] {
    const bases = this.has(id) ? this.volume(id).bases : [];
    return [id, ...bases.map(({ path }) => relative(this.root, join(path, "..")))];
  }

  setBases(id: string, bases: readonly VolumeBase[]): void {
    this.#origins.write(id, { bases, origin: this.volume(id).origin });
  }

  async #createDirectory<T>(
    historyId: string,
    prefix: string,
    fill: (id: string) => Promise<T>,
  ): Promise<{ readonly created: T; readonly release: () => void }> {
    const id = `${historyId}/${prefix}-${randomBytes(4).toString("hex")}`;
    const directory = join(this.root, id);
    const release = this.pin(id);
    try {
      // First: a directory without an owner would never be removed.
      this.own(historyId);
      mkdirSync(directory, { mode: 0o711 });
      return { created: await fill(id), release };
    } catch (error) {
      rmSync(directory, { recursive: true, force: true });
      release();
      throw error;
    }
  }

  /** The worlds of this data directory refer to the volumes of this history. */
  own(historyId: string): void {
    const history = join(this.root, historyId);
    const ownerFile = join(history, OWNER);
    mkdirSync(history, { recursive: true, mode: 0o711 });
    if (!existsSync(ownerFile)) replaceDurably(ownerFile, this.#owner);
  }

  /** Prevents a volume from being removed until the returned function is called. */
  pin(id: string): () => void {
    return this.#pins.pin(id);
  }

  isPinned(id: string): boolean {
    return this.#pins.isPinned(id);
  }

  /** Resolves when the volume is not pinned. */
  whenReleased(id: string): Promise<void> {
    return this.#pins.whenReleased(id);
  }

  /** The volumes of the worlds of this data directory, also unfinished ones, in no particular order. */
  stored(): string[] {
    return this.#histories()
      .filter((historyId) => readText(join(this.root, historyId, OWNER)) === this.#owner)
      .flatMap((historyId) => this.#idsIn(historyId));
  }

  /** The clusters that the volumes of all servers with this root begin with. */
  bases(): ReadonlySet<string> {
    const ids = this.#histories().flatMap((historyId) => this.#idsIn(historyId));
    return new Set(
      ids.filter((id) => this.has(id)).flatMap((id) => this.#origins.read(id).bases.map(({ path }) => path)),
    );
  }

  #histories(): string[] {
    return subdirectories(this.root).filter((name) => !RESERVED.includes(name));
  }

  #idsIn(historyId: string): string[] {
    return subdirectories(join(this.root, historyId)).map((name) => `${historyId}/${name}`);
  }

  dataDirectory(id: string): string {
    return join(this.root, id, DATA);
  }

  /** Deletes a volume that no process uses, and the directory of its history if it was the last one. */
  async remove(id: string): Promise<void> {
    this.#open.delete(id);
    this.#origins.forget(id);
    this.#durablyOpen.delete(id);
    const directory = join(this.root, id);
    const history = join(directory, "..");
    this.usage.beginRemoval(id);
    try {
      await rm(directory, { recursive: true, force: true });
    } finally {
      this.usage.endRemoval(id);
    }
    if (subdirectories(history).length > 0) return;
    await rm(join(history, OWNER), { force: true });
    // The directory stays if a volume was created in the meantime. Its next use writes the owner again.
    await rmdir(history).catch(() => undefined);
  }

  /** The data directories of these volumes, if they exist. */
  dataDirectories(): string[] {
    return this.stored()
      .map((id) => this.dataDirectory(id))
      .filter((path) => existsSync(path));
  }

  /** Whether a Postgres process may use a data directory: it deletes this file when it stops. */
  mayHaveProcesses(): boolean {
    return this.dataDirectories().some((directory) => existsSync(join(directory, "postmaster.pid")));
  }

  #read(id: string): Volume {
    const directory = join(this.root, id);
    const origin = this.#origins.open(id);
    return {
      id,
      dataDirectory: join(directory, DATA),
      logDirectory: join(directory, LOG),
      get bases() {
        return origin().bases;
      },
      get origin() {
        return origin().origin;
      },
      marks: new Marks(join(directory, MARKS)),
      isOpen: () => existsSync(join(directory, OPEN)),
      setOpen: (isOpen) => {
        const file = join(directory, OPEN);
        if (!isOpen) {
          this.#durablyOpen.delete(id);
          rmSync(file, { force: true });
        } else if (!this.#durablyOpen.has(id)) {
          writeFileSync(file, "");
          // Before the first row: without it, the last mark would count as the end of the data.
          syncPath(directory);
          this.#durablyOpen.add(id);
        }
      },
    };
  }
}

/** Directories in the root that are not histories: empty clusters, and files of the extension. */
export const TEMPLATES = "templates";
export const EXTENSION = "extension";
const RESERVED: readonly string[] = [TEMPLATES, EXTENSION];

function readText(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function subdirectories(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
