/**
 * The path of the first text with a lone surrogate: UTF-8 cannot represent it, so it would be stored as
 * another text. Empty for the value itself; `undefined` if there is none.
 */
export function findLoneSurrogate(value: unknown, path = ""): string | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const innerPath = path === "" ? key : `${path}.${key}`;
    const lonePath = key.isWellFormed() ? findLoneSurrogate(inner, innerPath) : path || "a name";
    if (lonePath !== undefined) return lonePath;
  }
  return undefined;
}

/** Control characters, line separators, and characters that reverse the direction of text. */
const CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text that a terminal, XML and HTML show as it is: control characters except tabs and line feeds become
 * escapes such as `\u001b`, which JSON reads as the same characters.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(CONTROLS, (character) =>
    character === "\n" || character === "\t"
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * The path of the first field that no schema can check: `__proto__`, and `toString` below a field `length`,
 * because zod compares every `length` with its limits, and such a value cannot become a number.
 */
export function findReservedName(value: unknown, path = "", isInLength = false): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const innerPath = path === "" ? key : `${path}.${key}`;
    const isReserved = key === "__proto__" || (isInLength && key === "toString");
    const reservedPath = isReserved
      ? innerPath
      : findReservedName(inner, innerPath, isInLength || key === "length");
    if (reservedPath !== undefined) return reservedPath;
  }
  return undefined;
}

/** Postgres truncates names of roles and databases to 63 bytes of UTF-8; here, longer names are rejected. */
export function fitsPostgresIdentifier(name: string): boolean {
  return new TextEncoder().encode(name).length <= 63;
}

/** The known name closest to `name`, if it differs by at most two edits or a third of its length. */
export function closestMatch(name: string, known: Iterable<string>): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (
      distance <= Math.max(2, candidate.length / 3) &&
      distance < (best?.distance ?? Number.POSITIVE_INFINITY)
    )
      best = { name: candidate, distance };
  }
  return best?.name;
}

/** The Levenshtein distance. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[other.length] as number;
}

const MAX_LISTED = 8;

/** The first names of a list, for messages. */
export function listNames(names: readonly string[]): string {
  return names.length === 0
    ? "none"
    : names.slice(0, MAX_LISTED).join(", ") + (names.length > MAX_LISTED ? ", …" : "");
}

export function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? text;
}
