import { messageOf } from "../../kernel/message-of.ts";

/** Why a file that the user named could not be read, to follow its name. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EISDIR") return "is a directory; name the files in it";
  if (code === "EACCES" || code === "EPERM") return "cannot be read by this user";
  return message;
}

/** Why a file that the user named cannot be written, to follow its name. */
export function writeProblem(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "its directory does not exist";
  if (code === "EISDIR") return "it is a directory; name a file";
  if (code === "ENOTDIR" || code === "EEXIST") return "a file has the name of its directory";
  if (code === "EACCES" || code === "EPERM") return "this user has no permission";
  if (code === "EROFS") return "its file system is read-only";
  if (code === "ENOSPC" || code === "EDQUOT") return "no space is left on the disk";
  return messageOf(error);
}
