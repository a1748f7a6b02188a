// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how names of the matrix are written.
import { expect, test } from "vitest";
import {
  combinations,
  escapePlaceholders,
  fillTemplate,
  unknownNameMessage,
} from "../../../src/scenario/file/matrix.ts";

test("without a matrix there is one combination, of nothing", () => {
  expect(combinations(undefined)).toEqual([{}]);
});

test("all combinations come in the order of the file, the last name changing fastest", () => {
  expect(combinations({ delay: [60, 300], plan: ["free", "paid"] })).toEqual([
    { delay: 60, plan: "free" },
    { delay: 60, plan: "paid" },
    { delay: 300, plan: "free" },
    { delay: 300, plan: "paid" },
  ]);
});

test("from and to are both included", () => {
  expect(combinations({ seed: { from: 1, to: 3 } }).map(({ seed }) => seed)).toEqual([1, 2, 3]);
  expect(combinations({ seed: { from: 7, to: 7 } })).toEqual([{ seed: 7 }]);
});

test("a text that is nothing but a name becomes the value, of whatever type; within a text it becomes text", () => {
  const { value, unknownNames: unknown } = fillTemplate(
    { delay: "${delay}", told: "after ${delay} s, ${on}", list: ["${on}"] },
    { delay: 60, on: false },
  );
  expect(value).toEqual({ delay: 60, told: "after 60 s, false", list: [false] });
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

test.each(["${delay}", "$${delay}", "$$", "$ and ${delay}", "$"])(
  "%s is written so that it is read again as it was",
  (text) => {
    const { value, usedNames: used } = fillTemplate(escapePlaceholders({ list: [text], none: null }), {
      delay: 60,
    });
    expect([value, used.size]).toEqual([{ list: [text], none: null }, 0]);
  },
);

test("keys and the matrix itself are left as they are", () => {
  const source = { "${delay}": 1, matrix: { delay: ["${other}"] } };
  expect(fillTemplate(source, { delay: 60 })).toMatchObject({ value: source, unknownNames: [] });
});

test("a name that is not there is told with its place and the names that are", () => {
  const values = { delay: 60, plan: "free" };
  const { value, unknownNames: unknown } = fillTemplate({ steps: [{ advance: "${wait}" }] }, values);
  expect(unknown).toEqual([{ path: ["steps", 0, "advance"], name: "wait" }]);
  expect(value).toEqual({ steps: [{ advance: "${wait}" }] });
  expect(unknownNameMessage("wait", values)).toBe("there is no ${wait} in the matrix; known are delay, plan");
});

test("names that are in the file are told, those that only look like it are not", () => {
  expect([
    ...fillTemplate(
      { a: "${one} and ${two}", b: "$${three}", "${four}": 5, matrix: { x: ["${five}"] } },
      { one: 1, two: 2 },
    ).usedNames,
  ]).toEqual([...["one", "two"]]);
});
