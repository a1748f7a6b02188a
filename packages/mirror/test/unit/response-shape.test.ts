import { describe, expect, test } from "vitest";
import { compareShapes, shapeOf } from "../../src/drift/response-shape.ts";

/** What differs between the shapes of single answers. */
const between = (here: unknown, there: unknown) => compareShapes(shapeOf([here]), shapeOf([there]));
const UUID = "22acbb37-209b-4b90-a39c-8460090e1329";

test("values are not compared, only what they are", () => {
  const here = {
    id: "br-a-1",
    name: "main",
    protected: false,
    size: 1,
    tags: ["a"],
    at: "2026-01-01T00:00:00Z",
    left: null,
  };
  const there = {
    id: "br-b-2",
    name: "x",
    protected: true,
    size: 2.5,
    tags: ["b", "c"],
    at: "2025-12-31T23:59:59.123+02:00",
    left: null,
  };
  expect(between(here, there)).toEqual([]);
});

test("a field that only one of them has is missing on the other side, with what it is where it is", () => {
  expect(between({ project: { a: 1 } }, { project: { b: UUID } })).toEqual([
    { path: "project.a", kind: "missing there", here: "number", there: "absent" },
    { path: "project.b", kind: "missing here", here: "absent", there: "uuid" },
  ]);
});

test.each([
  ["16", 16, "type", "text", "number"],
  [null, "a", "type", "null", "text"],
  [[], {}, "type", "array", "object"],
  [true, "true", "type", "boolean", "text"],
  ["2026-01-01T00:00:00Z", "2026-01-01", "format", "timestamp", "text"],
  ["2026-01-01T00:00:00Z", UUID, "format", "timestamp", "uuid"],
])("%j here and %j there differ in %s", (here, there, kind, ours, theirs) => {
  expect(between({ f: here }, { f: there })).toEqual([{ path: "f", kind, here: ours, there: theirs }]);
});

test("an id is one where the field says so: names may look like ids", () => {
  expect(between({ name: "spring-rain-1" }, { name: "The Shop" })).toEqual([]);
  expect(between({ owner_id: "spring-rain-1" }, { owner_id: UUID })).toEqual([
    { path: "owner_id", kind: "format", here: "id", there: "uuid" },
  ]);
  expect(between({ image: "" }, { image: UUID })).toEqual([]);
});

test("the root itself may be of another type", () => {
  expect(between([], {})).toEqual([{ path: "the answer", kind: "type", here: "array", there: "object" }]);
});

describe("elements of a list", () => {
  test("are one shape together: what only some have is there sometimes, and not missing", () => {
    expect(between([{ a: 1 }, { a: 1, b: 2 }], [{ a: 1, b: 2 }])).toEqual([
      { path: "[].b", kind: "sometimes", here: "number, in 1 of 2", there: "number" },
    ]);
    expect(between({ l: [{ a: 1 }, { a: 1, b: 2 }] }, { l: [{ a: 1 }] })).toEqual([
      { path: "l[].b", kind: "sometimes", here: "number, in 1 of 2", there: "absent" },
    ]);
    expect(between([{ a: 1 }, { b: 2 }], [{ b: 2 }, { a: 1 }, { a: 1 }])).toEqual([]);
  });

  test("lack a field where none has it and all have it on the other side", () => {
    expect(between([{ a: 1 }, { a: 1 }], [{ a: 1, b: 2 }])).toEqual([
      { path: "[].b", kind: "missing here", here: "absent", there: "number" },
    ]);
  });

  test("are null sometimes, which is no change of type", () => {
    expect(between([{ a: 1 }, { a: null }], [{ a: 1 }])).toEqual([
      { path: "[].a", kind: "sometimes", here: "number or null", there: "number" },
    ]);
  });

  test("cannot be compared with those of an empty list, which is said", () => {
    expect(between({ l: [] }, { l: [{ a: 1 }] })).toEqual([
      { path: "l[]", kind: "not compared", here: "empty", there: "object" },
    ]);
    expect(between({ l: [] }, { l: [] })).toEqual([]);
  });
});

describe("a map", () => {
  test("keyed by ids has entries, and no fields", () => {
    const here = { annotations: { "br-a-1": { at: 1 } }, by: { "42": { x: 1 }, [UUID]: { x: 2 } } };
    const there = {
      annotations: { "br-b-2": { at: 2 }, "br-c-3": { at: 3 } },
      by: { "ep-a-1": { x: "one" } },
    };
    expect(between(here, there)).toEqual([{ path: "by{}.x", kind: "type", here: "number", there: "text" }]);
  });

  test("that users key as they like is none either", () => {
    expect(
      between({ pg_settings: { work_mem: "8MB" } }, { pg_settings: { jit: "off", geqo: "on" } }),
    ).toEqual([]);
  });

  test("that is empty is compared with nothing", () => {
    expect(between({ applications: {} }, { applications: { "spring-rain-1": ["a"] } })).toEqual([
      { path: "applications{}", kind: "not compared", here: "empty", there: "array" },
    ]);
  });
});

test("an answer without end in depth is looked at to a bound", () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 5_000; depth += 1) deep = { deep };
  expect(between(deep, deep)).toEqual([]);
});

test("a page of nothing has no cursor: where one side lists nothing, that is no difference", () => {
  const page = { projects: [{ name: "shop" }], pagination: { cursor: "abc" } };
  expect(
    compareShapes(shapeOf([{ projects: [] }]), shapeOf([page])).filter(({ path }) => path === "pagination"),
  ).toMatchObject([{ kind: "sometimes" }]);
  const without = { projects: [{ name: "shop" }] };
  expect(compareShapes(shapeOf([without]), shapeOf([page]))).toMatchObject([
    { path: "pagination", kind: "missing here" },
  ]);
});

test("a field that is there only while something is so is a remark where one side lacks it", () => {
  expect(between({ branch: { parent_id: "br-a-1" } }, { branch: {} })).toMatchObject([
    { path: "branch.parent_id", kind: "sometimes" },
  ]);
  expect(between({ endpoint: {} }, { endpoint: { compute_release_version: "1" } })).toMatchObject([
    { kind: "sometimes" },
  ]);
});
