import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandScene, START } from "../../support/clients/command-scene.ts";
import { CLIS } from "../../support/clients/neonctl.ts";

let scene: CommandScene;
beforeAll(async () => {
  scene = await CommandScene.open();
});
afterAll(() => scene.close("projects", "ip-allow", "vpc"));

describe.each(CLIS)("%s", (cli) => {
  test("it creates, lists, gets, updates, deletes and recovers a project", async () => {
    const { command, client, orgId } = await scene.newAccount(cli);
    const { project, connection_uris } = await command.json(
      ...["projects", "create", "--name", "shop", "--region-id", "aws-eu-central-1", "--org-id", orgId],
      ...["--cu", "0.5-2", "--database", "app", "--role", "alice"],
    );
    expect(project).toMatchObject({
      name: "shop",
      region_id: "aws-eu-central-1",
      org_id: orgId,
      created_at: START,
    });
    expect(project.default_endpoint_settings).toMatchObject({
      autoscaling_limit_min_cu: 0.5,
      autoscaling_limit_max_cu: 2,
    });
    expect(new URL(connection_uris[0].connection_uri)).toMatchObject({ username: "alice", pathname: "/app" });
    expect(await command.json("projects", "list")).toMatchObject({
      projects: [{ id: project.id }],
      shared_with_you: [],
    });
    expect(await command.json("projects", "get", project.id)).toMatchObject({ id: project.id, name: "shop" });
    await command.json(
      "projects",
      "update",
      project.id,
      "--name",
      "renamed",
      "--cu",
      "1",
      "--block-public-connections",
    );
    expect((await client.getProject(project.id)).data.project).toMatchObject({
      name: "renamed",
      default_endpoint_settings: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 },
      settings: { block_public_connections: true },
    });
    expect(await command.json("projects", "delete", project.id)).toMatchObject({
      id: project.id,
      name: "renamed",
    });
    expect((await client.listProjects({})).data.projects).toEqual([]);
    const recoverable = await command.json("projects", "list", "--recoverable-only");
    expect(recoverable).toMatchObject([
      { id: project.id, deleted_at: START, recoverable_until: "2026-01-08T00:00:00Z" },
    ]);
    expect(await command.json("projects", "recover", project.id)).toMatchObject({ id: project.id });
    expect((await client.listProjects({})).data.projects).toMatchObject([{ id: project.id }]);
  });

  test("it changes the IP allowlist", async () => {
    const { command, client, orgId } = await scene.newAccount(cli);
    const { project } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
    const at = ["--project-id", project.id];
    const allowed = async () => (await client.getProject(project.id)).data.project.settings?.allowed_ips;
    await command.json("ip-allow", "add", "192.0.2.1", "198.51.100.0/24", "--protected-only", ...at);
    expect(await allowed()).toEqual({
      ips: ["192.0.2.1", "198.51.100.0/24"],
      protected_branches_only: true,
      primary_branch_only: false,
    });
    await command.json("ip-allow", "remove", "192.0.2.1", ...at);
    expect(await command.json("ip-allow", "list", ...at)).toMatchObject({
      id: project.id,
      IP_addresses: ["198.51.100.0/24"],
      protected_branches_only: true,
    });
    await command.json("ip-allow", "reset", ...at);
    expect(await allowed()).toEqual({ ips: [], protected_branches_only: false, primary_branch_only: false });
  });

  test("it assigns endpoints of private networks to an organization, and restricts a project to one", async () => {
    const { command, client, orgId } = await scene.newAccount(cli);
    const region = "aws-us-east-2";
    const { project } = (
      await client.createProject({ project: { name: "shop", org_id: orgId, region_id: region } })
    ).data;
    const vpc = "vpce-1234567890abcdef0";
    const organization = ["--org-id", orgId, "--region-id", region];
    await command.run(["vpc", "endpoint", "assign", vpc, "--label", "office", ...organization]);
    expect(await command.json("vpc", "endpoint", "list", ...organization)).toMatchObject([
      { vpc_endpoint_id: vpc, label: "office" },
    ]);
    await command.run([
      "vpc",
      "project",
      "restrict",
      vpc,
      "--label",
      "shop only",
      "--project-id",
      project.id,
    ]);
    expect(await command.json("vpc", "project", "list", "--project-id", project.id)).toMatchObject([
      { vpc_endpoint_id: vpc, label: "shop only" },
    ]);
    expect(await command.json("vpc", "endpoint", "status", vpc, ...organization)).toMatchObject({
      vpc_endpoint_id: vpc,
      num_restricted_projects: 1,
      example_restricted_projects: [project.id],
    });
    await command.run(["vpc", "project", "remove", vpc, "--project-id", project.id]);
    expect((await client.listProjectVpcEndpoints(project.id)).data.endpoints).toEqual([]);
    await command.run(["vpc", "endpoint", "remove", vpc, ...organization]);
    expect((await client.listOrganizationVpcEndpoints(orgId, region)).data.endpoints).toEqual([]);
  });
});
