import { afterAll, beforeAll, expect, test } from "vitest";
import { Neonctl } from "../../support/clients/neonctl.ts";
import { control } from "../../support/document/public-client.ts";
import { type ServerProcess, serve, temporaryDirectory } from "../../support/process/process.ts";

// The public CLI against `standin serve` with immediate operations.

const START = "2026-01-01T00:00:00Z";
const home = temporaryDirectory();
const directory = temporaryDirectory();
let served: ServerProcess;

beforeAll(async () => {
  served = await serve(directory.path, [
    "--operations",
    "immediate",
    "--clock",
    "manual",
    "--start-at",
    START,
    "--seed",
    "1",
  ]);
});

afterAll(async () => {
  await served.kill("SIGTERM");
  directory.remove();
  home.remove();
});

/** Runs the command with the key of a new account. */
async function newcomer(): Promise<Neonctl> {
  const { api_key } = await control(served.ready.control_url, "POST", "/accounts", { name: "newcomer" });
  return new Neonctl(served.ready.api_url, api_key.key, home.path);
}

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
  // The account has one project with one branch, so no arguments are needed.
  expect(await connect()).toMatchObject(direct);
  expect(await connect("--pooled", "--role-name", role, "--database-name", database)).toMatchObject({
    ...direct,
    hostname: pooler_host,
  });
  await neonctl.json("branches", "create", "--name", "bare", "--no-compute");
  expect(await neonctl.complaint("connection-string", "bare")).toMatch(/No +endpoint found for the branch/);
});

test("it reads all pages of the projects", async () => {
  const { api_key } = await control(served.ready.control_url, "POST", "/accounts", { name: "collector" });
  const collector = new Neonctl(served.ready.api_url, api_key.key, home.path);
  const create = (name: string) =>
    fetch(`${served.ready.api_url}/projects`, {
      method: "POST",
      headers: { Authorization: `Bearer ${api_key.key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ project: { name } }),
    });
  const namesOf = ({ projects }: { projects: { name: string }[] }) => projects.map(({ name }) => name);
  // The CLI reads pages of 100: a full last page, and one project more.
  const names = Array.from({ length: 100 }, (_, number) => `shop ${number}`);
  for (const name of names) await create(name);
  expect(namesOf(await collector.json("projects", "list"))).toEqual(names);
  await create("one more");
  expect(namesOf(await collector.json("projects", "list"))).toEqual([...names, "one more"]);
});

test("it ends with code 1 and the platform's message if a call is rejected", async () => {
  const neonctl = await newcomer();
  const { project } = await neonctl.json("projects", "create", "--name", "shop");
  const at = ["--project-id", project.id];
  expect(await neonctl.complaint("branches", "create", "--name", "main", ...at)).toContain(
    'branch already exists; branch_name:"main"',
  );
  expect(await neonctl.complaint("branches", "add-compute", "main", "--cu", "3.5", ...at)).toContain(
    "3.5 CU is not a compute size",
  );
});

test("it fails with an unknown key", async () => {
  const stranger = new Neonctl(served.ready.api_url, "x".repeat(64), home.path);
  expect((await stranger.run(["me"])).code).toBe(1);
});
