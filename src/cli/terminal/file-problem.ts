import { codeOf } from "../../kernel/error-code.ts";
import { messageOf } from "../../kernel/message-of.ts";
import { unwritablePlace } from "../../store/file/read-only-error.ts";

/** Why a file that the user named could not be read, to follow its name. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EISDIR") return "is a directory; name the files in it";
  if (code === "EACCES" || code === "EPERM") return "cannot be read by this user";
  return message;
}

/** The end of the name that a file has until it is complete. */
const UNFINISHED = /\.\d+-\d+\.unfinished$/;

/** Why the system or SQLite did not allow access to a file, to follow its name; `undefined` for other errors. */
export function refusedAccess(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === "EACCES" || code === "EPERM") return "this user has no permission";
  if (code === "EROFS") return "its file system is read-only";
  if (code === "ENOSPC" || code === "EDQUOT") return "no space is left on the disk";
  const unwritable = unwritablePlace(error);
  if (unwritable === "directory") return "this user cannot write its directory";
  if (unwritable !== undefined) return "this user cannot write the file or its directory";
  if (code === "SQLITE_READONLY_DBMOVED") return messageOf(error);
  if (code.startsWith("SQLITE_CANTOPEN")) return "it cannot be opened by this user";
  return undefined;
}

/** What an error of the system says, in plain words if it is about missing permission or space. */
export function systemMessage(error: Error): string {
  const { path, message } = error as NodeJS.ErrnoException;
  const refused = refusedAccess(error);
  return refused === undefined || path === undefined
    ? message
    : `${path.replace(UNFINISHED, "")}: ${refused}`;
}

/** Why a file that the user named cannot be written, to follow its name. */
export function writeProblem(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "its directory does not exist";
  if (code === "EISDIR") return "it is a directory; name a file";
  if (code === "ENOTDIR" || code === "EEXIST") return "a file has the name of its directory";
  if (code === "ENAMETOOLONG") return "its name is too long";
  return refusedAccess(error) ?? messageOf(error);
}
