import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { temporaryDirectory } from "../process/process.ts";
import { SMALL_BLOCKS } from "../store/small-blocks.ts";
import { createDouble, type Double, type DoubleOptions } from "./double.ts";

/** A double whose world is a SQLite file, and which can be restarted. */
export type FileDouble = {
  readonly path: string;
  /** The running double. */
  double(): Double;
  /** Closes the world and opens it again from its file. */
  reopen(): Promise<void>;
  /** Closes the world; returns the content of its tables, read from the file. */
  load(): Promise<ReturnType<typeof openStore>>;
  /** Stops it and removes the file. */
  end(): Promise<void>;
};

export async function createFileDouble(options: DoubleOptions = {}): Promise<FileDouble> {
  const directory = temporaryDirectory();
  const worlds = new DataDirectory(directory.path, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  const open = () => createDouble({ ...options, storage: worlds });
  let double = await open();
  const path = `${directory.path}/worlds/default.sqlite`;
  return {
    path,
    double: () => double,
    async reopen() {
      await double.close();
      double = await open();
    },
    async load() {
      await double.close();
      return openStore(path, { migrationsFolder: MIGRATIONS_FOLDER });
    },
    async end() {
      await double.close();
      worlds.release();
      directory.remove();
    },
  };
}
