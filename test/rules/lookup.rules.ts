import { expect, test } from "vitest";
import {
  computesOf,
  computesOnBranch,
  defaultBranchOf,
  findBranchFor,
  findCompute,
  primaryComputeOf,
} from "../../src/platform/world/lookup.ts";
import { createShop, DEV, MAIN_COMPUTE, SHOP, worldWithBranch } from "../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, MINUTE } from "../support/rules/rules.ts";

const createBlog: CommandOf<"CreateProject"> = {
  ...createShop,
  id: "blog",
  branch: { id: "br-blog" },
  compute: { id: "ep-blog" },
};
const createReplica: CommandOf<"CreateCompute"> = {
  type: "CreateCompute",
  ...SHOP,
  branchId: "br-dev",
  id: "ep-replica",
  computeType: "read_only",
  options: {},
};
const createPrimary: CommandOf<"CreateCompute"> = {
  ...createReplica,
  id: "ep-dev",
  computeType: "read_write",
};
const twoProjects = given(
  worldWithBranch(),
  createBlog,
  createReplica,
  after(MINUTE),
  createPrimary,
  after(MINUTE),
);

test("a branch and a compute are found in their own project only", () => {
  twoProjects.asking((world) => {
    const blog = { ...SHOP, projectId: "blog" };
    expect(findBranchFor(world, DEV)).toMatchObject({ ok: true, value: { id: "br-dev" } });
    expect(findBranchFor(world, { ...blog, branchId: "br-dev" })).toMatchObject({
      ok: false,
      refusal: { code: "BRANCH_NOT_FOUND" },
    });
    expect(findCompute(world, MAIN_COMPUTE)).toMatchObject({ ok: true, value: { id: "ep-main" } });
    expect(findCompute(world, { ...blog, computeId: "ep-main" })).toMatchObject({
      ok: false,
      refusal: { code: "ENDPOINT_NOT_FOUND" },
    });
  });
});

test("the primary compute of a branch is the one that can write, even if a read replica is older", () => {
  twoProjects.asking((world) => {
    expect(primaryComputeOf(world, "br-dev")?.id).toBe("ep-dev");
    expect(computesOnBranch(world, "br-dev").map(({ id }) => id)).toEqual(["ep-replica", "ep-dev"]);
  });
});

test("the default branch of a project is the one that was chosen, not the oldest one", () => {
  given(worldWithBranch(), { type: "SetDefaultBranch", ...DEV }).asking((world) => {
    expect(defaultBranchOf(world, "shop")?.id).toBe("br-dev");
  });
});

test("the computes of a deleted branch are not listed", () => {
  given(worldWithBranch(), createReplica, after(MINUTE), { type: "DeleteBranch", ...DEV }).asking((world) => {
    expect(computesOf(world, "shop").map(({ id }) => id)).toEqual(["ep-main"]);
  });
});
