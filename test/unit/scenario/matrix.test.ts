// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the matrix are written like this.
import { expect, test } from "vitest";
import {
  combinations,
  escapePlaceholders,
  fillTemplate,
  unknownNameMessage,
} from "../../../src/scenario/file/matrix.ts";
import { parseScenario } from "../../../src/scenario/parse-scenario.ts";

test("without a matrix there is one empty combination", () => {
  expect(combinations(undefined)).toEqual([{}]);
});

test("combinations follow the order of the file, and the last name changes fastest", () => {
  expect(combinations({ delay: [60, 300], plan: ["free", "paid"] })).toEqual([
    { delay: 60, plan: "free" },
    { delay: 60, plan: "paid" },
    { delay: 300, plan: "free" },
    { delay: 300, plan: "paid" },
  ]);
});

test("from and to are inclusive", () => {
  expect(combinations({ seed: { from: 1, to: 3 } }).map(({ seed }) => seed)).toEqual([1, 2, 3]);
  expect(combinations({ seed: { from: 7, to: 7 } })).toEqual([{ seed: 7 }]);
});

test("a text that is only a placeholder becomes the value of any type; within a text it becomes text", () => {
  const { value, unknownNames: unknown } = fillTemplate(
    { delay: "${delay}", text: "after ${delay} s, ${on}", list: ["${on}"] },
    { delay: 60, on: false },
  );
  expect(value).toEqual({ delay: 60, text: "after 60 s, false", list: [false] });
  expect(unknown).toEqual([]);
});

test("two dollar signs stand for one, and nothing is filled in", () => {
  expect(fillTemplate("$${delay}", { delay: 60 }).value).toBe("${delay}");
  expect(fillTemplate("costs $5 and {delay}", { delay: 60 }).value).toBe("costs $5 and {delay}");
  expect(fillTemplate("a$$b$$ costs $$${delay}, or $$$${delay}", { delay: 60 })).toMatchObject({
    value: "a$b$ costs $60, or $${delay}",
    unknownNames: [],
  });
});

test.each(["${delay}", "$${delay}", "$$", "$ and ${delay}", "$"])("%s survives escaping", (text) => {
  const { value, usedNames: used } = fillTemplate(escapePlaceholders({ list: [text], none: null }), {
    delay: 60,
  });
  expect([value, used.size]).toEqual([{ list: [text], none: null }, 0]);
});

test("keys and the matrix itself stay unchanged", () => {
  const source = { "${delay}": 1, matrix: { delay: ["${other}"] } };
  expect(fillTemplate(source, { delay: 60 })).toMatchObject({ value: source, unknownNames: [] });
});

test("an unknown name is reported with its place and the known names", () => {
  const values = { delay: 60, plan: "free" };
  const { value, unknownNames: unknown } = fillTemplate({ steps: [{ advance: "${wait}" }] }, values);
  expect(unknown).toEqual([{ path: ["steps", 0, "advance"], name: "wait" }]);
  expect(value).toEqual({ steps: [{ advance: "${wait}" }] });
  expect(unknownNameMessage("wait", values)).toBe(
    'the matrix has no value "wait" for ${wait}; it has delay, plan',
  );
});

test("used names are collected, escaped ones are not", () => {
  expect([
    ...fillTemplate(
      { a: "${one} and ${two}", b: "$${three}", "${four}": 5, matrix: { x: ["${five}"] } },
      { one: 1, two: 2 },
    ).usedNames,
  ]).toEqual([...["one", "two"]]);
});

test("10,000 combinations are allowed, one more is not", () => {
  const file = (seeds: number) =>
    `{ version: 1, world: { seed: "\${seed}" }, name: "delay \${delay}", length: 1s, matrix: { delay: [1, 2], seed: { from: 1, to: ${seeds} } } }`;
  expect(parseScenario(file(5_000), "a.yaml").variants).toHaveLength(10_000);
  expect(() => parseScenario(file(5_001), "a.yaml")).toThrow(
    "has 10,002 combinations; at most 10,000 are allowed",
  );
});
