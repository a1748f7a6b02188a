import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandScene } from "../../support/clients/command-scene.ts";
import { CLIS } from "../../support/clients/neonctl.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

// Roles, databases, connection URIs, and the context file.

let scene: CommandScene;
beforeAll(async () => {
  scene = await CommandScene.open();
});
afterAll(() => scene.close("databases", "roles", "operations", "connection-string", "set-context"));

describe.each(CLIS)("%s", (cli) => {
  test("it creates, lists and deletes roles and databases, and gives their connection URIs", async () => {
    const { command, client, orgId } = await scene.newAccount(cli);
    const { project, branch, endpoints } = (
      await client.createProject({ project: { name: "shop", org_id: orgId } })
    ).data;
    const at = ["--project-id", project.id, "--branch", branch.id];
    expect(await command.json("roles", "create", "--name", "alice", ...at)).toMatchObject({
      name: "alice",
      branch_id: branch.id,
    });
    expect(
      (await command.json("roles", "list", ...at)).map(({ name }: { name: string }) => name).sort(),
    ).toEqual(["alice", "neondb_owner"]);
    await command.json("databases", "create", "--name", "app", "--owner-name", "alice", ...at);
    const databases = await command.json("databases", "list", ...at);
    expect(databases.find(({ name }: { name: string }) => name === "app")).toMatchObject({
      owner_name: "alice",
    });

    const { stdout } = await command.run([
      ...["connection-string", branch.id, "--project-id", project.id],
      ...["--role-name", "alice", "--database-name", "app", "--pooled"],
    ]);
    const { password } = (await client.getProjectBranchRolePassword(project.id, branch.id, "alice")).data;
    const host = endpoints[0]?.host.replace(/^([^.]+)/, "$1-pooler");
    expect(new URL(stdout.trim())).toMatchObject({
      username: "alice",
      password,
      pathname: "/app",
      hostname: host,
    });

    await command.json("databases", "delete", "app", ...at);
    await command.json("roles", "delete", "alice", ...at);
    expect((await client.listProjectBranchDatabases(project.id, branch.id)).data.databases).toMatchObject([
      { name: "neondb" },
    ]);
    expect((await client.listProjectBranchRoles(project.id, branch.id)).data.roles).toMatchObject([
      { name: "neondb_owner" },
    ]);
  });

  test("it stores the project in a file and uses it in later commands", async () => {
    const home = temporaryDirectory();
    const { command, client, orgId } = await scene.newAccount(cli, home.path);
    const { project } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
    await client.createProject({ project: { name: "another", org_id: orgId } });
    expect(await command.complaint("operations", "list")).toContain("Multiple projects found");
    const { code } = await command.run(["set-context", "--project-id", project.id, "--org-id", orgId]);
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(join(home.path, ".neon"), "utf8"))).toMatchObject({
      projectId: project.id,
      orgId,
    });
    const operations = await command.json("operations", "list");
    expect(
      operations.map(({ action, status, project_id }: Record<string, string>) => [
        action,
        status,
        project_id,
      ]),
    ).toEqual([
      ["start_compute", "finished", project.id],
      ["create_timeline", "finished", project.id],
    ]);
    home.remove();
  });
});
