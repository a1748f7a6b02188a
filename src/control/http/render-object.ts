import type { SimTime } from "../../platform/core/time.ts";

/** Instants of the control API have milliseconds, unlike those of the imitated API. */
export function formatInstant(at: SimTime): string {
  return new Date(at).toISOString();
}

/** Free-form objects of callers, rendered unchanged. */
const FREE_FORM_PROPERTIES = new Set(["settings", "annotations", "pg_settings", "pgbouncer_settings"]);
/** Numbers in these properties are instants. */
const INSTANT_PROPERTY = /(^at|At|^until|Timestamp)$/;

/** Renders an object of the world: names in snake case, instants in ISO 8601. */
export function renderObject(value: unknown, property = ""): unknown {
  if (typeof value === "number" && INSTANT_PROPERTY.test(property)) return formatInstant(value);
  if (Array.isArray(value)) return value.map((item) => renderObject(item));
  if (typeof value !== "object" || value === null) return value;
  if (FREE_FORM_PROPERTIES.has(property)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [snakeCase(key), renderObject(inner, key)]),
  );
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The inverse of `renderObject`. */
export function parseObject(value: unknown, property = ""): unknown {
  if (typeof value === "string" && INSTANT_PROPERTY.test(property)) return Date.parse(value);
  if (Array.isArray(value)) return value.map((item) => parseObject(item));
  if (typeof value !== "object" || value === null || FREE_FORM_PROPERTIES.has(property)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = camelCase(key);
      return [name, parseObject(inner, name)];
    }),
  );
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
