import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandScene } from "../../support/clients/command-scene.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

// The newer public CLI stores a project and a branch in a file, and can send any call.

let scene: CommandScene;
beforeAll(async () => {
  scene = await CommandScene.open();
});
afterAll(() => scene.close("link", "checkout", "diff", "status", "config", "env"));

test("neon sends raw calls, links a directory, checks out branches and compares them", async () => {
  const home = temporaryDirectory();
  const { command, client, orgId } = await scene.newAccount("neon", home.path);
  const { project } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
  const context = () => JSON.parse(readFileSync(join(home.path, ".neon"), "utf8"));

  const branches = `/projects/${project.id}/branches`;
  expect((await command.json("api", branches, "-F", "branch.name=dev")).branch).toMatchObject({
    name: "dev",
  });
  expect((await command.json("api", branches, "-Q", "search=dev")).branches).toMatchObject([{ name: "dev" }]);
  expect(await command.complaint("api", "/nowhere")).toContain("there is no path");

  await command.run(["link", "--yes", "--no-env-pull"]);
  expect(context()).toEqual({ orgId, projectId: project.id, branch: "main" });
  await command.run(["checkout", "dev", "--no-env-pull"]);
  expect(context()).toMatchObject({ branch: "dev" });
  await command.run(["checkout", "fresh", "--create", "--no-env-pull"]);
  expect(context()).toMatchObject({ branch: "fresh" });
  expect(
    (await client.listProjectBranches({ projectId: project.id, search: "fresh" })).data.branches,
  ).toHaveLength(1);
  expect(await command.json("diff", "main")).toMatchObject([
    { base_branch: "main", compare_branch: "fresh", has_changes: false },
  ]);
  home.remove();
});

test("neon shows the services of a branch, and writes its environment", async () => {
  const home = temporaryDirectory();
  const { command, client, orgId } = await scene.newAccount("neon", home.path);
  const { project } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
  const { branches } = (await client.listProjectBranches({ projectId: project.id })).data;
  const main = [project.id, branches[0]?.id ?? ""] as const;
  const place = ["--project-id", project.id, "--branch", "main"];
  const variables = () => {
    const [name = ""] = readdirSync(home.path).filter((file) => file.startsWith(".env"));
    return readFileSync(join(home.path, name), "utf8")
      .split("\n")
      .map((line) => line.split("=")[0]);
  };
  const postgres = ["DATABASE_URL", "DATABASE_URL_UNPOOLED", "NEON_BRANCH"];
  for (const group of [["status"], ["config", "status"], ["env", "pull", "-s", "postgres"]])
    expect([group, (await command.run([...group, ...place])).code]).toEqual([group, 0]);
  expect(variables()).toEqual(expect.arrayContaining(postgres));
  expect(variables()).not.toContain("NEON_AI_GATEWAY_TOKEN");

  // Without a service, the AI gateway's credential is pulled, too.
  expect((await command.run(["env", "pull", ...place])).code).toBe(0);
  expect(variables()).toEqual(expect.arrayContaining([...postgres, "NEON_AI_GATEWAY_TOKEN"]));
  expect((await client.listCredentials(...main)).data.credentials).toMatchObject([
    { scopes: expect.arrayContaining(["ai_gateway:invoke"]) },
  ]);

  await client.createNeonAuth(...main, { auth_provider: "better_auth" as never });
  await client.createProjectBranchDataApi(...main, "neondb", {});
  expect((await command.run(["env", "pull", ...place])).code).toBe(0);
  const services = ["NEON_AUTH_BASE_URL", "NEON_AUTH_JWKS_URL", "NEON_DATA_API_URL"];
  expect(variables()).toEqual(expect.arrayContaining([...postgres, ...services]));

  await client.createProjectBranchBucket(...main, { name: "files" });
  expect((await command.run(["env", "pull", ...place])).code).toBe(0);
  expect(variables()).toEqual(expect.arrayContaining([...postgres, ...services, "AWS_ENDPOINT_URL_S3"]));
  home.remove();
});
