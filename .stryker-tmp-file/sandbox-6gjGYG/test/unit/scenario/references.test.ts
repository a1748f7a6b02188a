// @ts-nocheck
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the matrix are written like this.
import { expect, test } from "vitest";
import {
  escapeReferences,
  referencesIn,
  resolveReferences,
  valueAtPath,
} from "../../../src/scenario/file/references.ts";

const KNOWN: Readonly<Record<string, unknown>> = {
  shop: "p-1",
  "shop/main": "br-1",
  count: 3,
  object: { id: 1 },
};
const known = (name: string) => KNOWN[name];

test("references are found at any depth", () => {
  expect(
    referencesIn({
      path: "/projects/{shop}/x/{shop/main}",
      list: [{ deep: "{count}" }],
      none: 5,
      null: null,
    }),
  ).toEqual(["shop", "shop/main", "count"]);
});

test("JSON braces, capitals and spaces are not references", () => {
  expect(referencesIn(['{"a": 1}', "{Shop}", "{ shop }", "{}", "shop}"])).toEqual([]);
});

test("a text that is only a reference becomes the value of any type; within a text it becomes text", () => {
  expect(resolveReferences({ id: "{shop}", n: "{count}", o: "{object}", text: "n={count}" }, known)).toEqual({
    id: "p-1",
    n: 3,
    o: { id: 1 },
    text: "n=3",
  });
});

test("doubled braces and braces after a dollar sign are not references", () => {
  const texts = ["{{shop}}", "a{{nobody}}b", "{{{shop}}}", "${shop}", "{{shop}", "{shop}}"];
  expect(resolveReferences(texts, known)).toEqual([
    "{shop}",
    "a{nobody}b",
    "{{shop}}",
    "${shop}",
    "{p-1",
    "p-1}",
  ]);
  expect(referencesIn(texts)).toEqual(["shop", "shop"]);
});

test.each([
  "{shop}",
  "{{shop}}",
  "{{{shop}",
  "{shop}{count}",
  "${shop}",
  '{"a":{shop}}',
  "{Shop} {}",
  "{nobody}",
])("%s survives escaping", (text) => {
  const written = escapeReferences({ list: [text], none: null });
  expect(referencesIn(written)).toEqual([]);
  expect(resolveReferences(written, known)).toEqual({ list: [text], none: null });
});

test("an unknown reference stays unchanged", () => {
  expect(resolveReferences(["{nobody}", "a {nobody} b", 1, null], known)).toEqual([
    "{nobody}",
    "a {nobody} b",
    1,
    null,
  ]);
});

test("a path resolves objects and lists, and is undefined if nothing is there", () => {
  const response = { endpoints: [{ id: "ep-1" }], project: null };
  expect(valueAtPath(response, "endpoints.0.id")).toBe("ep-1");
  expect(valueAtPath(response, "endpoints.1.id")).toBeUndefined();
  expect(valueAtPath(response, "project.id")).toBeUndefined();
  expect(valueAtPath(undefined, "a")).toBeUndefined();
});
