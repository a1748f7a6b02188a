import { describe, expect, test } from "vitest";
import { Table } from "../../../../src/kernel/table.ts";
import type { ApiKeyUse } from "../../../../src/platform/model/api-key.ts";
import type { Branch } from "../../../../src/platform/model/branch.ts";
import type { Compute } from "../../../../src/platform/model/compute.ts";
import type { Project } from "../../../../src/platform/model/project.ts";
import { TABLE_NAMES } from "../../../../src/platform/world/tables.ts";
import { emptyWorld, nextNumber } from "../../../../src/platform/world/world.ts";

const project = (id: string, number: number, deletedAt?: number) =>
  ({ id, accountId: "owner", number, ...(deletedAt === undefined ? {} : { deletedAt }) }) as Project;
const branch = (id: string, name: string, more: Partial<Branch> = {}) =>
  ({ id, projectId: "shop", name, default: false, ...more }) as Branch;
const compute = (id: string, branchId: string, type: Compute["type"]) =>
  ({ id, projectId: "shop", branchId, type, phase: { state: "idle" } }) as unknown as Compute;
const ids = (rows: Iterable<{ readonly id: string }>) => [...rows].map(({ id }) => id);

test("the settings of a world before its first event", () => {
  const { settings, seq, at } = emptyWorld();
  expect({ settings, seq, at }).toEqual({
    settings: { seed: 0, profile: "2024", plan: "paid", operations: "timed", startAt: 0 },
    seq: 0,
    at: 0,
  });
});

test("objects of each kind are numbered from 1, and those of one decision in their order", () => {
  const world = emptyWorld();
  expect([nextNumber(world, "branch"), nextNumber(world, "branch", 2)]).toEqual([1, 3]);
  world.numbers.branch = 7;
  expect([nextNumber(world, "branch"), nextNumber(world, "project")]).toEqual([8, 1]);
});

test("each table records its changes under its own name", () => {
  const world = emptyWorld();
  const named = TABLE_NAMES.map((name) => [name, world[name]] as const);
  const names = named.map(([name, table]) => [name, table instanceof Table ? table.name : name]);
  expect(names).toEqual(TABLE_NAMES.map((name) => [name, name]));
});

test("the uses of API keys are found by the number of the key", () => {
  const { apiKeyUses } = emptyWorld();
  const use = (keyId: number): ApiKeyUse => ({ keyId, lastUsedAt: 1, lastUsedFromAddr: "::1" });
  for (const keyId of [7, 8]) apiKeyUses.set(use(keyId));
  expect([apiKeyUses.get("7"), apiKeyUses.get("8"), apiKeyUses.size]).toEqual([use(7), use(8), 2]);
});

describe("the projects of an account", () => {
  test("are in the order of their creation, with deleted ones in lists of their own", () => {
    const { projects } = emptyWorld();
    for (const number of [1, 2, 3, 4]) projects.set(project(`p${number}`, number));
    // The second is deleted after the third.
    projects.set(project("p3", 3, 10));
    projects.set(project("p2", 2, 20));
    expect(ids(projects.by("account", "owner").values())).toEqual(["p1", "p4"]);
    expect(ids(projects.by("deleted", "owner").values())).toEqual(["p2", "p3"]);
    expect(ids(projects.ordered("owner", "owner").after(0))).toEqual(["p1", "p2", "p3", "p4"]);
    expect(ids(projects.ordered("owner", "owner").after(2))).toEqual(["p3", "p4"]);
    projects.set(project("p2", 2));
    expect(ids(projects.by("account", "owner").values())).toEqual(["p1", "p2", "p4"]);
    expect(ids(projects.by("deleted", "owner").values())).toEqual(["p3"]);
  });
});

/** The database checks unique constraints after each statement, so the order of changes must satisfy them. */
describe("changes that give a unique value to another row are recorded one by one", () => {
  test("when two branches swap their names", () => {
    const { branches, changes } = emptyWorld();
    for (const name of ["a", "b"]) branches.load(branch(`br-${name}`, name));
    branches.set(branch("br-a", "other"));
    branches.set(branch("br-b", "a"));
    branches.set(branch("br-a", "b"));
    expect(changes.list.map(({ key, value }) => [key, (value as Branch).name])).toEqual([
      ["br-a", "other"],
      ["br-b", "a"],
      ["br-a", "b"],
    ]);
  });

  test("when a deleted branch is recovered after its name was given away and returned", () => {
    const { branches, changes } = emptyWorld();
    branches.load(branch("br-a", "a"));
    branches.set(branch("br-a", "a", { deletedAt: 5 }));
    branches.set(branch("br-b", "a"));
    branches.set(branch("br-b", "b"));
    branches.set(branch("br-a", "a"));
    expect(changes.list).toHaveLength(4);
  });

  test("when another branch becomes the default", () => {
    const { branches, changes } = emptyWorld();
    branches.load(branch("br-a", "a", { default: true }));
    branches.load(branch("br-b", "b"));
    branches.set(branch("br-a", "a"));
    branches.set(branch("br-b", "b", { default: true }));
    branches.set(branch("br-b", "b"));
    branches.set(branch("br-a", "a", { default: true }));
    expect(changes.list.map(({ key, value }) => [key, (value as Branch).default])).toEqual([
      ["br-a", false],
      ["br-b", true],
      ["br-b", false],
      ["br-a", true],
    ]);
  });

  test("when two computes swap their branches", () => {
    const { computes, changes } = emptyWorld();
    const one = (branchId: string) => compute("ep-1", branchId, "read_write");
    const other = (branchId: string) => compute("ep-2", branchId, "read_write");
    computes.load(one("x"));
    computes.load(other("y"));
    changes.clear();
    for (const row of [one("none"), other("x"), one("y")]) computes.set(row);
    expect(changes.list.map(({ key }) => key)).toEqual(["ep-1", "ep-2", "ep-1"]);
  });
});
