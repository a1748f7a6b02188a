/** Why a file that the user named could not be read, to follow its name. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EISDIR") return "is a directory; name the files in it";
  if (code === "EACCES" || code === "EPERM") return "cannot be read by this user";
  return message;
}
