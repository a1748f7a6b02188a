import { type Stats, statSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import { openForReading, type ReadOnlyDatabase } from "../../store/file/open-read-only.ts";
import { readWorldRow, type WorldRow } from "../../store/file/read-world.ts";
import { SqliteJournal } from "../../store/journal/sqlite-journal.ts";
import { NewerFile, NotAWorldFile } from "../../store/tables/format-version.ts";
import { asCorruptFile, CorruptFile } from "../../store/tables/journal-checksum.ts";
import { DEFAULT_DATA } from "../../worlds/directory-layout.ts";
import { CliError } from "../terminal/cli-error.ts";
import { refusedAccess } from "../terminal/file-problem.ts";

const ADVICE = "; create it with: standin serve, or name another directory with --data";

/** The SQLite file of a world, given its data directory and name, or the file itself. */
export function worldDatabasePath(path: string, world: string): string {
  const stats = statsOf(path);
  if (stats === undefined) throw new CliError(`${path} does not exist${path === DEFAULT_DATA ? ADVICE : ""}`);
  if (!stats.isDirectory()) return path;
  const file = join(path, "worlds", `${world}.sqlite`);
  if (statsOf(file) === undefined) throw new CliError(`${path} has no world "${world}"`);
  return file;
}

/** `undefined` if there is no such file. Throws a `CliError` if a directory above it cannot be searched. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw toFileError(path, error);
  }
}

/**
 * Opens a world's file for reading, even while a server uses it. Unusable files become errors for the user.
 */
export function openWorldDatabase(path: string): ReadOnlyDatabase {
  return wrapFileErrors(path, () => openForReading(path, MIGRATIONS_FOLDER));
}

/** The history in a world's file. Throws a `CliError` if the world has not been created yet. */
export function openWorldJournal(
  { sqlite }: ReadOnlyDatabase,
  file: string,
): { readonly row: WorldRow; readonly journal: SqliteJournal } {
  const row = readWorldRow(sqlite);
  if (row === undefined) throw new CliError(`${file} contains no world`);
  return { row, journal: new SqliteJournal(sqlite, row) };
}

export function wrapFileErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toFileError(path, error);
  }
}

/** An error of the operating system, such as a full disk or missing permission. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "errno" in error && "syscall" in error;
}

export function toFileError(path: string, error: unknown): unknown {
  const corrupt = asCorruptFile(error);
  if (corrupt instanceof CorruptFile)
    return new CliError(
      `${path} is corrupt or not a world file: ${corrupt.message.replace(/^file is not a database$/, "it is not an SQLite database")}`,
    );
  if (error instanceof BetterSqlite3.SqliteError || isFileError(error))
    return new CliError(`${path}: ${refusedAccess(error) ?? error.message}`);
  if (error instanceof NewerFile || error instanceof NotAWorldFile)
    return new CliError(`${path} cannot be used: ${error.message}`);
  return error;
}
