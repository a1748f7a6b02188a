import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The data of one branch on disk. */
export type Volume = {
  /** The directory of Postgres. It may not exist yet. */
  readonly dataDirectory: string;
  readonly exists: boolean;
  /** The content that was last applied to the cluster; `undefined` for a new one. */
  readAppliedContent(): unknown;
  writeAppliedContent(content: unknown): void;
};

const DATA = "data";
const APPLIED_CONTENT = "content.json";

/** Directories with the data of branches: `<root>/<history id>/<branch id>/`. */
export class Volumes {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** The volume of a branch. A fork of a world has another history id, and so other volumes. */
  volume(historyId: string, branchId: string): Volume {
    const directory = join(this.root, historyId, branchId);
    mkdirSync(directory, { recursive: true, mode: 0o711 });
    const dataDirectory = join(directory, DATA);
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

  /** All data directories, in no particular order. */
  dataDirectories(): string[] {
    return this.#branches()
      .map((directory) => join(directory, DATA))
      .filter((path) => existsSync(path));
  }

  /** Whether a Postgres process may use a data directory: it deletes this file when it stops. */
  mayHaveProcesses(): boolean {
    return this.dataDirectories().some((directory) => existsSync(join(directory, "postmaster.pid")));
  }

  #branches(): string[] {
    return subdirectories(this.root)
      .filter((name) => !RESERVED.includes(name))
      .flatMap((historyId) =>
        subdirectories(join(this.root, historyId)).map((branchId) => join(this.root, historyId, branchId)),
      );
  }
}

/** Directories in the root that are not histories: empty clusters, and files of the extension. */
export const TEMPLATES = "templates";
export const EXTENSION = "extension";
const RESERVED: readonly string[] = [TEMPLATES, EXTENSION];

function subdirectories(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
