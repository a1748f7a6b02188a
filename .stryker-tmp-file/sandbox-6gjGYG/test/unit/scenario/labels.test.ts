// @ts-nocheck
import { expect, test } from "vitest";
import { isLabel, Labels } from "../../../src/scenario/file/labels.ts";
import { scenario } from "../../../src/scenario/file/scenario-schema.ts";
import { accountDescriptions, labelsOfDescription } from "../../../src/scenario/file/world-description.ts";

const worldOf = (world: object) => scenario.parse({ version: 1, world }).world;

/** Labels of a world whose ids are the labels. */
function labelsIn(world: object): Labels {
  const labels = new Labels();
  for (const { kind, label, account } of labelsOfDescription(worldOf(world)))
    labels.add({ kind, label, id: `id of ${label}`, account });
  return labels;
}
const computesOf = (labels: Labels, pattern: string) => labels.computes(pattern).map(({ label }) => label);

const FLEET = labelsIn({
  projects: {
    fleet: { count: 3 },
    shop: {
      branches: {
        main: { computes: { primary: {}, "replica-1": { type: "read_only" } } },
        dev: { computes: { primary: {} } },
      },
    },
    empty: { branches: { main: {} } },
  },
});

test("a branch selects its first compute, a compute selects itself, and an unknown label selects nothing", () => {
  expect(computesOf(FLEET, "shop/main")).toEqual(["shop/main/primary"]);
  expect(computesOf(FLEET, "shop/main/replica-1")).toEqual(["shop/main/replica-1"]);
  expect(computesOf(FLEET, "empty/main")).toEqual([]);
  expect(computesOf(FLEET, "nobody")).toEqual([]);
});

test("a project selects the first compute of each of its branches", () => {
  expect(computesOf(FLEET, "shop")).toEqual(["shop/main/primary", "shop/dev/primary"]);
});

test("a wildcard selects all matches in the order of the file, and does not match a slash", () => {
  expect(computesOf(FLEET, "fleet-*/main")).toEqual([
    "fleet-1/main/primary",
    "fleet-2/main/primary",
    "fleet-3/main/primary",
  ]);
  expect(computesOf(FLEET, "shop/main/*")).toEqual(["shop/main/primary", "shop/main/replica-1"]);
  expect(computesOf(FLEET, "shop/*")).toEqual(["shop/main/primary", "shop/dev/primary"]);
  expect(computesOf(FLEET, "*/dev")).toEqual(["shop/dev/primary"]);
  expect(computesOf(FLEET, "fleet-*-main")).toEqual([]);
});

test("an id has its label, and an id without a label is its own label", () => {
  expect(FLEET.labelOf("id of shop/main")).toBe("shop/main");
  expect(FLEET.labelOf("ep-unnamed")).toBe("ep-unnamed");
  expect(FLEET.get("shop")?.kind).toBe("project");
});

test.each([
  ["shop", true],
  ["shop/main/replica-1", true],
  ["fleet-*/main", true],
  ["shop/main/replica-1/more", false],
  ["Shop", false],
  ["/shop", false],
  ["shop/", false],
  ["", false],
])("%j has the form of a label: %s", (text, expected) => {
  expect(isLabel(text)).toBe(expected);
});

test("projects without an account belong to main, which exists if it has projects or if there is no other account", () => {
  const accounts = (world: object) =>
    accountDescriptions(worldOf(world)).map(({ label, plan, projects }) => [
      label,
      plan,
      projects.map((project) => project.label),
    ]);
  expect(accounts({})).toEqual([["main", "paid", []]]);
  expect(accounts({ plan: "free", projects: { shop: {} } })).toEqual([["main", "free", ["shop"]]]);
  expect(accounts({ accounts: { hobby: { plan: "free" } } })).toEqual([["hobby", "free", []]]);
  expect(accounts({ accounts: { hobby: {} }, projects: { shop: {} } })).toEqual([
    ["main", "paid", ["shop"]],
    ["hobby", "paid", []],
  ]);
  expect(
    accounts({ accounts: { main: { projects: { blog: {} } } }, projects: { shop: { count: 2 } } }),
  ).toEqual([["main", "paid", ["blog", "shop-1", "shop-2"]]]);
});
