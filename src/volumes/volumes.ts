import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";

/** The data of one branch on disk. */
export type Volume = {
  /** The directory of Postgres. It may not exist yet. */
  readonly dataDirectory: string;
  readonly exists: boolean;
  /** The content that was last applied to the cluster; `undefined` for a new one. */
  readAppliedContent(): unknown;
  writeAppliedContent(content: unknown): void;
};

/** A volume that exists, and the branch that it was created for. */
export type StoredVolume = {
  readonly historyId: string;
  readonly branchId: string;
  /** Sequence number of the event that created the branch; `undefined` if it was not known. */
  readonly branchSeq: number | undefined;
  readonly dataDirectory: string;
};

const DATA = "data";
const APPLIED_CONTENT = "content.json";
const BRANCH_SEQ = "branch-seq";
/** In the directory of a history: the relative path of the data directory whose worlds it belongs to. */
const OWNER = "owner";

/** Directories with the data of branches: `<root>/<history id>/<branch id>/`. */
export class Volumes {
  readonly root: string;
  readonly #owner: string;

  /** `dataDirectory` holds the worlds. Servers of several data directories may share the root. */
  constructor(root: string, dataDirectory: string) {
    this.root = resolve(root);
    // Relative, so that a data directory can be moved together with its volumes.
    this.#owner = relative(this.root, resolve(dataDirectory));
  }

  /**
   * The volume of a branch. A fork of a world has another history id, and so other volumes. A reset world gives
   * its ids again: what is stored for an earlier branch of the same id is deleted. No process may use it.
   */
  volume(historyId: string, branchId: string, branchSeq?: number): Volume {
    const directory = join(this.root, historyId, branchId);
    const seqFile = join(directory, BRANCH_SEQ);
    const storedSeq = readNumber(seqFile);
    if (storedSeq !== undefined && branchSeq !== undefined && storedSeq !== branchSeq)
      rmSync(directory, { recursive: true });
    mkdirSync(directory, { recursive: true, mode: 0o711 });
    if (branchSeq !== undefined && branchSeq !== storedSeq) writeFileSync(seqFile, String(branchSeq));
    const ownerFile = join(this.root, historyId, OWNER);
    if (!existsSync(ownerFile)) writeFileSync(ownerFile, this.#owner);
    const dataDirectory = this.dataDirectory(historyId, branchId);
    const contentFile = join(directory, APPLIED_CONTENT);
    return {
      dataDirectory,
      get exists() {
        return existsSync(dataDirectory);
      },
      readAppliedContent: () =>
        existsSync(contentFile) ? JSON.parse(readFileSync(contentFile, "utf8")) : undefined,
      writeAppliedContent: (content) => {
        const unfinished = `${contentFile}.unfinished`;
        writeFileSync(unfinished, JSON.stringify(content));
        renameSync(unfinished, contentFile);
      },
    };
  }

  dataDirectory(historyId: string, branchId: string): string {
    return join(this.root, historyId, branchId, DATA);
  }

  /** The volumes of the worlds of this data directory, in no particular order. */
  stored(): StoredVolume[] {
    return subdirectories(this.root)
      .filter((name) => !RESERVED.includes(name))
      .filter((historyId) => readText(join(this.root, historyId, OWNER)) === this.#owner)
      .flatMap((historyId) =>
        subdirectories(join(this.root, historyId)).map((branchId) => {
          const directory = join(this.root, historyId, branchId);
          return {
            historyId,
            branchId,
            branchSeq: readNumber(join(directory, BRANCH_SEQ)),
            dataDirectory: this.dataDirectory(historyId, branchId),
          };
        }),
      );
  }

  /** Deletes a volume that no process uses, and the directory of its history if it was the last one. */
  async remove({ historyId, branchId }: StoredVolume): Promise<void> {
    const history = join(this.root, historyId);
    await rm(join(history, branchId), { recursive: true, force: true });
    if (subdirectories(history).length > 0) return;
    await rm(join(history, OWNER), { force: true });
    // It stays if a volume was created meanwhile, whose owner is written again with its next use.
    await rmdir(history).catch(() => undefined);
  }

  /** The data directories of these volumes, if they exist. */
  dataDirectories(): string[] {
    return this.stored()
      .map(({ dataDirectory }) => dataDirectory)
      .filter((path) => existsSync(path));
  }

  /** Whether a Postgres process may use a data directory: it deletes this file when it stops. */
  mayHaveProcesses(): boolean {
    return this.dataDirectories().some((directory) => existsSync(join(directory, "postmaster.pid")));
  }
}

/** Directories in the root that are not histories: empty clusters, and files of the extension. */
export const TEMPLATES = "templates";
export const EXTENSION = "extension";
const RESERVED: readonly string[] = [TEMPLATES, EXTENSION];

function readText(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function readNumber(path: string): number | undefined {
  const text = readText(path);
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

function subdirectories(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
