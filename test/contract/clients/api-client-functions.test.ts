import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// Functions of a branch: their deployments are built by the world's clock. Nothing runs them.

const { advance, client } = await startServedClient();

async function createShop(): Promise<[projectId: string, branchId: string]> {
  const { project, branch } = (await client.createProject({ project: { name: "shop" } })).data;
  await advance("20s");
  return [project.id, branch.id];
}
const zip = () => new File(["code"], "bundle.zip");

test("a deployment is built while the clock advances, and inherits what the next one omits", async () => {
  const shop = await createShop();
  const environment = JSON.stringify({ B: "1", A: "2" });
  const { deployment } = (
    await client.createProjectBranchFunctionDeployment(...shop, "hello", { zip: zip(), environment })
  ).data;
  expect(deployment).toMatchObject({
    id: 1,
    status: "pending",
    runtime: "nodejs24",
    environment: ["A", "B"],
  });
  const get = async () => (await client.getProjectBranchFunction(...shop, "hello")).data.function;
  expect(await get()).not.toHaveProperty("active_deployment");
  await advance("1s");
  expect((await get()).current_deployment?.status).toBe("building");
  await advance("4s");
  expect((await get()).active_deployment).toMatchObject({ id: 1, status: "completed" });
  await client.createProjectBranchFunctionDeployment(...shop, "hello", {
    environment: JSON.stringify({ A: "", C: "3" }),
  });
  const [, branchId] = shop;
  expect(await get()).toMatchObject({
    slug: "hello",
    name: "hello",
    invocation_url: `https://${branchId}-hello.functions.us-east-2.aws.standin.localhost/`,
    current_deployment: { id: 2, status: "pending", environment: ["B", "C"] },
    active_deployment: { id: 1, environment: ["A", "B"] },
  });
});

test("a deployment that cannot be one is rejected, and changes nothing", async () => {
  const shop = await createShop();
  const deploy = (form: object, slug = "hello") =>
    errorOf(client.createProjectBranchFunctionDeployment(...shop, slug, form));
  const problems = [
    await deploy({ environment: "{}" }),
    await deploy({ zip: zip(), environment: "[" }),
    await deploy({ zip: zip(), environment: JSON.stringify({ A: 1 }) }),
    await deploy({ zip: zip() }, "Not-a-slug"),
  ];
  expect(problems.map(({ status, message }) => [status, message.split(":")[0]])).toEqual([
    [400, "zip"],
    [400, "environment"],
    [400, "environment.A"],
    [400, "slug"],
  ]);
  expect((await client.listProjectBranchFunctions({ projectId: shop[0], branchId: shop[1] })).data).toEqual({
    functions: [],
  });
});

test("functions are listed in pages, renamed by the branch that owns them, and deleted", async () => {
  const [projectId, branchId] = await createShop();
  const branch = { projectId, branchId };
  for (const slug of ["one", "two", "three"])
    await client.createProjectBranchFunctionDeployment(projectId, branchId, slug, { zip: zip() });
  const first = (await client.listProjectBranchFunctions({ ...branch, limit: 2 })).data;
  const cursor = (first as { pagination?: { next: string } }).pagination?.next ?? "";
  const second = (await client.listProjectBranchFunctions({ ...branch, limit: 2, cursor })).data;
  expect([first, second].map(({ functions }) => functions.map(({ slug }) => slug))).toEqual([
    ["one", "two"],
    ["three"],
  ]);
  expect(second).not.toHaveProperty("pagination");

  const { branch: child } = (await client.createProjectBranch(projectId, {})).data;
  await advance("20s");
  await client.updateProjectBranchFunction(projectId, branchId, "one", { name: "  First  " });
  const nameOn = async (id: string) =>
    (await client.getProjectBranchFunction(projectId, id, "one")).data.function.name;
  expect([await nameOn(branchId), await nameOn(child.id)]).toEqual(["First", "one"]);
  const rename = () => client.updateProjectBranchFunction(projectId, child.id, "one", { name: "Child" });
  expect(await errorOf(rename())).toMatchObject({ status: 404, code: "SERVICE_RECORD_NOT_FOUND" });
  await client.createProjectBranchFunctionDeployment(projectId, child.id, "one", { zip: zip() });
  await rename();
  expect(await nameOn(child.id)).toBe("Child");

  await client.deleteProjectBranchFunction(projectId, branchId, "one");
  expect(await errorOf(nameOn(branchId))).toMatchObject({ status: 404 });
  expect(await nameOn(child.id)).toBe("Child");
});
