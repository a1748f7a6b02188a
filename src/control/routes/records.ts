import type { SimTime } from "../../platform/core/time.ts";

/** Ours have milliseconds, for a clock that one holds in the hand. */
export function instant(at: SimTime): string {
  return new Date(at).toISOString();
}

/** What callers may fill freely: shown as they filled it. */
const FREE = new Set(["settings", "annotations", "pg_settings", "pgbouncer_settings"]);
/** Properties whose number is an instant (see platform/events). */
const INSTANT = /(^at|At|^until|Timestamp)$/;

/** An object of the world as the control API shows it: names in snake case, instants in ISO 8601. */
export function record(value: unknown, property = ""): unknown {
  if (typeof value === "number" && INSTANT.test(property)) return instant(value);
  if (Array.isArray(value)) return value.map((item) => record(item));
  if (typeof value !== "object" || value === null) return value;
  if (FREE.has(property)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeCase(key), record(inner, key)]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What `record` showed, as it was. */
export function fromRecord(value: unknown, property = ""): unknown {
  if (typeof value === "string" && INSTANT.test(property)) return Date.parse(value);
  if (Array.isArray(value)) return value.map((item) => fromRecord(item));
  if (typeof value !== "object" || value === null || FREE.has(property)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = camelCase(key);
      return [name, fromRecord(inner, name)];
    }),
  );
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
