import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import { openForReading, type ReadOnlyDatabase } from "../../store/file/open-read-only.ts";
import { asCorruptFile, CorruptFile } from "../../store/tables/checksum.ts";
import { NewerFile, NotAWorldFile } from "../../store/tables/format-version.ts";
import { CliError } from "../terminal/cli-error.ts";

/** The file that a user means by a data directory and a world's name, or by the file itself. */
export function worldDatabasePath(path: string, world: string): string {
  const resolved = resolve(path);
  if (!existsSync(resolved)) throw new CliError(`there is no ${resolved}`);
  if (!statSync(resolved).isDirectory()) return resolved;
  const file = join(resolved, "worlds", `${world}.sqlite`);
  if (!existsSync(file)) throw new CliError(`there is no world "${world}" in ${resolved}`);
  return file;
}

/** Looks at a world's file, served or not; what is wrong with it as a whole becomes an error for the user. */
export function openWorldDatabase(path: string): ReadOnlyDatabase {
  return wrapFileErrors(path, () => openForReading(path, MIGRATIONS_FOLDER));
}

export function wrapFileErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toFileError(path, error);
  }
}

/** A disk that is full, a directory that may not be written to. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "errno" in error && "syscall" in error;
}

export function toFileError(path: string, error: unknown): unknown {
  const corrupt = asCorruptFile(error);
  if (corrupt instanceof CorruptFile)
    return new CliError(`${path} is damaged, or no world's file: ${corrupt.message}`);
  if (error instanceof BetterSqlite3.SqliteError || isFileError(error))
    return new CliError(`${path}: ${error.message}`);
  if (error instanceof NewerFile || error instanceof NotAWorldFile)
    return new CliError(`${path} cannot be used: ${error.message}`);
  return error;
}
