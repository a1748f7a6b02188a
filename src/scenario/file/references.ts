/** What stands in braces in a path or a body: a label or something captured. */
const NAME = "[a-z0-9][a-z0-9_/-]*";
/** Two braces are one, and nothing is referred to; nor behind a dollar sign, where a matrix was meant not to fill anything in. */
const REFERENCE = new RegExp(`\\{\\{(?<text>${NAME})\\}\\}|(?<!\\$)\\{(?<name>${NAME})\\}`, "g");
const WHOLE_REFERENCE = new RegExp(`^\\{(${NAME})\\}$`);
const BRACED = new RegExp(`\\{${NAME}\\}`, "g");

/** The names that a text refers to. */
export function referencesIn(value: unknown): string[] {
  if (typeof value === "string")
    return [...value.matchAll(REFERENCE)].flatMap(({ groups }) => groups?.["name"] ?? []);
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(referencesIn);
}

/** The value with its references filled in; a text that is nothing else becomes what was captured, of whatever type that is. */
export function resolveReferences<T>(value: T, lookUp: (name: string) => unknown): T {
  return mapStrings(value, (text) => {
    const [, whole] = WHOLE_REFERENCE.exec(text) ?? [];
    if (whole !== undefined) return lookUp(whole) ?? text;
    return text.replaceAll(REFERENCE, (all, escaped?: string, name = "") =>
      escaped === undefined ? String(lookUp(name) ?? all) : `{${escaped}}`,
    );
  });
}

/** The value as a step says it that refers to nothing. */
export function escapeReferences<T>(value: T): T {
  return mapStrings(value, (text) => text.replaceAll(BRACED, "{$&}"));
}

/** The value with each of its texts, but for the names of its fields, replaced. */
export function mapStrings<T>(value: T, replace: (text: string) => unknown): T {
  const map = (inner: unknown): unknown => {
    if (typeof inner === "string") return replace(inner);
    if (Array.isArray(inner)) return inner.map(map);
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, map(one)]));
  };
  return map(value) as T;
}

/** What stands at a path like `endpoints.0.id` in an answer. */
export function valueAtPath(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined,
      value,
    );
}
