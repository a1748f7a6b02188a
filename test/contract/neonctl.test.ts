import { afterAll, beforeAll, expect, test } from "vitest";
import { Neonctl } from "../support/neonctl.ts";
import { type Served, serve, temporaryDirectory } from "../support/process.ts";
import { control } from "../support/public-client.ts";

// The public command line against `standin serve`, where operations end before the next command.

const START = "2026-01-01T00:00:00Z";
const home = temporaryDirectory();
const directory = temporaryDirectory();
let served: Served;

beforeAll(async () => {
  served = await serve(directory.path, ["--operations", "immediate", "--clock", "manual", "--start-at", START, "--seed", "1"]);
});

afterAll(async () => {
  await served.kill("SIGTERM");
  directory.remove();
  home.remove();
});

/** The command with the key of an account that nobody else has. */
async function newcomer(): Promise<Neonctl> {
  const { api_key } = await control(served.ready.control_url, "POST", "/accounts", { name: "newcomer" });
  return new Neonctl(served.ready.api_url, api_key.key, home.path);
}

test("it tells who one is and which organization one is in", async () => {
  const neonctl = await newcomer();
  expect(await neonctl.json("me")).toMatchObject({
    name: "newcomer",
    email: expect.stringContaining("@"),
    projects_limit: expect.any(Number),
  });
  expect(await neonctl.json("orgs", "list")).toMatchObject([{ id: expect.stringMatching(/^org-/), name: "newcomer" }]);
});

test("it creates, lists, gets, updates and deletes a project", async () => {
  const neonctl = await newcomer();
  expect(await neonctl.json("projects", "list")).toEqual({ projects: [], shared_with_you: [] });
  const [organization] = await neonctl.json("orgs", "list");
  const { project, connection_uris } = await neonctl.json(
    ...["projects", "create", "--name", "shop", "--region-id", "aws-eu-central-1", "--org-id", organization.id],
    ...["--cu", "0.5-2", "--database", "app", "--role", "alice"],
  );
  expect(project).toMatchObject({ name: "shop", region_id: "aws-eu-central-1", org_id: organization.id, created_at: START });
  expect(project.default_endpoint_settings).toMatchObject({ autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 2 });
  expect(new URL(connection_uris[0].connection_uri)).toMatchObject({ username: "alice", pathname: "/app" });
  expect(await neonctl.json("projects", "get", project.id)).toMatchObject({ id: project.id, name: "shop" });
  expect((await neonctl.json("projects", "list")).projects).toMatchObject([{ id: project.id }]);
  expect(await neonctl.json("projects", "list", "--org-id", organization.id)).toMatchObject([{ id: project.id }]);
  expect(await neonctl.json("projects", "update", project.id, "--name", "renamed", "--cu", "1")).toMatchObject({
    name: "renamed",
    default_endpoint_settings: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 },
  });
  expect(await neonctl.json("projects", "delete", project.id)).toMatchObject({ id: project.id, name: "renamed" });
  expect(await neonctl.complaint("projects", "get", project.id)).toContain(`project "${project.id}" not found`);
});

test("it creates, gets, renames and deletes branches, and makes one the default", async () => {
  const neonctl = await newcomer();
  const { project } = await neonctl.json("projects", "create", "--name", "shop");
  const at = ["--project-id", project.id];
  const { branch, endpoints, connection_uris } = await neonctl.json("branches", "create", "--name", "dev", ...at);
  expect(branch).toMatchObject({ id: expect.stringMatching(/^br-[a-z]+-[a-z]+-\d+$/), name: "dev", default: false });
  expect(endpoints).toMatchObject([{ type: "read_write", branch_id: branch.id, suspend_timeout_seconds: 0 }]);
  expect(connection_uris).toHaveLength(1);
  const bare = await neonctl.json("branches", "create", "--name", "bare", "--no-compute", "--parent", "dev", ...at);
  expect(bare).toMatchObject({ name: "bare", parent_id: branch.id });
  expect(await neonctl.json("branches", "get", "dev", ...at)).toMatchObject({ id: branch.id, current_state: "ready" });
  expect(await neonctl.json("branches", "rename", "dev", "next", ...at)).toMatchObject({ id: branch.id, name: "next" });
  expect(await neonctl.complaint("branches", "delete", "next", ...at)).toContain('has the child branch "bare"');
  expect(await neonctl.json("branches", "delete", bare.id, ...at)).toMatchObject({ id: bare.id });
  expect(await neonctl.json("branches", "set-default", "next", ...at)).toMatchObject({ id: branch.id, default: true });
  expect(await neonctl.complaint("branches", "delete", "next", ...at)).toContain("default branch");
  expect(await neonctl.json("branches", "list", ...at)).toMatchObject([
    { name: "next", default: true, current_state: "ready" },
    { name: "main", default: false, current_state: "ready" },
  ]);
});

test("it adds computes to a branch: replicas in any number, one primary", async () => {
  const neonctl = await newcomer();
  const { project } = await neonctl.json("projects", "create", "--name", "shop");
  const at = ["--project-id", project.id];
  const bare = await neonctl.json("branches", "create", "--name", "bare", "--no-compute", ...at);
  const add = (...flags: string[]) => neonctl.json("branches", "add-compute", "bare", ...flags, ...at);
  expect(await add()).toMatchObject({ type: "read_only", branch_id: bare.id });
  expect(await add("--type", "read_write", "--cu", "0.25-1")).toMatchObject({ type: "read_write", autoscaling_limit_max_cu: 1 });
  const second = await neonctl.complaint("branches", "add-compute", "bare", "--type", "read_write", ...at);
  expect(second).toContain("read_write endpoint already exists");
});

test("it lists a project's operations, databases and roles", async () => {
  const neonctl = await newcomer();
  const { project } = await neonctl.json("projects", "create", "--name", "shop", "--database", "app", "--role", "alice");
  const at = ["--project-id", project.id];
  const operations = await neonctl.json("operations", "list", ...at);
  expect(operations.map(({ action, status }: { action: string; status: string }) => `${action} ${status}`)).toEqual([
    "start_compute finished",
    "create_timeline finished",
  ]);
  expect(await neonctl.json("databases", "list", ...at)).toMatchObject([{ name: "app", owner_name: "alice" }]);
  expect(await neonctl.json("roles", "list", "--branch", "main", ...at)).toMatchObject([{ name: "alice", protected: false }]);
});

test("it gives connection strings that lead to the compute, directly and through the pooler", async () => {
  const neonctl = await newcomer();
  const { project, connection_uris } = await neonctl.json("projects", "create", "--name", "shop");
  const { database, password, role, host, pooler_host } = connection_uris[0].connection_parameters;
  const connect = async (...args: string[]) => {
    const { code, stdout } = await neonctl.run(["connection-string", ...args]);
    expect(code).toBe(0);
    return new URL(stdout.trim());
  };
  const direct = { username: role, password, hostname: host, pathname: `/${database}` };
  expect(await connect("main", "--project-id", project.id)).toMatchObject(direct);
  // The account has one project, and the project one branch: nothing needs to be said.
  expect(await connect()).toMatchObject(direct);
  expect(await connect("--pooled", "--role-name", role, "--database-name", database)).toMatchObject({ ...direct, hostname: pooler_host });
  await neonctl.json("branches", "create", "--name", "bare", "--no-compute");
  expect(await neonctl.complaint("connection-string", "bare")).toMatch(/No +endpoint found for the branch/);
});

test("it walks all pages of the projects", async () => {
  const { api_key } = await control(served.ready.control_url, "POST", "/accounts", { name: "collector" });
  const collector = new Neonctl(served.ready.api_url, api_key.key, home.path);
  const create = (name: string) =>
    fetch(`${served.ready.api_url}/projects`, {
      method: "POST",
      headers: { Authorization: `Bearer ${api_key.key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ project: { name } }),
    });
  const namesOf = ({ projects }: { projects: { name: string }[] }) => projects.map(({ name }) => name);
  // Its pages have 100: a full last page, and one project more.
  const names = Array.from({ length: 100 }, (_, number) => `shop ${number}`);
  for (const name of names) await create(name);
  expect(namesOf(await collector.json("projects", "list"))).toEqual(names);
  await create("one more");
  expect(namesOf(await collector.json("projects", "list"))).toEqual([...names, "one more"]);
});

test("what is refused ends it with code 1 and the platform's sentence", async () => {
  const neonctl = await newcomer();
  const { project } = await neonctl.json("projects", "create", "--name", "shop");
  const at = ["--project-id", project.id];
  expect(await neonctl.complaint("branches", "create", "--name", "main", ...at)).toContain('branch already exists; branch_name:"main"');
  expect(await neonctl.complaint("branches", "add-compute", "main", "--cu", "3.5", ...at)).toContain("3.5 CU is not a compute size");
  expect(await neonctl.complaint("databases", "create", "--name", "more", ...at)).toContain("createProjectBranchDatabase");
  expect(await neonctl.complaint("branches", "create", "--expires-at", "2026-02-01T00:00:00Z", ...at)).toContain("branch.expires_at");
});

test("with a key that nobody has it fails", async () => {
  const stranger = new Neonctl(served.ready.api_url, "x".repeat(64), home.path);
  expect((await stranger.run(["me"])).code).toBe(1);
});
