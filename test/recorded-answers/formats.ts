const INSTANT = matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

/** The formats of values in the recorded answers. */
const FORMATS = {
  text: (value) => typeof value === "string" && value !== "",
  /** Text that was empty in the recording. */
  "text or empty": (value) => typeof value === "string",
  "secret of 80 letters and digits": matches(/^[A-Za-z0-9]{80}$/),
  integer: Number.isInteger,
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  list: Array.isArray,
  "empty list": (value) => Array.isArray(value) && value.length === 0,
  uuid: matches(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  "instant of whole seconds": INSTANT,
  "instant of whole seconds or null": (value) => value === null || INSTANT(value),
  "instant with microseconds": matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  "project id": matches(/^[a-z]+-[a-z]+-\d{8}$/),
  "branch id": matches(/^br-[a-z]+-[a-z]+-[a-z0-9]{8}$/),
  "endpoint id": matches(/^ep-[a-z]+-[a-z]+-[a-z0-9]{8}$/),
  "region id": matches(/^aws-[a-z]+-[a-z]+-\d$/),
  "host of a region": matches(/^[a-z]+-[a-z]+-\d\.aws(?:\.[a-z]+)+$/),
  "host of an endpoint": matches(/^ep-[a-z]+-[a-z]+-[a-z0-9]{8}(?:\.[a-z0-9-]+)+$/),
  "host of a pooler": matches(/^ep-[a-z]+-[a-z]+-[a-z0-9]{8}-pooler(?:\.[a-z0-9-]+)+$/),
  "connection URI": matches(/^postgres(?:ql)?:\/\/[^:@/]+:[^:@/]+@ep-[^:@/]+(?::\d+)?\/[^/]+$/),
  /** A user, or the organization that it belongs to: the account of the recordings had none. */
  "owner id": matches(/^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|org-[a-z0-9-]+)$/),
  URL: matches(/^https:\/\/[^/]+\//),
  "e-mail address": matches(/^[^@]+@[^@]+$/),
  "network address or empty": matches(/^(?:[0-9a-f.:]+)?$/),
} as const satisfies Readonly<Record<string, (value: unknown) => boolean>>;

/** One of the formats, or the values of an enumeration that were recorded. */
export type Format = keyof typeof FORMATS | readonly (string | number | boolean)[];

export function hasFormat(value: unknown, format: Format): boolean {
  return typeof format === "string" ? FORMATS[format](value) : (format as readonly unknown[]).includes(value);
}

function matches(pattern: RegExp) {
  return (value: unknown): boolean => typeof value === "string" && pattern.test(value);
}
