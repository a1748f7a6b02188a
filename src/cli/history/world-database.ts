import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { MIGRATIONS_FOLDER } from "../../app/compose.ts";
import { openForReading, type Reading } from "../../store/file/open-read-only.ts";
import { asDamaged, Damaged } from "../../store/tables/checksum.ts";
import { NewerFile, NotAWorld } from "../../store/tables/format-version.ts";
import { CliError } from "../terminal/cli-error.ts";

/** The file that a user means by a data directory and a world's name, or by the file itself. */
export function worldFileAt(path: string, world: string): string {
  const given = resolve(path);
  if (!existsSync(given)) throw new CliError(`there is no ${given}`);
  if (!statSync(given).isDirectory()) return given;
  const file = join(given, "worlds", `${world}.sqlite`);
  if (!existsSync(file)) throw new CliError(`there is no world "${world}" in ${given}`);
  return file;
}

/** Looks at a world's file, served or not; what is wrong with it as a whole becomes an error for the user. */
export function readWorldFile(path: string): Reading {
  return explainingFile(path, () => openForReading(path, MIGRATIONS_FOLDER));
}

export function explainingFile<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fileErrorOf(path, error);
  }
}

/** A disk that is full, a directory that may not be written to. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "errno" in error && "syscall" in error;
}

export function fileErrorOf(path: string, error: unknown): unknown {
  const damaged = asDamaged(error);
  if (damaged instanceof Damaged) return new CliError(`${path} is damaged, or no world's file: ${damaged.message}`);
  if (error instanceof BetterSqlite3.SqliteError || isFileError(error)) return new CliError(`${path}: ${error.message}`);
  if (error instanceof NewerFile || error instanceof NotAWorld) return new CliError(`${path} cannot be used: ${error.message}`);
  return error;
}
