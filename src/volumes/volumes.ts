import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { Marks } from "./marks.ts";

/** The data of one branch on disk: a base that never changes, the log since then, and the current state. */
export type Volume = {
  /** `<history id>/<name>`. Never used again, also after the volume is deleted. */
  readonly id: string;
  /** The current state, which Postgres works on. */
  readonly dataDirectory: string;
  /** Completed segments of the log since the base, also of the time before the volume was created. */
  readonly logDirectory: string;
  /** Absolute path of the cluster that the log begins with. */
  readonly base: string;
  /** The position at which the volume began to differ from others; absent: that of its base. */
  readonly origin?: string;
  readonly marks: Marks;
  /** An engine has been started on it, and its last mark may be older than its current state. */
  isOpen(): boolean;
  setOpen(isOpen: boolean): void;
};

/** What `create` fills in. */
export type NewVolume = Pick<Volume, "dataDirectory" | "logDirectory">;
export type VolumeOrigin = { readonly base: string; readonly origin?: string | undefined };

const DATA = "data";
const LOG = "wal";
const MARKS = "marks";
const OPEN = "open";
const ORIGIN = "origin.json";
const UNFINISHED = ".unfinished";
/** In the directory of a history: the relative path of the data directory whose worlds it belongs to. */
const OWNER = "owner";

/** Directories with the data of branches: `<root>/<history id>/<name>/`. */
export class Volumes {
  readonly root: string;
  readonly #owner: string;
  readonly #open = new Map<string, Volume>();
  /** Volumes that no world refers to yet, or that are being copied. */
  readonly #pins = new Map<string, number>();

  /** `dataDirectory` holds the worlds. Servers of several data directories may share the root. */
  constructor(root: string, dataDirectory: string) {
    this.root = resolve(root);
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
    return existsSync(join(this.root, id, ORIGIN));
  }

  /** The volume exists when this resolves, or not at all. It is pinned until `release` is called. */
  async create(
    historyId: string,
    branchId: string,
    fill: (volume: NewVolume) => Promise<VolumeOrigin>,
  ): Promise<{ readonly volume: Volume; readonly release: () => void }> {
    const id = `${historyId}/${branchId}-${randomBytes(4).toString("hex")}`;
    const directory = join(this.root, id);
    const release = this.pin(id);
    try {
      mkdirSync(join(directory, LOG), { recursive: true, mode: 0o711 });
      const ownerFile = join(this.root, historyId, OWNER);
      if (!existsSync(ownerFile)) writeFileSync(ownerFile, this.#owner);
      const { base, origin } = await fill({
        dataDirectory: join(directory, DATA),
        logDirectory: join(directory, LOG),
      });
      this.#writeOrigin(id, base, origin);
      return { volume: this.volume(id), release };
    } catch (error) {
      rmSync(directory, { recursive: true, force: true });
      release();
      throw error;
    }
  }

  /** The volume differs from others from this position on only. */
  setOrigin(id: string, origin: string): Volume {
    this.#writeOrigin(id, this.volume(id).base, origin);
    this.#open.delete(id);
    return this.volume(id);
  }

  /** Prevents that a volume is removed until the returned function is called. */
  pin(id: string): () => void {
    this.#pins.set(id, (this.#pins.get(id) ?? 0) + 1);
    let isPinned = true;
    return () => {
      if (!isPinned) return;
      isPinned = false;
      const others = (this.#pins.get(id) ?? 1) - 1;
      if (others === 0) this.#pins.delete(id);
      else this.#pins.set(id, others);
    };
  }

  /** The volumes of the worlds of this data directory, also unfinished ones, in no particular order. */
  stored(): string[] {
    return subdirectories(this.root)
      .filter((name) => !RESERVED.includes(name))
      .filter((historyId) => readText(join(this.root, historyId, OWNER)) === this.#owner)
      .flatMap((historyId) =>
        subdirectories(join(this.root, historyId)).map((name) => `${historyId}/${name}`),
      );
  }

  /** The clusters that the volumes of all servers with this root begin with. */
  bases(): ReadonlySet<string> {
    const ids = subdirectories(this.root)
      .filter((name) => !RESERVED.includes(name))
      .flatMap((historyId) =>
        subdirectories(join(this.root, historyId)).map((name) => `${historyId}/${name}`),
      );
    return new Set(ids.filter((id) => this.has(id)).map((id) => this.#read(id).base));
  }

  isPinned(id: string): boolean {
    return this.#pins.has(id);
  }

  dataDirectory(id: string): string {
    return join(this.root, id, DATA);
  }

  /** Deletes a volume that no process uses, and the directory of its history if it was the last one. */
  async remove(id: string): Promise<void> {
    this.#open.delete(id);
    const directory = join(this.root, id);
    const history = join(directory, "..");
    await rm(directory, { recursive: true, force: true });
    if (subdirectories(history).length > 0) return;
    await rm(join(history, OWNER), { force: true });
    // It stays if a volume was created meanwhile, whose owner is written again with its next use.
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

  #writeOrigin(id: string, base: string, origin: string | undefined): void {
    const file = join(this.root, id, ORIGIN);
    writeFileSync(`${file}${UNFINISHED}`, JSON.stringify({ base: relative(this.root, base), origin }));
    renameSync(`${file}${UNFINISHED}`, file);
  }

  #read(id: string): Volume {
    const directory = join(this.root, id);
    const text = readText(join(directory, ORIGIN));
    if (text === undefined) throw new MissingVolume(`the data in ${directory} is missing`);
    const { base, origin } = JSON.parse(text) as { base: string; origin?: string };
    return {
      id,
      dataDirectory: join(directory, DATA),
      logDirectory: join(directory, LOG),
      base: resolve(this.root, base),
      ...(origin === undefined ? {} : { origin }),
      marks: new Marks(join(directory, MARKS)),
      isOpen: () => existsSync(join(directory, OPEN)),
      setOpen(isOpen) {
        if (isOpen) writeFileSync(join(directory, OPEN), "");
        else rmSync(join(directory, OPEN), { force: true });
      },
    };
  }
}

/** A world refers to data that was deleted. */
export class MissingVolume extends Error {
  override readonly name = "MissingVolume";
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
