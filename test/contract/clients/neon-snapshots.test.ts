import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandScene } from "../../support/clients/command-scene.ts";

// Only the newer public CLI has snapshot commands.

let scene: CommandScene;
beforeAll(async () => {
  scene = await CommandScene.open();
});
afterAll(() => scene.close("snapshots"));

async function shop() {
  const { command, client, orgId } = await scene.newAccount("neon");
  const { project, branch } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
  return { command, client, project, main: branch, at: ["--project-id", project.id] };
}

test("neon takes, lists, gets, updates, restores, finalizes and deletes snapshots", async () => {
  const { command, client, project, main, at } = await shop();
  const expiring = ["--expires-at", "2026-02-01T00:00:00Z"];
  const snapshot = await command.json(
    "snapshots",
    "create",
    "--branch",
    main.id,
    "--name",
    "first",
    ...expiring,
    ...at,
  );
  expect(snapshot).toMatchObject({
    id: expect.stringMatching(/^snap-/),
    name: "first",
    source_branch_id: main.id,
  });
  expect(await command.json("snapshots", "list", ...at)).toMatchObject([{ id: snapshot.id, name: "first" }]);
  await command.json("snapshots", "update", snapshot.id, "--name", "kept", ...at);
  expect(await command.json("snapshots", "get", "kept", ...at)).toMatchObject({
    id: snapshot.id,
    expires_at: "2026-02-01T00:00:00Z",
  });

  const { restored_branch } = await command.json(
    "snapshots",
    "restore",
    snapshot.id,
    "--name",
    "seen",
    "--target-branch",
    main.id,
    ...at,
  );
  expect(restored_branch).toMatchObject({ name: "seen", restored_from: snapshot.id });
  await command.json("snapshots", "finalize", restored_branch.id, "--name", "replaced", ...at);
  const { branches } = (await client.listProjectBranches({ projectId: project.id })).data;
  expect(branches.find(({ name }) => name === "main")).toMatchObject({
    id: restored_branch.id,
    default: true,
  });
  expect(branches.find(({ name }) => name === "replaced")).toMatchObject({ id: main.id });

  await command.json("snapshots", "delete", snapshot.id, ...at);
  expect((await client.listSnapshots(project.id)).data.snapshots).toEqual([]);
});

test("neon sets and gets the schedule of a branch's snapshots", async () => {
  const { command, client, project, main, at } = await shop();
  const daily = { frequency: "daily", hour: 3, retention_seconds: 604_800 };
  await command.json(
    ...[
      "snapshots",
      "schedule",
      "set",
      "--branch",
      main.id,
      "--frequency",
      "daily",
      "--hour",
      "3",
      "--retention",
      "604800",
    ],
    ...at,
  );
  expect((await client.getSnapshotSchedule(project.id, main.id)).data.schedule).toEqual([daily]);
  expect(await command.json("snapshots", "schedule", "get", "--branch", main.id, ...at)).toEqual([daily]);
});
