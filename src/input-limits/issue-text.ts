import type { z } from "zod";
import { MAX } from "./limits.ts";

type Issue = z.core.$ZodRawIssue;

/**
 * Describes a problem of a field, as the end of the sentence that begins with its name. Messages written at a schema
 * take precedence. Pass this function to every `safeParse` whose messages may reach a client, to replace zod's own
 * texts.
 */
export function issueText(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? `is required and must be ${typeText(issue.expected)}`
        : `must be ${typeText(issue.expected)}, not ${valueText(issue.input)}`;
    case "invalid_value": {
      const values = issue.values.map((value) => literalText(value));
      const rule = values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(", ")}`;
      return issue.input === undefined ? `is required and ${rule}` : rule;
    }
    case "too_big":
      return limitText(
        issue.origin,
        issue.maximum,
        issue.exact ? "exactly" : issue.inclusive ? "most" : "below",
      );
    case "too_small":
      return limitText(
        issue.origin,
        issue.minimum,
        issue.exact ? "exactly" : issue.inclusive ? "least" : "above",
      );
    case "invalid_format":
      return formatText(issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return `there is no field ${issue.keys
        .slice(0, MAX.issues)
        .map((key) => `"${key}"`)
        .join(" or ")}`;
    case "invalid_union":
      return issue.input === undefined ? "is required" : "has a form that is not allowed here";
    case "invalid_key":
      return issue.issues[0]?.message ?? "has a name that is not allowed here";
    case "invalid_element":
      return "contains a value that is not allowed here";
    case "custom":
      return "is not valid";
    default:
      issue satisfies never;
      return "is not valid";
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  bigint: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  map: "an object",
  array: "an array",
  tuple: "an array",
  set: "an array",
  null: "null",
  undefined: "omitted",
  never: "omitted",
  date: "a date",
  nonoptional: "given",
};

function typeText(type: string): string {
  return TYPES[type] ?? `of type ${type}`;
}

function valueText(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" && !Number.isInteger(value)) return String(value);
  return typeof value === "boolean" ? String(value) : typeText(typeof value);
}

function literalText(value: unknown): string {
  return value === "" ? "empty" : String(value);
}

const UNITS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  string: ["character", "characters"],
  file: ["byte", "bytes"],
  array: ["item", "items"],
  set: ["item", "items"],
  map: ["entry", "entries"],
  object: ["field", "fields"],
};

/** `most` and `least` include the limit; `below` and `above` exclude it. */
function limitText(
  origin: string,
  limit: number | bigint,
  bound: "exactly" | "most" | "least" | "below" | "above",
): string {
  const unit = UNITS[origin];
  const words = {
    exactly: "exactly",
    most: "at most",
    least: "at least",
    below: "less than",
    above: "more than",
  };
  if (unit === undefined) {
    // For a date, zod reports milliseconds.
    const value = origin === "date" ? new Date(Number(limit)).toISOString() : String(limit);
    return `must be ${bound === "above" ? "greater than" : words[bound]} ${value}`;
  }
  if (bound === "least" && Number(limit) === 1) return "must not be empty";
  return `must have ${words[bound]} ${limit} ${unit[Number(limit) === 1 ? 0 : 1]}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  email: "an email address like somebody@example.com",
  url: "a URL like https://example.com",
  uuid: "a UUID",
  guid: "a UUID",
  datetime: "an ISO 8601 instant like 2026-01-31T12:00:00Z",
  date: "a date like 2026-01-31",
  time: "a time of day like 12:00:00",
  duration: "an ISO 8601 duration like PT1H",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  cidrv4: "an IPv4 range like 10.0.0.0/8",
  cidrv6: "an IPv6 range like 2001:db8::/32",
  base64: "base64",
  base64url: "base64url",
  json_string: "JSON",
  lowercase: "in lower case",
  uppercase: "in upper case",
};

function formatText(issue: Extract<Issue, { readonly code: "invalid_format" }>): string {
  const { format, prefix, suffix, includes, pattern } = issue as typeof issue &
    Partial<Record<"prefix" | "suffix" | "includes", string>>;
  if (format === "starts_with") return `must begin with "${prefix}"`;
  if (format === "ends_with") return `must end with "${suffix}"`;
  if (format === "includes") return `must contain "${includes}"`;
  if (format === "regex") return `must match the pattern ${pattern}`;
  return `must be ${FORMATS[format] ?? `a valid ${format}`}`;
}
