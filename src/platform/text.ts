/**
 * Where in a value there is text with half of a surrogate pair: it would not survive being stored as UTF-8, and two different such
 * texts would become one. Gives the path, empty for the value itself; `undefined` where all text is whole.
 */
export function findTornText(value: unknown, path = ""): string | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const place = path === "" ? key : `${path}.${key}`;
    const torn = key.isWellFormed() ? findTornText(inner, place) : path || "a name";
    if (torn !== undefined) return torn;
  }
  return undefined;
}
