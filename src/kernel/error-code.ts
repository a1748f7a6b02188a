/** The code of an error of the system or of SQLite. Other errors may have a number, such as that of an aborted call. */
export function codeOf(error: unknown): string {
  const code: unknown = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "";
}
