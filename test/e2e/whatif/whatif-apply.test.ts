import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { Neonctl } from "../../support/clients/neonctl.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import {
  createProjectOn,
  type RunningServer,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";
import { createShopTrace, runWhatif } from "../../support/whatif/whatif-command.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-05T00:00:00Z"];

type Shrunk = Record<string, number | "never" | null>;

/** A saved answer of `whatif curve --by-compute`, with only what is read from it. */
function saveAnswer(
  shrunk: Shrunk,
  { recommended = 120 as number | null, choice = "fleet", limits = {} } = {},
): string {
  const file = join(testDirectory(), "answer.json");
  const answer = {
    decision: {
      recommended_delay_s: recommended,
      too_little: recommended === null ? ["the trace covers 2.0 days, less than 7"] : [],
    },
    held_out: { recommended: choice },
    ...limits,
    computes: Object.entries(shrunk).map(([compute, shrunk_delay_s]) => ({ compute, shrunk_delay_s })),
  };
  writeFileSync(file, JSON.stringify(answer));
  return file;
}

async function apply(...args: string[]) {
  return runStandin(["whatif", "apply", ...args]);
}

async function shop(): Promise<{ server: RunningServer; ids: string[]; paths: string[] }> {
  const server = await startServer(testDirectory(), MANUAL);
  const projects = [await createProjectOn(server), await createProjectOn(server)];
  return {
    server,
    ids: projects.map(({ endpointId }) => endpointId),
    paths: projects.map(({ path }) => path),
  };
}

async function timeouts({ server, paths }: { server: RunningServer; paths: string[] }): Promise<number[]> {
  return Promise.all(
    paths.map(async (path) => (await server.api("GET", path)).body.endpoint.suspend_timeout_seconds),
  );
}

test("apply prints one delay for all computes, as curl, neonctl and Terraform", async () => {
  const file = saveAnswer({ "ep-two": 300, "ep-one": 60 });
  const { code, stdout } = await apply(file, "--project", "quiet-wind-1");
  expect(code).toBe(0);
  expect(stdout).toContain(
    `curl -fsS -X PATCH "$NEON_API_HOST/projects/quiet-wind-1/endpoints/ep-one" \\\n` +
      `  -H "Authorization: Bearer $NEON_API_KEY" -H "Content-Type: application/json" \\\n` +
      `  -d '{"endpoint":{"suspend_timeout_seconds":120}}'\n`,
  );
  expect(stdout).toContain(
    `neonctl api "/projects/quiet-wind-1/endpoints/ep-two" -X PATCH -F endpoint.suspend_timeout_seconds=120\n`,
  );
  expect(stdout).toContain(`import {\n  to = neon_endpoint.ep-one\n  id = "ep-one"\n}\n`);
  expect(stdout).toContain("  suspend_timeout_seconds = 120\n");
  expect(stdout.indexOf("ep-one")).toBeLessThan(stdout.indexOf("ep-two"));
});

test("without a project, the calls contain variables", async () => {
  const file = saveAnswer({ "ep-one": "never" });
  const { stdout } = await apply(file, "--delays", "per-compute");
  expect(stdout).toContain(`"$NEON_API_HOST/projects/$PROJECT_ID/endpoints/ep-one"`);
  expect(stdout).toContain(`{"endpoint":{"suspend_timeout_seconds":-1}}`);
  expect(stdout).toContain("  project_id              = var.project_id\n");
  expect(stdout).toContain(`  branch_id               = var.branch_ids["ep-one"]\n`);
});

test.each([
  ["fleet", {}, { delays: "fleet", delay: 120 }],
  ["per_compute_shrunk", {}, { delays: "per-compute", delay: 60 }],
  ["per_compute_shrunk", { limits: { max_cold_per_day: 5 } }, { delays: "fleet", delay: 120 }],
])("an answer that recommends %s, with %j, sets %j", async (choice, options, expected) => {
  const file = saveAnswer({ "ep-one": 60 }, { choice, ...options });
  const { delays, calls } = JSON.parse((await apply(file, "--json")).stdout);
  expect({ delays, delay: calls[0].delay_s }).toEqual(expected);
});

test("delays of each compute that meet a limit on its wait can be applied", async () => {
  const limits = { max_wait_p99_ms: 500, compute_wait_limit: { met: 1, unmet: 0 } };
  const answer = saveAnswer({ "ep-one": 900 }, { limits });
  const { code, stdout } = await apply(answer, "--delays", "per-compute", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ delays: "per-compute", calls: [{ compute: "ep-one" }] });
  const withCost = saveAnswer({ "ep-one": 900 }, { limits: { ...limits, max_cost_dollars_per_month: 9 } });
  expect((await apply(withCost, "--delays", "per-compute")).stderr).toMatch(/limits of the answer/);
});

test.each([
  [
    "an answer without a recommendation",
    { "ep-one": 60 },
    { recommended: null },
    [],
    /recommends no delay: the trace covers/,
  ],
  [
    "an unknown delay of a compute",
    { "ep-one": null },
    {},
    ["--delays", "per-compute"],
    /no delay for each compute/,
  ],
  [
    "a name that is not an id",
    { "ep-one; reboot": 60 },
    {},
    [],
    /"ep-one; reboot" is not the id of a compute/,
  ],
  [
    "limits",
    { "ep-one": 60 },
    { limits: { max_wait_p99_ms: 1 } },
    ["--delays", "per-compute"],
    /limits of the answer/,
  ],
  ["--yes without --to", { "ep-one": 60 }, {}, ["--yes"], /--yes needs --to/],
  ["--project with bad characters", { "ep-one": 60 }, {}, ["--project", "$(id)"], /id of a project/],
])("apply refuses %s", async (_name, shrunk, options, args, message) => {
  const { code, stdout, stderr } = await apply(saveAnswer(shrunk as Shrunk, options), ...args);
  expect({ isError: code !== 0, stdout }).toEqual({ isError: true, stdout: "" });
  expect(stderr).toMatch(message);
});

test("apply refuses what is not an answer, and an answer without computes", async () => {
  const file = join(testDirectory(), "other.json");
  writeFileSync(file, "{}");
  expect((await apply(file)).stderr).toMatch(/not an answer of "whatif curve": decision/);
  const trace = await createShopTrace();
  const curve = await runStandin(["whatif", "curve", trace, "--json"]);
  writeFileSync(file, curve.stdout);
  expect((await apply(file)).stderr).toMatch(/does not list the computes; .*--by-compute/);
});

test("apply sets the delays on a server, and reports what it changed", async () => {
  const world = await shop();
  const { server, ids } = world;
  const [first, second] = ids as [string, string];
  const file = saveAnswer({ [first]: 60, [second]: 600, "ep-gone": 90 }, { choice: "per_compute_shrunk" });
  const to = ["--to", server.ready.api_url];
  const planned = await apply(file, ...to, "--dry-run");
  expect(planned.stdout).toMatch(/would change 2 computes, 0 already set, 1 not found\n/);
  expect(planned.stdout).toMatch(new RegExp(`"\\$NEON_API_HOST/projects/[\\w-]+/endpoints/${first}"`));
  expect(await timeouts(world)).toEqual([0, 0]);
  const applied = await apply(file, ...to);
  expect(applied).toMatchObject({ code: 0, stderr: "" });
  expect(applied.stdout).toMatch(/: changed 2 computes, 0 already set, 1 not found\n/);
  expect(applied.stdout).toContain(`${first}  default → 1 min\n`);
  expect(applied.stdout).toContain("ep-gone  not found\n");
  expect(await timeouts(world)).toEqual([60, 600]);
  const again = JSON.parse((await apply(file, ...to, "--json")).stdout);
  expect(again).toMatchObject({ changed: [], not_found: ["ep-gone"], dry_run: false });
  expect(again.unchanged.sort()).toEqual([...ids].sort());
  const { api_keys } = (await server.sim("GET", "/api_keys")).body;
  expect(api_keys.map(({ name }: { name: string }) => name)).not.toContain("standin whatif apply");
});

test("the printed commands set the delays: curl in a shell, and the public command line", async () => {
  const world = await shop();
  const { server, ids } = world;
  const file = saveAnswer(Object.fromEntries(ids.map((id) => [id, 60])), { recommended: 180 });
  const key = server.ready.api_key as string;
  const printed = async (format: string, delays: string) =>
    (await apply(file, "--delays", delays, "--to", server.ready.api_url, "--dry-run", "--format", format))
      .stdout;
  const env = { ...process.env, NEON_API_HOST: server.ready.api_url, NEON_API_KEY: key };
  await promisify(execFile)("sh", ["-ec", await printed("curl", "fleet")], { env });
  await server.sim("POST", "/clock/advance", { by: "10s" });
  expect(await timeouts(world)).toEqual([180, 180]);
  const cli = new Neonctl(server.ready.api_url, key, testDirectory(), "neonctl-newest");
  for (const line of (await printed("neonctl", "per-compute"))
    .split("\n")
    .filter((text) => text.startsWith("neonctl "))) {
    const args = line
      .split(" ")
      .slice(1)
      .map((word) => word.replaceAll('"', ""));
    expect(await cli.run(args)).toMatchObject({ code: 0 });
  }
  expect(await timeouts(world)).toEqual([60, 60]);
});

test("apply stops at a rejection and names what was changed before it", async () => {
  const world = await shop();
  const [first, second] = [...world.ids].sort() as [string, string];
  const file = saveAnswer({ [first]: 60, [second]: 10 }, { choice: "per_compute_shrunk" });
  const { code, stdout, stderr } = await apply(file, "--to", world.server.ready.api_url);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(`${second}: 4`);
  expect(stderr).toContain(`changed before it: ${first}`);
  expect((await timeouts(world)).sort()).toEqual([0, 60]);
});

test("apply changes another server only with --yes, and reads it with --dry-run", async () => {
  const requests: string[] = [];
  const other = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.setHeader("Content-Type", "application/json");
    const project = { id: "quiet-wind-1", name: "shop", region_id: "aws-us-east-2", pg_version: 17 };
    const endpoint = { id: "ep-one", branch_id: "br-one", type: "read_write", suspend_timeout_seconds: 0 };
    const body = request.url?.includes("/operations")
      ? { operations: [] }
      : request.url?.includes("/endpoints")
        ? { endpoints: [endpoint], endpoint }
        : { projects: [project] };
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const to = ["--to", `http://127.0.0.1:${(other.address() as AddressInfo).port}/api/v2`];
  const file = saveAnswer({ "ep-one": 60 });
  const refused = await apply(file, ...to, "--key", "other-key");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/is not a standin server; nothing was changed/);
  expect((await apply(file, ...to, "--dry-run")).stderr).toMatch(/it needs --key/);
  const planned = await apply(file, ...to, "--key", "other-key", "--dry-run", "--format", "terraform");
  expect(planned.stdout).toContain(
    '  branch_id               = "br-one"\n  type                    = "read_write"\n',
  );
  expect(requests.filter((text) => !text.startsWith("GET "))).toEqual([]);
  expect((await apply(file, ...to, "--key", "other-key", "--yes")).stdout).toMatch(/: changed 1 compute,/);
  expect(requests.filter((text) => !text.startsWith("GET "))).toEqual([
    "PATCH /api/v2/projects/quiet-wind-1/endpoints/ep-one",
  ]);
});

test("a report of a world is applied to that world, and its next answer has the new delay", async () => {
  const { server, ids } = await shop();
  const [id] = ids as [string];
  for (let day = 0; day < 8; day += 1) {
    for (let request = 0; request < 15; request += 1) {
      const answer = await server.sim("POST", "/activity", { endpoint_id: id });
      expect(answer.status).toBeLessThan(300);
      await server.sim("POST", "/clock/advance", { by: "90m" });
    }
    await server.sim("POST", "/clock/advance", { by: "90m" });
  }
  const out = join(testDirectory(), "report");
  const world = ["--url", server.ready.control_url];
  const before = await runWhatif(["curve", ...world, "--out", out, "--cold-start-worth", "1m"]);
  const recommended = before.decision.recommended_delay_s;
  expect(recommended).toBe(60);
  expect(await apply(out, "--to", server.ready.api_url)).toMatchObject({ code: 0, stderr: "" });
  const after = await runWhatif(["curve", ...world, "--compute", id]);
  expect(after.present.delay_s).toBe(recommended);
});
