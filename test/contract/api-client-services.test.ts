import { expect, test } from "vitest";
import { errorOf } from "../support/public-client.ts";
import { startServedClient } from "../support/served-client.ts";

// Services of a branch in which nothing can be created: lists are empty, and settings are not found.

const { advance, client } = await startServedClient();

async function createShop() {
  const { project, branch } = (await client.createProject({ project: { name: "shop" } })).data;
  await advance("20s");
  return { projectId: project.id, branchId: branch.id };
}

test("a branch has no buckets, functions or credentials", async () => {
  const { projectId, branchId } = await createShop();
  expect((await client.listProjectBranchBuckets(projectId, branchId)).data).toEqual({ buckets: [] });
  expect((await client.listCredentials(projectId, branchId)).data).toEqual({ credentials: [] });
  const page = await client.listProjectBranchFunctions({ projectId, branchId, limit: 5 });
  expect(page.data).toEqual({ functions: [] });
});

test("neither auth nor the Data API of a branch is enabled", async () => {
  const { projectId, branchId } = await createShop();
  expect(await errorOf(client.getNeonAuth(projectId, branchId))).toEqual({
    status: 404,
    code: "NOT_ENABLED",
    message: `auth is not enabled for branch "${branchId}"`,
  });
  expect(await errorOf(client.getProjectBranchDataApi(projectId, branchId, "neondb"))).toEqual({
    status: 404,
    code: "NOT_ENABLED",
    message: `the Data API is not enabled for database "neondb" of branch "${branchId}"`,
  });
  expect(await errorOf(client.getProjectBranchDataApi(projectId, branchId, "none"))).toMatchObject({
    status: 404,
    code: "DATABASE_NOT_FOUND",
  });
});
