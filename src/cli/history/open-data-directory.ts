import { resolve } from "node:path";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import { isUserError } from "../../ports/user-error.ts";
import { DataDirectory, type DataDirectoryOptions } from "../../worlds/data-directory.ts";
import { DirectoryInUse } from "../../worlds/lock.ts";
import { CliError } from "../terminal/cli-error.ts";

/** Opens a data directory, or creates it. Every failure becomes an error for the user. */
export function openDataDirectory(path: string, options: DataDirectoryOptions = {}): DataDirectory {
  try {
    return new DataDirectory(resolve(path), MIGRATIONS_FOLDER, options);
  } catch (error) {
    if (error instanceof DirectoryInUse) throw new CliError(error.message);
    if (isUserError(error)) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR" || code === "EEXIST")
      throw new CliError(`--data: expected a directory, but ${path} is a file or is below one`, true);
    throw new CliError(
      `--data ${path}: cannot open the data directory: ${error instanceof Error ? error.message : error}`,
    );
  }
}
