// @ts-nocheck
import fc from "fast-check";

/** Values that programs send by mistake or on purpose. */
const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "0",
    "true",
    "\u0000",
    "\ud800",
    "a\udfffb",
    "\u202e",
    "İ",
    "__proto__",
    "constructor",
    "x".repeat(300),
  ),
  fc.constantFrom(
    "é".repeat(70_000),
    "100000d",
    "9e9",
    "-5m",
    "1.5h",
    "neondb",
    "{branch}",
    "{replica}",
    "main",
  ),
  fc.constantFrom(
    "9999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:60Z",
    "2026-02-30T00:00:00Z",
    "0000-01-01T00:00:00Z",
  ),
  fc.constantFrom(
    "9999-12-31T23:59:59-14:00",
    "1970-01-01T00:00:00+14:00",
    "+275760-09-13T00:00:00Z",
    "2026-01-01T00:00:30.001Z",
  ),
  fc.string({ unit: "binary" }),
);
const number: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(
    -1,
    0,
    -0,
    0.1,
    0.25,
    1,
    2,
    10,
    11,
    60,
    1e308,
    1e21,
    2 ** 53,
    -(2 ** 63),
    5e-324,
    604_800,
    253_402_300_799_999,
  ),
  fc.integer(),
  fc.double(),
);
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  text,
  number,
  fc.constantFrom<unknown[]>(
    null,
    true,
    false,
    [],
    {},
    [[]],
    [null],
    { length: -1 },
    { toString: 1 },
    Array(200).fill({}),
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

type Change = {
  readonly place: number;
  readonly leaf: boolean;
  readonly how: "vary" | "set" | "remove" | "add" | "wrap";
  readonly value: unknown;
  readonly text: string;
  readonly number: number;
  readonly name: string;
};

const change: fc.Arbitrary<Change> = fc.record({
  place: fc.nat(50),
  leaf: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  how: fc.constantFrom("vary", "vary", "vary", "vary", "set", "set", "remove", "add", "wrap"),
  value: hostileValue,
  text,
  number,
  name: fc.constantFrom("name", "id", "__proto__", "extra", "pg_settings", "branch", "at", ""),
});

/** A valid body with a few changes at random places. */
export function mutated(valid: unknown): fc.Arbitrary<unknown> {
  return fc
    .array(change, { maxLength: 2 })
    .map((changes) => changes.reduce(applyChange, structuredClone(valid)));
}

/** One change at the `place`-th value of the tree, or of its leaves, modulo their number. */
function applyChange(body: unknown, { place, leaf, how, value: drawn, text, number, name }: Change): unknown {
  // A drawn value may be drawn again, so it must not be shared with a body that changes.
  const value = structuredClone(drawn);
  const root = { body };
  const places: { readonly parent: Record<string, unknown>; readonly key: string }[] = [];
  const visit = (parent: Record<string, unknown>) => {
    for (const key of Object.keys(parent)) {
      const inner = parent[key];
      const isLeaf = typeof inner !== "object" || inner === null;
      if (isLeaf || !leaf || how === "add") places.push({ parent, key });
      if (!isLeaf) visit(inner as Record<string, unknown>);
    }
  };
  visit(root);
  const at = places[place % places.length];
  if (at === undefined) return body;
  const { parent, key } = at;
  if (how === "remove") delete parent[key];
  else if (how === "wrap") parent[key] = [parent[key]];
  else if (how === "add" && typeof parent[key] === "object" && parent[key] !== null) {
    Object.defineProperty(parent[key], name, { value, enumerable: true, configurable: true, writable: true });
  } else if (how === "vary" && typeof parent[key] === "string") parent[key] = text;
  else if (how === "vary" && typeof parent[key] === "number") parent[key] = number;
  else if (how === "vary" && typeof parent[key] === "boolean") parent[key] = !parent[key];
  else parent[key] = value;
  return root.body;
}

/** Invalid JSON, and oversized JSON. */
export const malformed: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    "{",
    "{]",
    "nul",
    "'a'",
    "{}{}",
    "\u0000",
    "\ufeff{}",
    '{"a":1,}',
    "NaN",
    "[".repeat(50_000),
    '{"a":'.repeat(5_000),
  ),
  fc.constantFrom(
    '{"__proto__":{"x":1}}',
    '{"project":{"name":"a"},"project":1}',
    '"\\ud800"',
    "1e999",
    `"${"y".repeat(1_100_000)}"`,
  ),
  fc.string({ unit: "binary" }),
  fc.json(),
);
