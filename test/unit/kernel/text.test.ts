import fc from "fast-check";
import { expect, test } from "vitest";
import { isoInstant } from "../../../src/kernel/calendar.ts";
import { drawDuration, formatDistribution, parseDistribution } from "../../../src/kernel/distribution.ts";
import { drawId, drawUuid, ID_PATTERN, uuidOf } from "../../../src/kernel/ids.ts";
import type { Random } from "../../../src/kernel/random-port.ts";
import {
  closestMatch,
  escapeControls,
  findLoneSurrogate,
  findReservedName,
  fitsPostgresIdentifier,
  listNames,
} from "../../../src/kernel/text.ts";
import { parseDuration } from "../../../src/kernel/time.ts";
import { expectHolds } from "../../support/properties/properties.ts";

/** Draws these integers in order, again and again. */
const drawing = (...draws: readonly number[]): Random => ({
  stream() {
    let position = 0;
    return () => draws[position++ % draws.length] as number;
  },
});

test.each([
  ["well formed", undefined],
  ["\ud800", ""],
  [{ a: { b: ["x", "\udc00"] } }, "a.b.1"],
  [{ a: { "\ud800": 1 } }, "a"],
  [{ "\ud800": 1 }, "a name"],
  [{ a: "x", b: { c: "\ud800y" } }, "b.c"],
  [null, undefined],
  [1, undefined],
  [{ a: null, b: [1, "😀"] }, undefined],
])("the path of the first lone surrogate, case %#", (value, expected) => {
  expect(findLoneSurrogate(value)).toBe(expected);
});

test.each([
  [JSON.parse('{"__proto__": 1}'), "__proto__"],
  [JSON.parse('{"a": [{"b": 1}, {"__proto__": {}}]}'), "a.1.__proto__"],
  [{ length: [{ a: { toString: 1 } }] }, "length.0.a.toString"],
  [{ length: { a: 1 }, toString: "x" }, undefined],
  [{ proto: 1, a: { constructor: 2 } }, undefined],
  ["__proto__", undefined],
  [null, undefined],
])("the path of the first reserved name, case %#", (value, expected) => {
  expect(findReservedName(value)).toBe(expected);
});

test("control characters become escapes, except tabs and line feeds", () => {
  expect(escapeControls("a\tb\nc\u001b[0m\u0000\u2028\u202ed\u2066")).toBe(
    "a\tb\nc\\u001b[0m\\u0000\\u2028\\u202ed\\u2066",
  );
});

test("a name of 63 bytes fits Postgres, one of 64 does not", () => {
  expect(fitsPostgresIdentifier("a".repeat(63))).toBe(true);
  expect(fitsPostgresIdentifier("a".repeat(64))).toBe(false);
  expect(fitsPostgresIdentifier("é".repeat(31))).toBe(true);
  expect(fitsPostgresIdentifier("é".repeat(32))).toBe(false);
});

test.each<[string, readonly string[], string | undefined]>([
  ["brnach", ["branch", "project"], "branch"],
  ["BRANCH", ["branch"], "branch"],
  ["abc", ["xyz"], undefined],
  ["ab", ["xy", "ax"], "ax"],
  ["slow", ["slower", "slo"], "slo"],
  ["cat", ["cut", "bat"], "cut"],
  // Three edits of nine characters are a third.
  ["endpoxxx", ["endpoints"], undefined],
  ["endpointxxx", ["endpoints"], "endpoints"],
  ["abcd", ["xyzd"], undefined],
  ["", ["ab"], "ab"],
  ["", ["abc"], undefined],
  ["kitten", ["sitting"], undefined],
  ["sunday", ["saturday"], undefined],
  ["x", [], undefined],
])("the known name closest to %j of %j is %j", (name, known, expected) => {
  expect(closestMatch(name, known)).toBe(expected);
});

test("a list of names ends after eight", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
  expect(listNames([])).toBe("none");
  expect(listNames(["a"])).toBe("a");
  expect(listNames(names.slice(0, 8))).toBe("a, b, c, d, e, f, g, h");
  expect(listNames(names)).toBe("a, b, c, d, e, f, g, h, …");
});

test.each([
  ["0", 0],
  [0, 0],
  ["90s", 90_000],
  [" 10m ", 600_000],
  ["2 h", 7_200_000],
  ["7d", 604_800_000],
  ["250ms", 250],
  ["1.5h", 5_400_000],
  ["1h 30m", 5_400_000],
  ["1 h 30m", 5_400_000],
  ["1h 30m 15s", 5_415_000],
  ["0.001s", 1],
  ["0.0001s", undefined],
  ["1h 0.1ms", undefined],
  ["5", undefined],
  [5, undefined],
  ["-5s", undefined],
  ["5x", undefined],
  ["x5s", undefined],
  ["5sx", undefined],
  ["1h  30m", undefined],
  ["1h30m", undefined],
  ["1h 30", undefined],
  ["x1h 30m", undefined],
  ["1h 30mx", undefined],
  ["1.h", undefined],
  ["", undefined],
  ["253402300799999ms", 253_402_300_799_999],
  ["253402300800000ms", undefined],
  ["253402300799999ms 1ms", undefined],
  ["253402300799998ms 1ms", 253_402_300_799_999],
  ["1.25h 30m", 6_300_000],
  ["1h 1.25m", 3_675_000],
  ["x1h 30m", undefined],
  ["1h 30m x", undefined],
  ["1h 30mx", undefined],
  ["1h 0.5ms", undefined],
])("the duration %j has %s ms", (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([
  ["3s", { kind: "fixed", ms: 3_000 }, "3000ms"],
  ["1s..5s", { kind: "uniform", minMs: 1_000, maxMs: 5_000 }, "1000ms..5000ms"],
  ["5s..5s", { kind: "uniform", minMs: 5_000, maxMs: 5_000 }, "5000ms..5000ms"],
  ["3s~0.5", { kind: "lognormal", medianMs: 3_000, sigma: 0.5, maxMs: 600_000 }, "3000ms~0.5"],
  ["3s~5", { kind: "lognormal", medianMs: 3_000, sigma: 5, maxMs: 600_000 }, "3000ms~5"],
] as const)("the distribution %s", (text, expected, formatted) => {
  expect(parseDistribution(text)).toEqual(expected);
  expect(formatDistribution(expected)).toBe(formatted);
});

test.each(["", "x", "5s..1s", "1s..x", "1s..", "3s~0", "3s~-1", "3s~5.1", "3s~x", "x..1s"])(
  "%j is no distribution",
  (text) => {
    expect(parseDistribution(text)).toBeUndefined();
  },
);

test("a duration is drawn from its distribution", () => {
  const draw = (text: string, ...draws: readonly number[]) => {
    const distribution = parseDistribution(text);
    if (distribution === undefined) throw new Error(text);
    return drawDuration(distribution, () => drawing(...draws).stream("", 0));
  };
  const HALF = 2 ** 31;
  const QUARTER = 2 ** 30;
  expect(draw("3s", 0)).toBe(3_000);
  expect(draw("1s..5s", 0)).toBe(1_000);
  expect(draw("1s..5s", HALF)).toBe(3_000);
  // Box–Muller of 1/2 and 0 is sqrt(2 ln 2) = 1.17741; e^(0.5 × 1.17741) = 1.80153.
  expect(draw("1s~0.5", HALF, 0)).toBe(1_802);
  expect(draw("1s~0.5", HALF, HALF)).toBe(555);
  expect(draw("1s~0.5", HALF, QUARTER)).toBe(1_000);
  expect(draw("500s~5", HALF, 0)).toBe(600_000);
});

test("a fixed duration opens no stream", () => {
  const open = () => {
    throw new Error("opened");
  };
  expect(drawDuration({ kind: "fixed", ms: 5 }, open)).toBe(5);
});

test.each([
  [0, "1970-01-01T00:00:00.000Z"],
  [Date.UTC(2026, 10, 9, 8, 7, 6, 5), "2026-11-09T08:07:06.005Z"],
  [Date.UTC(2026, 11, 31, 23, 59, 59, 999), "2026-12-31T23:59:59.999Z"],
  [-1, "1969-12-31T23:59:59.999Z"],
])("the instant %i is %s", (at, expected) => {
  expect(isoInstant(at)).toBe(expected);
});

test("instants have the text that a date has, in any order", async () => {
  const instants = fc.integer({ min: -62_167_219_200_000, max: Date.UTC(9999, 11, 31) });
  await expectHolds(
    fc.property(fc.array(fc.oneof(instants, fc.integer({ min: 0, max: 200_000_000 }))), (list) => {
      expect(list.map(isoInstant)).toEqual(list.map((at) => new Date(at).toISOString()));
    }),
    300,
  );
});

test.each([
  ["project", /^[a-z]+-[a-z]+-10000000$/],
  ["branch", /^br-[a-z]+-[a-z]+-10000000$/],
  ["endpoint", /^ep-[a-z]+-[a-z]+-10000000$/],
  ["snapshot", /^snap-[a-z]+-[a-z]+-10000000$/],
] as const)("the id of a %s has its form", (kind, pattern) => {
  const id = drawId(drawing(0), kind, 1, () => false);
  expect(id).toMatch(pattern);
  expect(id).toMatch(ID_PATTERN);
  expect(drawId(drawing(89_999_999), kind, 1, () => false)).toMatch(/-99999999$/);
  expect(drawId(drawing(90_000_000), kind, 1, () => false)).toMatch(/-10000000$/);
});

test.each([
  ["project", 0, /^[a-z]+-[a-z]+-00000000$/],
  ["project", 4_969_948, /^[a-z]+-[a-z]+-04969948$/],
  ["project", 99_999_999, /^[a-z]+-[a-z]+-99999999$/],
  ["branch", 0, /^br-[a-z]+-[a-z]+-a5000000$/],
  ["branch", 46_655, /^br-[a-z]+-[a-z]+-a5zzzzzz$/],
  ["endpoint", 46_656, /^ep-[a-z]+-[a-z]+-a5000000$/],
  ["snapshot", 0, /^snap-[a-z]+-[a-z]+-10000000$/],
] as const)("the id of a %s in a region, drawn from %i, has its form", (kind, drawn, pattern) => {
  const id = drawId(drawing(drawn), kind, 1, () => false, "a5");
  expect(id).toMatch(pattern);
  expect(id).toMatch(ID_PATTERN);
});

test("an id in use is drawn again, from the same stream", () => {
  const streams: string[] = [];
  const random: Random = {
    stream(name, number) {
      streams.push(`${name} ${number}`);
      let draws = 0;
      return () => draws++;
    },
  };
  expect(drawId(random, "branch", 7, (id) => id.endsWith("-10000002"))).toMatch(/-10000005$/);
  expect(streams).toEqual(["branch-id 7"]);
});

test.each(["a", "a-1", "0".repeat(60)])("%j may be an id", (id) => {
  expect(id).toMatch(ID_PATTERN);
});

test.each(["", "A", "a_b", "a b", "0".repeat(61), "a\n"])("%j may be no id", (id) => {
  expect(id).not.toMatch(ID_PATTERN);
});

test("a drawn UUID has its version and variant, and all other bits of the draws", () => {
  expect(drawUuid(drawing(0xffffffff), "x", 1)).toBe("ffffffff-ffff-4fff-bfff-ffffffffffff");
  expect(drawUuid(drawing(0), "x", 1)).toBe("00000000-0000-4000-8000-000000000000");
  expect(drawUuid(drawing(0x12345678, 0x9abcdef0, 0x12345678, 0x9abcdef0), "x", 1)).toBe(
    "12345678-9abc-4ef0-9234-56789abcdef0",
  );
});

test("the UUID of a text depends on all of it, and never changes", () => {
  expect(uuidOf("org/owner")).toBe(uuidOf("org/owner"));
  const ids = ["org/owner", "org/owneR", "prg/owner", "org/owne", ""].map(uuidOf);
  expect(new Set(ids).size).toBe(5);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids).toEqual([
    "a8ba5188-b99f-4491-bc56-39b1e7673adb",
    "447c7862-213b-4bf1-b323-643848452880",
    "b7a81404-7774-4bb0-9990-0f6611a4ea00",
    "cc677dac-20c5-4ece-b4d2-b86b281c6dcd",
    "d6f6b135-e7ac-415b-9a6c-0d42db4bfc29",
  ]);
});
