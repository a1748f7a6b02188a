import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { CommandScene } from "../../support/clients/command-scene.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

// The commands of the newer public CLI for the services of a branch.

let scene: CommandScene;
beforeAll(async () => {
  scene = await CommandScene.open();
});
afterAll(() =>
  scene.close("neon-auth", "data-api", "buckets", "credentials", "functions", "triggers", "logs"),
);

async function createShop() {
  const { command, client, orgId } = await scene.newAccount("neon");
  const { project } = (await client.createProject({ project: { name: "shop", org_id: orgId } })).data;
  const place = ["--project-id", project.id, "--branch", "main"];
  const say = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await command.run([...args, ...place]);
    expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
    return `${stdout}${stderr}`;
  };
  return {
    run: (...args: readonly string[]) => command.json(...args, ...place),
    complaint: (...args: readonly string[]) => command.complaint(...args, ...place),
    /** Commands that print a sentence instead of JSON, and the sentence. */
    say,
    succeed: async (...args: readonly string[]) => {
      await say(...args);
    },
  };
}

test("neon enables and disables auth, and changes its trusted domains", async () => {
  const { run, say, succeed, complaint } = await createShop();
  await succeed("neon-auth", "status");
  expect(await run("neon-auth", "enable")).toMatchObject({ auth_provider: "better_auth" });
  expect(await run("neon-auth", "status")).toMatchObject({ db_name: "neondb", name: "shop" });
  await succeed("neon-auth", "domain", "add", "https://a.example");
  expect(await run("neon-auth", "domain", "list")).toMatchObject([{ domain: "https://a.example" }]);
  await succeed("neon-auth", "domain", "delete", "https://a.example");
  await succeed("neon-auth", "domain", "allow-localhost", "disable");
  expect(await run("neon-auth", "domain", "allow-localhost", "get")).toEqual({ allow_localhost: false });
  const created = await say("neon-auth", "user", "create", "--email", "a@a.example", "--name", "A");
  const [id = ""] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(created) ?? [];
  expect(await complaint("neon-auth", "user", "create", "--email", "a@a.example")).toContain(
    "already exists",
  );
  await succeed("neon-auth", "user", "set-role", id, "--roles", "admin");
  await succeed("neon-auth", "user", "delete", id);
  expect(await complaint("neon-auth", "user", "delete", id)).toContain("not found");
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
  const { run, succeed, complaint } = await createShop();
  await succeed("buckets", "create", "files");
  expect(await run("buckets", "list")).toMatchObject([{ name: "files", access_level: "private" }]);
  await succeed("buckets", "delete", "files");
  expect(await run("buckets", "list")).toEqual([]);

  const { token_id } = await run("credentials", "create", "--scope", "storage:read");
  expect(await run("credentials", "list")).toMatchObject([{ token_id, scopes: ["storage:read"] }]);
  const revealed = await run("credentials", "reveal", token_id);
  expect(revealed).toMatchObject({ token_id, api_token: expect.stringMatching(/^nat_live_/) });
  const rotated = await run("credentials", "rotate", token_id);
  expect(rotated.api_token).not.toBe(revealed.api_token);
  expect(await run("credentials", "reveal", token_id)).toMatchObject({ api_token: rotated.api_token });
  await succeed("credentials", "revoke", token_id);
  expect(await complaint("credentials", "reveal", token_id)).toContain("not found");
});

test("neon uploads, lists, downloads and deletes objects", async () => {
  const { run, succeed, complaint } = await createShop();
  const directory = temporaryDirectory();
  onTestFinished(() => directory.remove());
  const [file, copy] = [join(directory.path, "a.txt"), join(directory.path, "b.txt")];
  writeFileSync(file, "hello");
  await succeed("buckets", "create", "files");
  await succeed("buckets", "object", "put", "files/d/a.txt", "--file", file, "--content-type", "text/plain");
  await succeed("buckets", "object", "put", "files/z.txt", "--file", file);
  expect(await run("buckets", "object", "list", "files")).toMatchObject({
    folders: ["d/"],
    objects: [{ key: "z.txt", size: 5 }],
  });
  await succeed("buckets", "object", "get", "files/d/a.txt", "--file", copy);
  expect(readFileSync(copy, "utf8")).toBe("hello");
  await succeed("buckets", "object", "delete", "files/z.txt");
  expect(await complaint("buckets", "object", "delete", "files/z.txt")).toContain('object "z.txt" not found');
  await succeed("buckets", "object", "delete", "files/d/", "--recursive");
  expect(await run("buckets", "object", "list", "files", "--recursive")).toMatchObject({ objects: [] });
});

test("neon deploys functions, and manages their domains, triggers and logs", async () => {
  const { run, succeed, complaint } = await createShop();
  const directory = temporaryDirectory();
  onTestFinished(() => directory.remove());
  writeFileSync(join(directory.path, "index.mjs"), "export default () => new Response('hello');\n");
  const deploy = ["functions", "deploy", "hello", "--src", directory.path, "--no-bundle"];
  expect(await run(...deploy, "--env", "A=1")).toMatchObject({ id: 1, status: "completed" });
  expect(await run("functions", "list")).toMatchObject([{ slug: "hello" }]);
  expect(await run("functions", "get", "hello")).toMatchObject({ active_deployment: { environment: ["A"] } });

  await run("functions", "domains", "register", "Docs.Example.com", "--slug", "hello");
  expect(await run("functions", "domains", "list")).toMatchObject([{ domain: "docs.example.com" }]);
  await succeed("functions", "domains", "delete", "docs.example.com");
  expect(await complaint("functions", "domains", "delete", "docs.example.com")).toContain("not found");

  const named = ["--function-slug", "hello", "--name"];
  const created = await run("triggers", "create", ...named, "hourly", "--cron", "0 * * * *");
  expect(created).toMatchObject({ next_run_at: "2026-01-01T01:00:00Z", version: 1, inherited: false });
  await succeed("buckets", "create", "files");
  await run("triggers", "create", ...named, "uploads", "--bucket", "files", "--prefix", "a/");
  expect(await complaint("triggers", "create", ...named, "hourly", "--cron", "* * * * *")).toContain(
    "exists",
  );
  expect(await complaint("triggers", "create", ...named, "never", "--cron", "0 0 30 2 *")).toContain("cron");
  expect(await run("triggers", "disable", created.trigger_id)).toMatchObject({
    next_run_at: null,
    version: 2,
  });
  await run("triggers", "update", created.trigger_id, "--cron", "5 * * * *");
  expect(await run("triggers", "enable", created.trigger_id)).toMatchObject({
    next_run_at: "2026-01-01T00:05:00Z",
  });
  expect(await run("triggers", "list")).toMatchObject([{ name: "hourly" }, { name: "uploads" }]);
  expect(await run("triggers", "get", created.trigger_id)).toMatchObject({ name: "hourly" });
  await succeed("triggers", "delete", created.trigger_id);
  expect(await complaint("triggers", "get", created.trigger_id)).toContain(
    `Trigger ${created.trigger_id} not found on branch`,
  );

  expect(await run("logs", "query", "--since", "1h")).toEqual({ logs: [], is_truncated: false });
  expect(await complaint("logs", "query", "--since", "8d")).toContain("7 days");
  expect(await run("logs", "fields")).toEqual({ fields: [] });
  expect(await complaint("logs", "field-values", "service_name")).toContain("Unknown log field");
  await succeed("functions", "delete", "hello");
  expect(await complaint("functions", "get", "hello")).toContain("not found");
});
