import { expect, test } from "vitest";
import * as z from "zod";
import { issueText } from "../../../src/input-limits/issue-text.ts";
import { ZOD_TEXT } from "../../support/document/refused-request.ts";

// A client reads our own words about a field, never zod's.

type Case = readonly [schema: z.ZodType, input: unknown, text: string];

const onlyOne = z.xor([z.object({ a: z.string() }), z.object({ b: z.string() })]);

/** At least one case for every code that zod has: a missing code does not compile. */
const CASES: Readonly<Record<z.core.$ZodIssue["code"], readonly Case[]>> = {
  invalid_type: [
    [z.string(), undefined, "is required and must be a string"],
    [z.string(), 7, "must be a string, not a number"],
    [z.string(), null, "must be a string, not null"],
    [z.int(), 1.5, "must be a whole number, not 1.5"],
    [z.number(), Number.NaN, "must be a number, not NaN"],
    [z.boolean(), "yes", "must be true or false, not a string"],
    [z.object({}), [], "must be an object, not an array"],
    [z.array(z.string()), true, "must be an array, not true"],
    [z.record(z.string(), z.string()), 7, "must be an object, not a number"],
    [z.null(), 7, "must be null, not a number"],
    [z.never(), 7, "must be omitted, not a number"],
    [z.symbol(), 7, "must be of type symbol, not a number"],
  ],
  invalid_value: [
    [z.enum(["up", "down"]), "left", "must be one of up, down"],
    [z.enum(["up", "down"]), undefined, "is required and must be one of up, down"],
    [z.literal(5), 6, "must be 5"],
    [z.literal(""), "a", "must be empty"],
  ],
  too_big: [
    [z.string().max(256), "x".repeat(257), "must have at most 256 characters"],
    [z.string().length(1), "xx", "must have exactly 1 character"],
    [z.number().max(5), 6, "must be at most 5"],
    [z.number().lt(5), 5, "must be less than 5"],
    [z.array(z.int()).max(2), [1, 2, 3], "must have at most 2 items"],
    [z.int(), 1e300, `must be at most ${Number.MAX_SAFE_INTEGER}`],
    [z.date().max(new Date(0)), new Date(1), "must be at most 1970-01-01T00:00:00.000Z"],
    [
      z.map(z.string(), z.int()).max(1),
      new Map([
        ["a", 1],
        ["b", 2],
      ]),
      "must have at most 1 entry",
    ],
  ],
  too_small: [
    [z.string().min(1), "", "must not be empty"],
    [z.string().min(2), "a", "must have at least 2 characters"],
    [z.string().length(2), "a", "must have exactly 2 characters"],
    [z.array(z.int()).min(1), [], "must not be empty"],
    [z.set(z.int()).min(2), new Set([1]), "must have at least 2 items"],
    [z.int().min(0), -1, "must be at least 0"],
    [z.number().positive(), 0, "must be greater than 0"],
  ],
  invalid_format: [
    [z.string().regex(/^a$/), "b", "must match the pattern /^a$/"],
    [z.string().startsWith("ep-"), "b", 'must begin with "ep-"'],
    [z.string().endsWith("-1"), "b", 'must end with "-1"'],
    [z.string().includes("@"), "b", 'must contain "@"'],
    [z.email(), "b", "must be an email address like somebody@example.com"],
    [z.url(), "b", "must be a URL like https://example.com"],
    [z.uuid(), "b", "must be a UUID"],
    [z.iso.datetime(), "b", "must be an ISO 8601 instant like 2026-01-31T12:00:00Z"],
    [z.cidrv4(), "b", "must be an IPv4 range like 10.0.0.0/8"],
    [z.nanoid(), "b", "must be a valid nanoid"],
  ],
  not_multiple_of: [[z.number().multipleOf(5), 7, "must be a multiple of 5"]],
  unrecognized_keys: [
    [z.strictObject({}), { a: 1 }, 'there is no field "a"'],
    [z.strictObject({}), { a: 1, b: 2 }, 'there is no field "a" or "b"'],
  ],
  invalid_union: [
    [z.union([z.string(), z.number()]), true, "has a form that is not allowed here"],
    [z.union([z.string(), z.number()]), undefined, "is required"],
    [onlyOne, { a: "a", b: "b" }, "has a form that is not allowed here"],
  ],
  invalid_key: [
    [z.record(z.email(), z.int()), { a: 1 }, "must be an email address like somebody@example.com"],
  ],
  invalid_element: [
    [z.map(z.any(), z.int()), new Map([[{}, "a"]]), "contains a value that is not allowed here"],
  ],
  custom: [[z.string().refine(() => false), "a", "is not valid"]],
};

for (const [code, cases] of Object.entries(CASES)) {
  test.each(cases.map(([schema, input, text]) => [text, schema, input] as const))(
    `${code}: %s`,
    (text, schema, input) => {
      const issues = schema.safeParse(input, { error: issueText }).error?.issues ?? [];
      expect(issues.map((issue) => [issue.code, issue.message])).toEqual([[code, text]]);
      const ofZod = schema.safeParse(input).error?.issues ?? [];
      expect(ofZod.map(({ message }) => message).join()).toMatch(ZOD_TEXT);
      expect(text).not.toMatch(ZOD_TEXT);
    },
  );
}

test("a message written at the schema takes precedence", () => {
  const schema = z.object({ size: z.number("must be a size") });
  expect(schema.safeParse({}, { error: issueText }).error?.issues).toMatchObject([
    { message: "must be a size", path: ["size"] },
  ]);
});
