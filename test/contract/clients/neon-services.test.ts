import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandScene } from "../../support/clients/command-scene.ts";

// The commands of the newer public CLI for the services of a branch.

let scene: CommandScene;
beforeAll(async () => {
  scene = await CommandScene.open();
});
afterAll(() => scene.close("neon-auth", "data-api", "buckets", "credentials"));

async function createShop() {
  const { command, client, orgId } = await scene.newAccount("neon");
  const { project } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
  const place = ["--project-id", project.id, "--branch", "main"];
  return {
    run: (...args: readonly string[]) => command.json(...args, ...place),
    complaint: (...args: readonly string[]) => command.complaint(...args, ...place),
    /** Commands that print a sentence instead of JSON. */
    succeed: async (...args: readonly string[]) => {
      const { code, stderr } = await command.run([...args, ...place]);
      expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
    },
  };
}

test("neon enables and disables auth, and changes its trusted domains", async () => {
  const { run, succeed, complaint } = await createShop();
  await succeed("neon-auth", "status");
  expect(await run("neon-auth", "enable")).toMatchObject({ auth_provider: "better_auth" });
  expect(await run("neon-auth", "status")).toMatchObject({ db_name: "neondb", name: "shop" });
  await succeed("neon-auth", "domain", "add", "https://a.example");
  expect(await run("neon-auth", "domain", "list")).toMatchObject([{ domain: "https://a.example" }]);
  await succeed("neon-auth", "domain", "delete", "https://a.example");
  await succeed("neon-auth", "domain", "allow-localhost", "disable");
  expect(await run("neon-auth", "domain", "allow-localhost", "get")).toEqual({ allow_localhost: false });
  expect(await complaint("neon-auth", "user", "create", "--email", "a@a.example")).toContain("not imitated");
  await succeed("neon-auth", "disable");
});

test("neon adds, updates and deletes OAuth providers", async () => {
  const { run, succeed } = await createShop();
  await run("neon-auth", "enable");
  const github = ["--provider-id", "github"];
  const own = ["--oauth-client-id", "shop", "--oauth-client-secret", "secret"];
  await run("neon-auth", "oauth-provider", "add", ...github);
  await run("neon-auth", "oauth-provider", "update", ...github, ...own);
  expect(await run("neon-auth", "oauth-provider", "list")).toEqual([
    { id: "github", type: "standard", client_id: "shop", client_secret: "secret" },
  ]);
  await succeed("neon-auth", "oauth-provider", "delete", ...github);
});

test("neon configures auth", async () => {
  const { run } = await createShop();
  await run("neon-auth", "enable");
  await run("neon-auth", "config", "email-password", "update", "--disable-sign-up");
  expect(await run("neon-auth", "config", "email-password", "get")).toMatchObject({ disable_sign_up: true });
  await run("neon-auth", "config", "organization", "update", "--enabled=false");
  await run("neon-auth", "config", "webhook", "update", "--enabled", "--url", "https://a.example");
  expect(await run("neon-auth", "config", "webhook", "get")).toMatchObject({ enabled: true });
  const server = ["--host", "smtp.example", "--port", "25", "--username", "u", "--password", "p"];
  const sender = ["--sender-email", "a@a.example", "--sender-name", "A"];
  await run("neon-auth", "config", "email-provider", "update", "--type", "standard", ...server, ...sender);
  expect(await run("neon-auth", "config", "email-provider", "get")).toMatchObject({ host: "smtp.example" });
  expect(await run("neon-auth", "plugins", "list")).toMatchObject({ organization: { enabled: false } });
});

test("neon creates, updates and deletes the Data API", async () => {
  const { run, succeed, complaint } = await createShop();
  await run("data-api", "create");
  await succeed("data-api", "update", "--db-max-rows", "5");
  await succeed("data-api", "refresh-schema");
  expect(await run("data-api", "get")).toMatchObject({
    status: "ready",
    settings: { db_max_rows: 5, db_schemas: ["public"] },
  });
  await succeed("data-api", "delete");
  expect(await complaint("data-api", "get")).toContain("the Data API is not enabled");
});

test("neon creates, lists and deletes buckets and credentials", async () => {
  const { run, succeed } = await createShop();
  await succeed("buckets", "create", "files");
  expect(await run("buckets", "list")).toMatchObject([{ name: "files", access_level: "private" }]);
  await succeed("buckets", "delete", "files");
  expect(await run("buckets", "list")).toEqual([]);

  const { token_id } = await run("credentials", "create", "--scope", "storage:read");
  expect(await run("credentials", "list")).toMatchObject([{ token_id, scopes: ["storage:read"] }]);
  await succeed("credentials", "revoke", token_id);
});
