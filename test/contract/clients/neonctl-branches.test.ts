import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandScene } from "../../support/clients/command-scene.ts";
import { CLIS } from "../../support/clients/neonctl.ts";

let scene: CommandScene;
beforeAll(async () => {
  scene = await CommandScene.open();
});
afterAll(() => scene.close("branches"));

/** A project with the branch `main`. */
async function shop(cli: (typeof CLIS)[number]) {
  const { command, client, orgId } = await scene.newAccount(cli);
  const { project, branch } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
  return { command, client, project, main: branch, at: ["--project-id", project.id] };
}

describe.each(CLIS)("%s", (cli) => {
  test("it creates, gets, renames, lists and deletes branches, and sets the default and an expiration", async () => {
    const { command, client, project, main, at } = await shop(cli);
    const { branch, endpoints, connection_uris } = await command.json(
      "branches",
      "create",
      "--name",
      "dev",
      ...at,
    );
    expect(branch).toMatchObject({
      id: expect.stringMatching(/^br-[a-z]+-[a-z]+-a5[a-z0-9]{6}$/),
      name: "dev",
      parent_id: main.id,
      default: false,
    });
    expect(endpoints).toMatchObject([
      { type: "read_write", branch_id: branch.id, suspend_timeout_seconds: 0 },
    ]);
    expect(connection_uris).toHaveLength(1);
    const now = async () => (await client.getProjectBranch(project.id, branch.id)).data.branch;

    await command.json(
      "branches",
      "set-expiration",
      branch.id,
      "--expires-at",
      "2026-01-02T00:00:00Z",
      ...at,
    );
    expect(await now()).toMatchObject({ expires_at: "2026-01-02T00:00:00Z" });
    await command.json("branches", "set-expiration", branch.id, ...at);
    expect((await now()).expires_at).toBeUndefined();
    expect(await command.json("branches", "rename", "dev", "next", ...at)).toMatchObject({
      id: branch.id,
      name: "next",
    });
    await command.json("branches", "set-default", branch.id, ...at);
    expect(await command.json("branches", "get", "next", ...at)).toMatchObject({
      id: branch.id,
      default: true,
      current_state: "ready",
    });
    expect(await command.complaint("branches", "delete", branch.id, ...at)).toContain("default branch");
    await client.setDefaultProjectBranch(project.id, main.id);
    expect(await command.json("branches", "delete", branch.id, ...at)).toMatchObject({ id: branch.id });
    expect(await command.json("branches", "list", ...at)).toMatchObject([
      { name: "main", default: true, current_state: "ready" },
    ]);
  });

  test("it adds computes to a branch: replicas in any number, one primary", async () => {
    const { command, client, project, main, at } = await shop(cli);
    // C: both send the given branch as the name of the compute and ignore `--name`.
    expect(await command.json("branches", "add-compute", main.id, "--cu", "0.25-1", ...at)).toMatchObject({
      type: "read_only",
      name: main.id,
      autoscaling_limit_max_cu: 1,
    });
    const second = await command.complaint("branches", "add-compute", main.id, "--type", "read_write", ...at);
    expect(second).toContain("read_write endpoint already exists");
    const { endpoints } = (await client.listProjectBranchEndpoints(project.id, main.id)).data;
    expect(endpoints.map(({ type }) => type).sort()).toEqual(["read_only", "read_write"]);
  });

  test("it resets a branch to its parent and restores it to its own past, preserving the replaced content", async () => {
    const { command, client, project, main, at } = await shop(cli);
    const { branch } = (await client.createProjectBranch(project.id, { branch: { name: "dev" } })).data;
    const databases = async (id: string) =>
      (await client.listProjectBranchDatabases(project.id, id)).data.databases.map(({ name }) => name);
    await scene.advance("1h");
    await client.createProjectBranchDatabase(project.id, main.id, {
      database: { name: "late", owner_name: "neondb_owner" },
    });

    const reset = await command.json(
      "branches",
      "reset",
      branch.id,
      "--parent",
      "--preserve-under-name",
      "before-reset",
      ...at,
    );
    expect(reset).toMatchObject({ id: branch.id, parent_id: main.id });
    expect(await databases(branch.id)).toContain("late");

    await scene.advance("1h");
    await client.deleteProjectBranchDatabase(project.id, main.id, "late");
    const past = new Date(Date.parse(reset.last_reset_at) + 60_000).toISOString();
    const restored = await command.json(
      "branches",
      "restore",
      main.id,
      `^self@${past}`,
      "--preserve-under-name",
      "before-restore",
      ...at,
    );
    expect(restored).toMatchObject({
      restored_branch: { id: main.id },
      backup_branch: { name: "before-restore" },
    });
    expect(await databases(main.id)).toContain("late");
    expect(await databases(restored.backup_branch.id)).not.toContain("late");
    const names = (await client.listProjectBranches({ projectId: project.id })).data.branches.map(
      ({ name }) => name,
    );
    expect(names.sort()).toEqual(["before-reset", "before-restore", "dev", "main"]);
  });

  // There is no data, so every schema is empty and the diff consists of its header.
  test("it finds no difference between the schemas of a branch and its parent", async () => {
    const { command, client, project, main, at } = await shop(cli);
    const { branch } = (await client.createProjectBranch(project.id, { branch: { name: "dev" } })).data;
    const { code, stdout } = await command.run(["branches", "schema-diff", branch.id, "^parent", ...at]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `--- Database: neondb\t(Branch: ${main.id})\n+++ Database: neondb\t(Branch: ${branch.id})\n`,
    );
  });
});
