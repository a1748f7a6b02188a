import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnStandin, waitForExit } from "../../support/process/process.ts";
import {
  createProjectOn,
  type RunningServer,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

/** Starts a reader and waits until it follows: until it prints what `provoke` causes. */
async function startFollower(args: readonly string[], marker: RegExp, provoke: () => Promise<unknown>) {
  const follower = spawnStandin(args);
  let isSeen = false;
  const seen = follower.waitForOutput(marker).then(() => {
    isSeen = true;
  });
  while (!isSeen) {
    await provoke();
    await Promise.race([seen, new Promise((resolve) => setTimeout(resolve, 200))]);
  }
  return follower;
}

const createKey = (server: RunningServer) => server.sim("POST", "/api_keys", { key_name: "marker" });

test("standin events --follow prints new events as NDJSON, also after a restore, until Ctrl-C", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  await createProjectOn(server);
  await server.sim("POST", "/snapshots", { name: "before" });
  const follower = await startFollower(
    ["events", "--data", data, "--follow", "--json"],
    /ApiKeyCreated/,
    () => createKey(server),
  );
  await server.sim("POST", "/snapshots/before/restore");
  const { history } = (await server.sim("GET", "/health/ready")).body;
  // New events of the restored world have numbers that the replaced world also had.
  while (!follower.stderr().includes("the world was restored"))
    await new Promise((resolve) => setTimeout(resolve, 50));
  await server.api("POST", "/projects", { project: { name: "after-restore" } });
  await follower.waitForOutput(/after-restore/);
  const code = await follower.kill("SIGINT");
  // A poll during the restore is answered with 503.
  const stderr = follower.stderr().replace(/^standin: .* is being restored or moved; .*trying again\n/, "");
  expect({ code, stderr }).toEqual({
    code: 130,
    stderr: `standin: the world was restored; following its new events after number ${history.seq}\n`,
  });
  const events = follower
    .stdout()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events[0]).toMatchObject({ type: "ApiKeyCreated" });
  const project = events.find(({ type }) => type === "ProjectCreated");
  expect(project.project.name).toBe("after-restore");
  expect(project.seq).toBeGreaterThan(history.seq);
});

test("standin requests --follow prints new requests, and a filter hides the others", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  await server.api("GET", "/projects?limit=1");
  const follower = await startFollower(
    ["requests", "--data", data, "--follow", "--status", "4xx"],
    /404/,
    () => server.api("GET", "/projects/none"),
  );
  await server.api("GET", "/projects");
  await server.api("GET", "/projects/last");
  await follower.waitForOutput(/last/);
  expect(await follower.kill("SIGINT")).toBe(130);
  const lines = follower.stdout().trimEnd().split("\n");
  expect(lines[0]).toMatch(
    /^\d+ {2}2026-01-01T\S+ {2}404 {2}GET \/api\/v2\/projects\/none {2}getProject {2}\w+$/,
  );
  expect(lines.filter((line) => !line.includes("404"))).toEqual([]);
  expect(follower.stderr()).toBe("");
});

test("events and requests are listed with a server and without one", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  await server.api("POST", "/projects", { project: { name: "shop" } });
  const [events, requests] = [
    ["events", "--data", data],
    ["requests", "--data", data, "--json"],
  ];
  const running = [await runStandin(events), await runStandin(requests)];
  await server.kill("SIGTERM");
  const stopped = [await runStandin([...events, "--since", "3"]), await runStandin(requests)];
  expect(running[0]?.stdout).toMatch(
    /^\d+ {2}\S+ {2}OperationScheduled {2}start_compute {2}\S+ {2}ep-\S+ .* by request$/m,
  );
  expect(running[0]?.stdout.endsWith(stopped[0]?.stdout ?? "none")).toBe(true);
  expect(stopped[0]?.stdout).toMatch(/^4 {2}/);
  expect(JSON.parse(running[1]?.stdout ?? "")).toMatchObject({
    method: "POST",
    path: "/api/v2/projects",
    status: 201,
  });
  expect(stopped[1]).toEqual(running[1]);
});

test("a reader without a server, and a filter that does not exist, are errors", async () => {
  const data = testDirectory();
  expect(await runStandin(["events", "--data", data, "--follow"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no server is running"),
  });
  await startServer(data, MANUAL);
  expect(await runStandin(["requests", "--data", data, "--status", "often"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--status: expected a status such as 423"),
  });
  expect((await runStandin(["events", "--data", data, "--since", "-1"])).code).toBe(2);
});

test("standin activity wakes a compute, and reports its outcome", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const { endpointId, path } = await createProjectOn(server);
  await server.sim("POST", "/clock/advance", { by: "1h" });
  expect((await server.api("GET", path)).body.endpoint.current_state).toBe("idle");
  const activity = ["activity", endpointId, "--data", data];
  const woken = await runStandin([...activity, "--duration", "30s", "--source", "job"]);
  expect(woken).toMatchObject({ code: 0, stderr: "" });
  expect(woken.stdout).toMatch(
    new RegExp(`query at ${endpointId}: waits [0-9]+(m?s| ms) for the compute to start`),
  );
  await server.sim("POST", "/clock/advance", { by: "10s" });
  expect((await server.api("GET", path)).body.endpoint.current_state).toBe("active");
  const served = await runStandin([...activity, "--json"]);
  expect(JSON.parse(served.stdout)).toMatchObject({ endpoint_id: endpointId, outcome: "served" });
  const later = await runStandin([...activity, "--at", "2026-01-02T00:00:00Z"]);
  expect(later.stdout).toBe(`2026-01-02T00:00:00.000Z  query at ${endpointId}: scheduled\n`);
});

test("a rejected activity exits with 1, and bad input changes nothing", async () => {
  const data = testDirectory();
  const server = await startServer(data, MANUAL);
  const { endpointId, path } = await createProjectOn(server);
  const before = (await server.sim("GET", "/health/ready")).body.history.seq;
  for (const [args, status] of [
    [["ep-unknown"], 1],
    [[endpointId, "--kind", "nap"], 2],
    [[endpointId, "--duration", "30"], 2],
    [[endpointId, "--at", "2025-01-01T00:00:00Z"], 1],
  ] as const)
    expect([args, (await runStandin(["activity", ...args, "--data", data])).code]).toEqual([args, status]);
  expect((await server.sim("GET", "/health/ready")).body.history.seq).toBe(before);
  await server.api("PATCH", path, { endpoint: { disabled: true } });
  await server.sim("POST", "/clock/advance", { by: "1h" });
  const rejected = await waitForExit(spawnStandin(["activity", endpointId, "--data", data]));
  expect(rejected.code).toBe(1);
  expect(rejected.stdout).toContain("rejected: ENDPOINT_DISABLED");
});
