import { expect } from "vitest";
import { listedBranch, renderBranch } from "../../../src/platform-api/render/render-branch.ts";
import { listedEndpoint, renderListedEndpoint } from "../../../src/platform-api/render/render-endpoint.ts";
import { listedOperation, renderOperation } from "../../../src/platform-api/render/render-operation.ts";
import { listedProject, renderProjectListItem } from "../../../src/platform-api/render/render-project.ts";
import type { Double } from "../double/double.ts";

const PAGE = 20;

/** Expects that cached rows of lists equal rows rendered now. */
export async function expectListsUpToDate(double: Double): Promise<void> {
  await double.world.transact(({ world, now, operations, operation }) => {
    for (const project of world.projects.values()) {
      expect(listedProject(world, project, now)).toBe(
        JSON.stringify(renderProjectListItem(world, project, now)),
      );
      for (const row of operations(project.id, PAGE)) {
        expect(row).toEqual(operation(row.id));
        expect(listedOperation(row, now)).toBe(JSON.stringify(renderOperation(row, now)));
      }
    }
    for (const branch of world.branches.values())
      expect(listedBranch(world, branch, now)).toBe(JSON.stringify(renderBranch(world, branch, now)));
    for (const compute of world.computes.values())
      expect(listedEndpoint(world, compute, now)).toBe(
        JSON.stringify(renderListedEndpoint(world, compute, now)),
      );
  });
}
