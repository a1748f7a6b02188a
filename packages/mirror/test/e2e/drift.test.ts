import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runStandin } from "../../../../test/support/process/in-process-command.ts";
import { spawnStandin } from "../../../../test/support/process/process.ts";
import { startRewritingProxy } from "../../../../test/support/server/rewriting-proxy.ts";
import {
  createProjectOn,
  type RunningServer,
  startServer,
  testDirectory,
} from "../../../../test/support/server/running-server.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z"];
/** Number of calls in the built-in list. */
const CALLS = 15;

async function twoDoubles(): Promise<{ data: string; here: RunningServer; there: RunningServer }> {
  const data = testDirectory();
  const here = await startServer(data, [...MANUAL, "--seed", "1"]);
  const there = await startServer(testDirectory(), [...MANUAL, "--seed", "2"]);
  await createProjectOn(here, { name: "shop" });
  await createProjectOn(there, { name: "bakery", pg_version: 17 });
  await createProjectOn(there, { name: "mill" });
  return { data, here, there };
}

/** Runs the command and checks that its output does not contain the key of the other server. */
async function drift(data: string, url: string, key: string, args: readonly string[] = []) {
  const ended = await runStandin(["drift", "--data", data, "--against", url, ...args], {
    STANDIN_AGAINST_KEY: key,
  });
  if (key !== "") expect(ended.stdout + ended.stderr).not.toContain(key);
  return ended;
}

const keyOf = (server: RunningServer) => server.ready.api_key as string;

function callList(text: string): string {
  const path = join(testDirectory(), "calls.txt");
  writeFileSync(path, text);
  return path;
}

test("two standin servers with different data do not differ, and the temporary key is revoked", async () => {
  const { data, here, there } = await twoDoubles();
  const { code, stdout, stderr } = await drift(data, there.ready.api_url, keyOf(there));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`here: standin; there: ${there.ready.api_url}\n`);
  expect(stdout).toMatch(/^same +GET \/projects\/\{project_id\}\/branches\/\{branch_id\}\/roles {2}200$/m);
  expect(stdout).toMatch(/^same +GET \/projects\/no-such-project-00000000 {2}404$/m);
  expect(stdout).toMatch(/^same +GET \/projects \(without a key\) {2}401$/m);
  expect(stdout).toContain(`${CALLS} calls: ${CALLS} the same, 0 different (0 differences)`);
  expect((await here.sim("GET", "/api_keys")).body.api_keys).toHaveLength(1);
});

test("a missing field, a changed type, another status and another code are found, and nothing else", async () => {
  const { data, there } = await twoDoubles();
  const changed = await startRewritingProxy(there.ready.api_url, (passing) => {
    const { path, body } = passing;
    if (/^\/projects\/[^/]+$/.test(path) && passing.status === 200) {
      delete body.project.store_passwords;
      body.project.pg_version = String(body.project.pg_version);
      body.project.hibernated_at = body.project.created_at;
    }
    if (/^\/projects\/[^/]+\/branches$/.test(path))
      for (const branch of body.branches) branch.created_at = "yesterday";
    if (path === "/regions")
      Object.assign(passing, { status: 403, body: { code: "FORBIDDEN", message: "no" } });
    if (passing.status === 401) body.code = "OTHER";
  });
  const { code, stdout, stderr } = await drift(data, changed.url, keyOf(there), ["--json"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  const { calls, summary, against } = JSON.parse(stdout);
  expect(against).toBe(changed.url);
  expect(summary).toMatchObject({ calls: CALLS, different: 4, not_compared: 0, differences: 6 });
  const differences = calls.flatMap(({ call, differences }: { call: string; differences: object[] }) =>
    differences.map((difference) => ({ call, ...difference })),
  );
  expect(differences).toEqual([
    { call: "GET /regions", path: "status", kind: "status", here: "200", there: "403" },
    {
      call: "GET /projects/{project_id}",
      path: "project.pg_version",
      kind: "type",
      here: "number",
      there: "text",
    },
    {
      call: "GET /projects/{project_id}",
      path: "project.store_passwords",
      kind: "missing there",
      here: "boolean",
      there: "absent",
    },
    {
      call: "GET /projects/{project_id}",
      path: "project.hibernated_at",
      kind: "missing here",
      here: "absent",
      there: "timestamp",
    },
    {
      call: "GET /projects/{project_id}/branches",
      path: "branches[].created_at",
      kind: "format",
      here: "timestamp",
      there: "text",
    },
    { call: "GET /projects (without a key)", path: "code", kind: "code", here: "", there: "OTHER" },
  ]);
  const pretty = await drift(data, changed.url, keyOf(there));
  expect(pretty.code).toBe(1);
  expect(pretty.stdout).toMatch(
    /^different +GET \/projects\/\{project_id\} .*\n {4}type +project\.pg_version: number here, text there$/m,
  );
  expect(new Set(changed.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
});

test("a field that only some projects have is reported as sometimes present, and is not a difference", async () => {
  const { data, there } = await twoDoubles();
  const changed = await startRewritingProxy(there.ready.api_url, ({ path, body }) => {
    if (/^\/projects(\?|$)/.test(path) && body.projects?.length > 1)
      body.projects[0].maintenance_scheduled_for = "2026-02-01T00:00:00Z";
  });
  const { code, stdout } = await drift(data, changed.url, keyOf(there));
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /\(sometimes +projects\[\]\.maintenance_scheduled_for: absent here, timestamp, in 1 of 2 there\)/,
  );
});

test("projects are listed by organization if the server requires it", async () => {
  const { data, there } = await twoDoubles();
  const organized = await startRewritingProxy(there.ready.api_url, (passing) => {
    if (/^\/projects(\?limit=1)?$/.test(passing.path))
      Object.assign(passing, { status: 400, body: { code: "", message: "org_id is required" } });
  });
  const { code, stdout } = await drift(data, organized.url, keyOf(there), ["--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout).summary).toMatchObject({ calls: CALLS, same: CALLS - 2, not_compared: 0 });
});

test("Ctrl-C exits with code 2 and revokes the temporary key", async () => {
  const { data, here, there } = await twoDoubles();
  let reached = () => {};
  const hanging = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const held = await startRewritingProxy(there.ready.api_url, (passing) => {
    if (!passing.path.endsWith("/operations")) return;
    passing.isHeld = true;
    reached();
  });
  const launched = spawnStandin(["drift", "--data", data, "--against", held.url], {
    STANDIN_AGAINST_KEY: keyOf(there),
  });
  onTestFinished(async () => void (await launched.kill("SIGKILL")));
  await hanging;
  expect(await launched.kill("SIGINT")).toBe(130);
  expect([launched.stdout(), launched.stderr()]).toEqual(["", "standin: interrupted\n"]);
  expect((await here.sim("GET", "/api_keys")).body.api_keys).toHaveLength(1);
});

test("recorded calls are repeated, each kind of call once, with the ids of each side", async () => {
  const { data, here, there } = await twoDoubles();
  const none = await drift(data, there.ready.api_url, keyOf(there), ["--recorded"]);
  const responses = [];
  const { projects } = (await here.api("GET", "/projects?limit=5")).body;
  const path = `/projects/${projects[0].id}`;
  const { branches } = (await here.api("GET", `${path}/branches`)).body;
  for (const { id } of [branches[0], branches[0]])
    responses.push(await here.api("GET", `${path}/branches/${id}/endpoints`));
  const { organizations } = (await here.api("GET", "/users/me/organizations")).body;
  const { members } = (await here.api("GET", `/organizations/${organizations[0].id}/members`)).body;
  responses.push(
    await here.api("GET", `/organizations/${organizations[0].id}/members/${members[0].member.id}`),
  );
  responses.push(await here.api("GET", `/projects?org_id=${organizations[0].id}`));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await here.api("GET", "/projects/no-such-project-00000000");
  await here.api("POST", `${path}/branches`, { branch: { name: "preview" } });
  const { code, stdout } = await drift(data, there.ready.api_url, keyOf(there), ["--recorded", "--json"]);
  expect({ code: none.code, stderr: none.stderr }).toEqual({
    code: 2,
    stderr: "standin: --recorded: the request log of the server has no call that can be repeated\n",
  });
  expect(code).toBe(0);
  const calls = JSON.parse(stdout).calls.map(
    ({ call, verdict }: { call: string; verdict: string }) => `${call}: ${verdict}`,
  );
  expect(calls).toEqual([
    "GET /projects?limit=5: same",
    "GET /projects/{project_id}/branches: same",
    "GET /projects/{project_id}/branches/{branch_id}/endpoints: same",
    "GET /users/me/organizations: same",
    "GET /organizations/{org_id}/members: same",
    "GET /organizations/{org_id}/members/{member_id}: same",
    "GET /projects?org_id={org_id}: same",
  ]);
  const both = await drift(data, there.ready.api_url, keyOf(there), [
    "--recorded",
    "--list",
    callList("/regions"),
  ]);
  expect(both.code).toBe(2);
});

test("a list of calls is repeated with the ids of each side; calls without a matching resource are not compared", async () => {
  const { data, there } = await twoDoubles();
  const list = callList(`# what our tests call
GET /projects/{project_id}/endpoints/{endpoint_id}

/projects/{project_id}/branches/{branch_id}/databases/{database_name}   # method left out
GET /projects?limit=1
GET /projects/{project_id}/operations/{operation_id}
`);
  const { code, stdout } = await drift(data, there.ready.api_url, keyOf(there), ["--list", list, "--json"]);
  expect(code).toBe(0);
  expect(
    JSON.parse(stdout).calls.map(
      ({
        call,
        verdict,
        status,
      }: {
        call: string;
        verdict: string;
        status: { here: number; there: number };
      }) => [call, verdict, status.here, status.there],
    ),
  ).toEqual([
    ["GET /projects/{project_id}/endpoints/{endpoint_id}", "same", [200], [200]],
    ["GET /projects/{project_id}/branches/{branch_id}/databases/{database_name}", "same", [200], [200]],
    ["GET /projects?limit=1", "same", [200], [200]],
    ["GET /projects/{project_id}/operations/{operation_id}", "same", [200], [200]],
  ]);
  const empty = await startServer(testDirectory(), MANUAL);
  const inside = callList("GET /projects/{project_id}/endpoints/{endpoint_id}");
  const lacking = await drift(data, empty.ready.api_url, keyOf(empty), ["--list", inside]);
  expect(lacking.code).toBe(0);
  expect(lacking.stdout).toMatch(
    /^not compared +GET .*\{endpoint_id\} {2}\{project_id\}: no such resource there$/m,
  );
});

test.each([
  ["POST /projects", /calls\.txt:1: POST is not allowed; only GET is sent/],
  ["GET /projects\nGET projects", /calls\.txt:2: expected a path such as/],
  ["/projects/{project}", /calls\.txt:1: unknown placeholder \{project\}; known are project_id, /],
  ["GET /api/v2/projects", /calls\.txt:1: remove \/api\/v2 from the path/],
  ["# nothing", /calls\.txt: contains no calls/],
])("the list %j is refused at its line with code 2, before anything is called", async (text, message) => {
  const { code, stdout, stderr } = await drift(testDirectory(), "http://127.0.0.1:1/api/v2", "key", [
    "--list",
    callList(text),
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(message);
});

test("--list and --projects cannot be combined", async () => {
  const { code, stderr } = await drift(testDirectory(), "http://127.0.0.1:1/api/v2", "key", [
    "--list",
    "calls.txt",
    "--projects",
    "2",
  ]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/'--list <file>' cannot be used with option '--projects <n>'/);
});

test.each([
  ["ftp://example.com/api/v2", /must begin with https:/],
  ["https://example.com", /must end in \/api\/v2/],
  ["https://user:word@example.com/api/v2", /must not contain a user name or a password/],
  ["example", /is not a URL/],
])("--against %s is refused with code 2", async (url, message) => {
  const { code, stdout, stderr } = await drift(testDirectory(), url, "key");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain("word@");
});

test("every failure to run exits with code 2: no server, no key, a rejected key", async () => {
  const data = testDirectory();
  const noDouble = await drift(data, "http://127.0.0.1:1/api/v2", "key");
  expect(noDouble).toMatchObject({ code: 2, stdout: "" });
  expect(noDouble.stderr).toContain("standin serve --data");
  const here = await startServer(data, MANUAL);
  const nobody = await drift(data, "http://127.0.0.1:1/api/v2", "key-of-nobody");
  expect(nobody).toMatchObject({ code: 2, stdout: "" });
  expect(nobody.stderr).toMatch(/no server answers at http:\/\/127\.0\.0\.1:1\/api\/v2 \(/);
  const noKey = await drift(data, here.ready.api_url, "");
  expect(noKey).toMatchObject({ code: 2, stdout: "" });
  expect(noKey.stderr).toContain("--against-key");
  const wrong = await drift(data, here.ready.api_url, "not-a-key-of-theirs");
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toContain("STANDIN_AGAINST_KEY");
  const ours = await drift(data, here.ready.api_url, keyOf(here), ["--key", "not-a-key-of-ours"]);
  expect(ours).toMatchObject({ code: 2, stdout: "" });
  expect(ours.stderr).toContain("STANDIN_API_KEY");
});
