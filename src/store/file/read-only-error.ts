import { codeOf } from "../../kernel/error-code.ts";

/** What this user cannot write, if SQLite can only read a database. Documented at https://www.sqlite.org/rescode.html */
export function unwritablePlace(error: unknown): "directory" | "file or directory" | undefined {
  const code = codeOf(error);
  if (code === "SQLITE_READONLY_DIRECTORY" || code === "SQLITE_READONLY_CANTINIT") return "directory";
  // The file was moved, which is no question of permission.
  if (!code.startsWith("SQLITE_READONLY") || code === "SQLITE_READONLY_DBMOVED") return undefined;
  return "file or directory";
}
