import type { SimTime } from "../../kernel/time.ts";

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
  return render(value, propertyOf(property), false);
}

/** Like `renderObject`, with properties sorted by name: their order differs between rows in memory and in a file. */
export function renderSorted(value: unknown, property = ""): unknown {
  return render(value, propertyOf(property), true);
}

function render(value: unknown, { isInstant, isFreeForm }: Property, isSorted: boolean): unknown {
  if (typeof value === "number") return isInstant ? formatInstant(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => render(item, NO_PROPERTY, isSorted));
  if (isFreeForm) return isSorted ? sorted(value) : value;
  const properties = Object.keys(value).map(propertyOf);
  if (isSorted) properties.sort((one, other) => (one.name < other.name ? -1 : 1));
  const rendered: Record<string, unknown> = {};
  for (const property of properties)
    rendered[property.name] = render((value as Record<string, unknown>)[property.key], property, isSorted);
  return rendered;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/** How the property `key` is rendered. */
type Property = {
  readonly key: string;
  readonly name: string;
  readonly isInstant: boolean;
  readonly isFreeForm: boolean;
};

/** The properties of a world are few, and a state has many rows with each. */
const MAX_KNOWN_PROPERTIES = 1_000;
const knownProperties = new Map<string, Property>();
const NO_PROPERTY = propertyOf("");

function propertyOf(key: string): Property {
  const known = knownProperties.get(key);
  if (known !== undefined) return known;
  const property: Property = {
    key,
    name: key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    isInstant: INSTANT_PROPERTY.test(key),
    isFreeForm: FREE_FORM_PROPERTIES.has(key),
  };
  if (knownProperties.size < MAX_KNOWN_PROPERTIES) knownProperties.set(key, property);
  return property;
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
