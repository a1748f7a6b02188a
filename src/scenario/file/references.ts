import { isoInstant } from "../../kernel/calendar.ts";
import { parseDuration, type SimTime } from "../../kernel/time.ts";

/** The text in braces in a path or a body: a label or a captured name. */
const NAME = "[a-z0-9][a-z0-9_/-]*";
/**
 * Doubled braces stand for literal braces. After a dollar sign, braces belong to a matrix value, not to a
 * reference.
 */
const REFERENCE = new RegExp(`\\{\\{(?<text>${NAME})\\}\\}|(?<!\\$)\\{(?<name>${NAME})\\}`, "g");
const WHOLE_REFERENCE = new RegExp(`^\\{(${NAME})\\}$`);
/** `{{now+24h}}`: an instant relative to the clock. Names in doubled braces have no sign. */
const RELATIVE_INSTANT = /\{\{now(?<sign>[+-])(?<offset>[^{}]*)\}\}/g;
const BRACED = new RegExp(`\\{${NAME}\\}`, "g");

/** The reference to the round of the innermost `repeat`, from 1. */
export const ROUND_NAME = "loop";

/** The names that a value refers to. */
export function referencesIn(value: unknown): string[] {
  if (typeof value === "string")
    return [...value.matchAll(REFERENCE)].flatMap(({ groups }) => groups?.["name"] ?? []);
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(referencesIn);
}

/** The texts `{{now…}}` of a value whose offset is not a duration. */
export function invalidInstantsIn(value: unknown): string[] {
  const invalid: string[] = [];
  mapStrings(value, (text) => {
    for (const [whole, , offset = ""] of text.matchAll(RELATIVE_INSTANT))
      if (parseDuration(offset) === undefined) invalid.push(whole);
    return text;
  });
  return invalid;
}

/** The value with instants relative to `now` filled in. */
export function resolveInstants<T>(value: T, now: SimTime): T {
  return mapStrings(value, (text) =>
    text.replaceAll(RELATIVE_INSTANT, (whole, sign: string, offset: string) => {
      const ms = parseDuration(offset);
      return ms === undefined ? whole : isoInstant(now + (sign === "-" ? -ms : ms));
    }),
  );
}

/**
 * The value with its references filled in. A text that is only a reference becomes the captured value, of any
 * type.
 */
export function resolveReferences<T>(value: T, lookUp: (name: string) => unknown): T {
  return mapStrings(value, (text) => {
    const [, whole] = WHOLE_REFERENCE.exec(text) ?? [];
    if (whole !== undefined) return lookUp(whole) ?? text;
    return text.replaceAll(REFERENCE, (all, escaped?: string, name = "") =>
      escaped === undefined ? String(lookUp(name) ?? all) : `{${escaped}}`,
    );
  });
}

/** Escapes braces, so that the value refers to nothing. */
export function escapeReferences<T>(value: T): T {
  return mapStrings(value, (text) => text.replaceAll(BRACED, "{$&}"));
}

/** Replaces each string of the value, except for keys. */
export function mapStrings<T>(value: T, replace: (text: string) => unknown): T {
  const map = (inner: unknown): unknown => {
    if (typeof inner === "string") return replace(inner);
    if (Array.isArray(inner)) return inner.map(map);
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, map(one)]));
  };
  return map(value) as T;
}

/** The value at a path such as `endpoints.0.id`. */
export function valueAtPath(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined,
      value,
    );
}
