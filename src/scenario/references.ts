/** What stands in braces in a path or a body: a label or something captured. */
const REFERENCE = /\{([a-z0-9][a-z0-9_/-]*)\}/g;

/** The names that a text refers to. */
export function referencesIn(value: unknown): string[] {
  if (typeof value === "string") return [...value.matchAll(REFERENCE)].map(([, name]) => name as string);
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(referencesIn);
}

/** The value with its references filled in; a text that is nothing else becomes what was captured, of whatever type that is. */
export function resolveReferences<T>(value: T, known: (name: string) => unknown): T {
  if (typeof value === "string") return resolveText(value, known) as T;
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, known)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolveReferences(inner, known)])) as T;
}

function resolveText(text: string, known: (name: string) => unknown): unknown {
  const [, whole] = /^\{([a-z0-9][a-z0-9_/-]*)\}$/.exec(text) ?? [];
  if (whole !== undefined) return known(whole) ?? text;
  return text.replaceAll(REFERENCE, (all, name: string) => String(known(name) ?? all));
}

/** What stands at a path like `endpoints.0.id` in an answer. */
export function at(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (inner, key) => (typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined),
      value,
    );
}
