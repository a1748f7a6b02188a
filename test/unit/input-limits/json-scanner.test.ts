import fc from "fast-check";
import { expect, test } from "vitest";
import { type JsonExcess, JsonScanner } from "../../../src/input-limits/json-scanner.ts";
import { expectHolds } from "../../support/properties/properties.ts";

/** What a scanner that reads byte by byte finds. */
function excessOf(text: string, maxLevels: number, maxValues: number): JsonExcess | undefined {
  let [levels, values, isInString, isEscaped] = [0, 1, false, false];
  for (const character of text) {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (character === "\\") isEscaped = true;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === ",") values += 1;
    else if ("[{".includes(character)) {
      levels += 1;
      values += 1;
      if (levels > maxLevels) return "levels";
    } else if ("]}".includes(character)) levels -= 1;
    if (values > maxValues) return "values";
  }
  return undefined;
}

test("the first excess is found, wherever the text is divided, in short and in long strings", async () => {
  const part = fc.oneof(
    fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", ":", "1", "a"),
    fc.constantFrom(
      "x".repeat(63),
      "x".repeat(64),
      "x".repeat(65),
      "y".repeat(5_000),
      `${"z".repeat(90)}\\"`,
    ),
  );
  await expectHolds(
    fc.asyncProperty(
      fc.array(part, { maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 12 }),
      async (parts, sizes, levels, values) => {
        const bytes = Buffer.from(parts.join(""));
        const scanner = new JsonScanner({ levels, values });
        let found: JsonExcess | undefined;
        for (let begin = 0, turn = 0; begin < bytes.length && found === undefined; turn += 1) {
          const end = begin + (sizes[turn % sizes.length] ?? 1);
          found = scanner.scan(bytes.subarray(begin, end));
          begin = end;
        }
        expect(found).toBe(excessOf(parts.join(""), levels, values));
      },
    ),
    3_000,
  );
});

test("any JSON has at most as many values as are counted", async () => {
  const valuesOf = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce<number>((sum, inner) => sum + valuesOf(inner), 1)
      : 1;
  await expectHolds(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const bytes = Buffer.from(JSON.stringify(value));
      const count = valuesOf(value);
      if (count > 1) expect(new JsonScanner({ levels: 99, values: count - 1 }).scan(bytes)).toBe("values");
      // An empty list counts as if it had one value.
      expect(new JsonScanner({ levels: 99, values: 2 * count }).scan(bytes)).toBe(undefined);
    }),
    2_000,
  );
});
