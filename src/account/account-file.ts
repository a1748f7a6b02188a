import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { codeOf } from "../kernel/error-code.ts";
import type { SimTime } from "../kernel/time.ts";
import { MissingInput, UserError } from "../ports/user-error.ts";

export const ACCOUNT_SUFFIX = ".standin-account";

/** The version of the tables below; a file of a newer one is refused. */
const VERSION = 1;
/** "STDA", so that `file` and other programs recognize it. */
const APPLICATION_ID = 0x53_54_44_41;

/**
 * Documented in docs/reference/account-file.md. Instants are milliseconds since 1970. Nothing in it is a secret: there are
 * no keys, passwords, emails or connection strings.
 */
const TABLES = `
  CREATE TABLE pulls (number INTEGER PRIMARY KEY, api TEXT NOT NULL, at INTEGER NOT NULL, since INTEGER);
  CREATE TABLE projects (id TEXT PRIMARY KEY, name TEXT NOT NULL, organization TEXT, subscription TEXT,
    created_at INTEGER NOT NULL, deleted_at INTEGER);
  CREATE TABLE endpoints (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL, branch TEXT NOT NULL,
    type TEXT NOT NULL, created_at INTEGER NOT NULL, deleted_at INTEGER);
  CREATE TABLE settings (endpoint INTEGER NOT NULL, first_seen_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL,
    suspend_timeout_seconds INTEGER NOT NULL, min_cu REAL NOT NULL, max_cu REAL NOT NULL, disabled INTEGER NOT NULL,
    PRIMARY KEY (endpoint, first_seen_at)) WITHOUT ROWID;
  CREATE TABLE operations (endpoint INTEGER NOT NULL, created_at INTEGER NOT NULL, id TEXT NOT NULL, action TEXT NOT NULL,
    status TEXT NOT NULL, duration_ms INTEGER NOT NULL, failures INTEGER NOT NULL,
    PRIMARY KEY (endpoint, created_at, id)) WITHOUT ROWID;
  CREATE TABLE consumption (project TEXT NOT NULL, granularity TEXT NOT NULL, start_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL, active_s INTEGER NOT NULL, compute_s INTEGER NOT NULL,
    PRIMARY KEY (project, granularity, start_at)) WITHOUT ROWID;
  CREATE TABLE unread (number INTEGER PRIMARY KEY, project TEXT NOT NULL, cursor TEXT, until_operation TEXT);
  CREATE TABLE newest (project TEXT PRIMARY KEY, operation TEXT NOT NULL);
`;

/** Tables that files of earlier pulls do not have; readers of files manage without them. */
const LATER_TABLES = `
  CREATE TABLE IF NOT EXISTS other_operations (project TEXT NOT NULL, branch TEXT, created_at INTEGER NOT NULL,
    id TEXT NOT NULL, action TEXT NOT NULL, status TEXT NOT NULL, duration_ms INTEGER NOT NULL, failures INTEGER NOT NULL,
    PRIMARY KEY (project, created_at, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS activity (endpoint INTEGER NOT NULL, last_active_at INTEGER NOT NULL, seen_at INTEGER NOT NULL,
    PRIMARY KEY (endpoint, last_active_at)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS plans (plan TEXT NOT NULL, projects_limit INTEGER NOT NULL, branches_limit INTEGER NOT NULL,
    max_cu REAL NOT NULL, first_seen_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL);
`;

/** The type of a compute that only operations name, because it was deleted before the first pull. */
export const UNKNOWN_TYPE = "unknown";

export type EndpointRow = {
  readonly number: number;
  readonly id: string;
  readonly project: string;
  readonly branch: string;
  readonly type: string;
  readonly created_at: SimTime;
  readonly deleted_at: SimTime | null;
};

export type SettingsRow = {
  readonly first_seen_at: SimTime;
  readonly last_seen_at: SimTime;
  readonly suspend_timeout_seconds: number;
  readonly min_cu: number;
  readonly max_cu: number;
  /** 0 or 1. */
  readonly disabled: number;
};

export type ConsumptionRow = {
  readonly project: string;
  readonly granularity: string;
  readonly start_at: SimTime;
  readonly end_at: SimTime;
  readonly active_s: number;
  readonly compute_s: number;
};

/** A part of the operations of a project that was not read yet: from a cursor (or the newest) to an operation (or the oldest). */
export type UnreadPart = {
  readonly number: number;
  readonly project: string;
  readonly cursor: string | null;
  readonly until_operation: string | null;
};

/** Opens a file of `standin account pull`; `create` makes a new one if it does not exist. */
export function openAccountFile(path: string, mode: "read" | "create"): Database.Database {
  const isNew = checkPlace(path, mode) === undefined;
  const database = wrapRefusal(path, mode, () => new Database(path, { readonly: mode === "read" }));
  try {
    if (mode === "create") {
      // Readable while a pull writes. Each commit survives the end of the process; a loss of power can undo the last ones
      // as a whole, cursors included, so the next pull reads these pages again. `close` syncs the file.
      database.pragma("synchronous = NORMAL");
      database.pragma("journal_mode = WAL");
    }
    if (isNew) {
      database.pragma(`application_id = ${APPLICATION_ID}`);
      database.transaction(() => {
        database.exec(TABLES);
        database.pragma(`user_version = ${VERSION}`);
      })();
    }
    checkFormat(database, path);
    if (mode === "create") database.exec(LATER_TABLES);
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code === "SQLITE_NOTADB")
      throw new UserError(`${path}: not a file of standin account pull`);
    throw error;
  }
}

/** What is at `path`. Throws if no file can be opened or created there. */
function checkPlace(path: string, mode: "read" | "create"): Stats | undefined {
  const at = (place: string) => wrapRefusal(path, mode, () => statsOf(place));
  const found = at(path);
  if (found?.isDirectory() === true) throw new UserError(`${path}: it is a directory; name a file`);
  if (found !== undefined) return found;
  if (mode === "read") throw new MissingInput(path);
  const directory = at(dirname(path));
  if (directory === undefined) throw new UserError(`${path}: its directory does not exist`);
  if (!directory.isDirectory()) throw new UserError(`${path}: a file has the name of its directory`);
  return undefined;
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Nothing can be below a file.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Turns the error of a file that this user may not open into one for the user. */
function wrapRefusal<T>(path: string, mode: "read" | "create", open: () => T): T {
  try {
    return open();
  } catch (error) {
    const code = codeOf(error);
    if (code === "EACCES" || code.startsWith("SQLITE_CANTOPEN"))
      throw new UserError(
        `${path}: it cannot be ${mode === "read" ? "read" : "created or written"} by this user`,
      );
    throw error;
  }
}

function checkFormat(database: Database.Database, path: string): void {
  if (database.pragma("application_id", { simple: true }) !== APPLICATION_ID)
    throw new UserError(`${path}: not a file of standin account pull`);
  const version = database.pragma("user_version", { simple: true });
  if (version !== VERSION)
    throw new UserError(
      `${path}: has version ${version} of the format; this standin reads version ${VERSION}`,
    );
}
