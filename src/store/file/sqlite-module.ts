import { createRequire } from "node:module";
import { messageOf } from "../../kernel/message-of.ts";
import { UserError } from "../../ports/user-error.ts";

/** The first version of better-sqlite3 that is not for Node 20, where opening a file with it ends the process. */
const FIRST_FOR_NODE_22 = 13;
const VERSION_FOR_NODE_20 = "12.11.1";

/** Loads the SQLite module. */
export const SQLITE_FIX =
  "run npm rebuild better-sqlite3, which downloads it, or builds it in about 5 minutes with a C++ compiler and Python";

/** The SQLite module is missing, or is not for this version of Node. */
export class SqliteModuleError extends UserError {
  override readonly name = "SqliteModuleError";
}

/**
 * Throws if the installed module is for a newer version of Node. npm installs the one that fits, but a lockfile
 * that was written with Node 22, and other package managers, do not.
 */
export function checkSqliteModule(
  node: string = process.versions.node,
  readInstalled: () => string | undefined = installedVersion,
): void {
  if (majorOf(node) >= 22) return;
  const installed = readInstalled();
  if (installed === undefined || majorOf(installed) < FIRST_FOR_NODE_22) return;
  throw new SqliteModuleError(
    `better-sqlite3 ${installed} needs Node 22 or newer, and this is Node ${node}: install Node 22, or run npm install better-sqlite3@${VERSION_FOR_NODE_20}, which is for both`,
  );
}

/** `undefined` if the error has another cause. */
export function sqliteModuleError(error: unknown): SqliteModuleError | undefined {
  const message = messageOf(error);
  const { code } = error as NodeJS.ErrnoException;
  const isOfModule =
    (code === "MODULE_NOT_FOUND" && message.includes("better-sqlite3")) ||
    code === "ERR_DLOPEN_FAILED" ||
    message.startsWith("Could not locate the bindings file");
  if (!isOfModule) return undefined;
  const [firstLine] = message.split("\n");
  return new SqliteModuleError(`the module better-sqlite3 cannot be loaded: ${firstLine}; ${SQLITE_FIX}`, {
    cause: error,
  });
}

function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}

/** `undefined` if it is not installed. */
function installedVersion(): string | undefined {
  try {
    const { version } = createRequire(import.meta.url)("better-sqlite3/package.json") as { version: string };
    return version;
  } catch {
    return undefined;
  }
}
