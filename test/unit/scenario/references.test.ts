// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how names of the matrix are written.
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

test("what stands in braces is found wherever it is", () => {
  expect(
    referencesIn({
      path: "/projects/{shop}/x/{shop/main}",
      list: [{ deep: "{count}" }],
      none: 5,
      null: null,
    }),
  ).toEqual(["shop", "shop/main", "count"]);
});

test("what is no name is no reference: braces of JSON, capitals, spaces", () => {
  expect(referencesIn(['{"a": 1}', "{Shop}", "{ shop }", "{}", "shop}"])).toEqual([]);
});

test("a text that is nothing else becomes what it refers to, of its type; within a text it becomes text", () => {
  expect(resolveReferences({ id: "{shop}", n: "{count}", o: "{object}", text: "n={count}" }, known)).toEqual({
    id: "p-1",
    n: 3,
    o: { id: 1 },
    text: "n=3",
  });
});

test("in two braces, which are one, and behind a dollar sign nothing is referred to", () => {
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
])("%s is written so that it is read again as it was", (text) => {
  const written = escapeReferences({ list: [text], none: null });
  expect(referencesIn(written)).toEqual([]);
  expect(resolveReferences(written, known)).toEqual({ list: [text], none: null });
});

test("what nobody knows stays as it is", () => {
  expect(resolveReferences(["{nobody}", "a {nobody} b", 1, null], known)).toEqual([
    "{nobody}",
    "a {nobody} b",
    1,
    null,
  ]);
});

test("a path goes through objects and lists, and ends in nothing where there is nothing", () => {
  const answer = { endpoints: [{ id: "ep-1" }], project: null };
  expect(valueAtPath(answer, "endpoints.0.id")).toBe("ep-1");
  expect(valueAtPath(answer, "endpoints.1.id")).toBeUndefined();
  expect(valueAtPath(answer, "project.id")).toBeUndefined();
  expect(valueAtPath(undefined, "a")).toBeUndefined();
});
