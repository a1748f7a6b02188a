import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandScene } from "../../support/clients/command-scene.ts";
import { CLIS } from "../../support/clients/neonctl.ts";

// User, organization and keys: commands of both public CLIs, and those of the newer one only.

let scene: CommandScene;
beforeAll(async () => {
  scene = await CommandScene.open();
});
afterAll(() => scene.close("me", "orgs", "api-keys"));

describe.each(CLIS)("%s", (cli) => {
  test("it shows the user and its organization", async () => {
    const { command, orgId } = await scene.newAccount(cli);
    expect(await command.json("me")).toMatchObject({
      name: "newcomer",
      email: expect.stringContaining("@"),
      projects_limit: expect.any(Number),
    });
    expect(await command.json("orgs", "list")).toMatchObject([{ id: orgId, name: "newcomer" }]);
  });
});

test("neon creates, lists and revokes keys of the account", async () => {
  const { command, client } = await scene.newAccount("neon");
  const made = await command.json("api-keys", "create", "--name", "ci");
  expect(made).toMatchObject({ name: "ci", key: expect.stringMatching(/^\w{64}$/) });
  expect((await command.json("api-keys", "list")).map(({ name }: { name: string }) => name)).toContain("ci");
  expect(await command.json("api-keys", "revoke", String(made.id))).toMatchObject({
    id: made.id,
    revoked: true,
  });
  expect((await client.listApiKeys()).data.map(({ id }) => id)).not.toContain(made.id);
});

test("neon creates, lists and revokes keys of an organization and of a project", async () => {
  const { command, client, orgId } = await scene.newAccount("neon");
  const { project } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
  const narrow = await command.json("api-keys", "create", "--name", "narrow", "--project-id", project.id);
  expect(narrow).toMatchObject({ name: "narrow", project_id: project.id });
  expect(await command.json("api-keys", "list", "--org-id", orgId)).toMatchObject([
    { id: narrow.id, project_id: project.id },
  ]);
  const revoked = await command.json("api-keys", "revoke", String(narrow.id), "--org-id", orgId);
  expect(revoked).toMatchObject({ id: narrow.id, revoked: true });
  expect((await client.listOrgApiKeys(orgId)).data).toEqual([]);
});

test("neon ends with code 1 and the message of a refusal", async () => {
  const { command, client, orgId } = await scene.newAccount("neon");
  const { project, branch } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
  const refused = await command.complaint(
    "credentials",
    "reveal",
    "token-1",
    "--project-id",
    project.id,
    "--branch",
    branch.id,
  );
  expect(refused).toContain("token_id: must be nak_live_");
});
