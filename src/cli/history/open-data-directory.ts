import { resolve } from "node:path";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import { messageOf } from "../../kernel/message-of.ts";
import { isUserError } from "../../ports/user-error.ts";
import { DataDirectory, type DataDirectoryOptions } from "../../worlds/data-directory.ts";
import { DirectoryInUse } from "../../worlds/lock.ts";
import { CliError } from "../terminal/cli-error.ts";
import { refusedAccess } from "../terminal/file-problem.ts";

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
    const refused = refusedAccess(error);
    const advice = "change the owner of the directory, or use another --data directory";
    throw new CliError(
      `--data ${path}: cannot open the data directory: ${refused === undefined ? messageOf(error) : `${refused}; ${advice}`}`,
    );
  }
}
