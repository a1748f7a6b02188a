import { execFile, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
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

/** Of 1,000 s of weighted cost. */
type Gain = { readonly gain_s: number; readonly margin_95: number | null } | null;
const CLEAR: Gain = { gain_s: 100, margin_95: 20 };

/** A saved answer of `whatif curve --by-compute`, with only what is read from it. */
function saveAnswer(
  shrunk: Shrunk,
  {
    recommended = 120 as number | "never" | null,
    choice = "fleet",
    plan = "scale",
    limits = {},
    within = null as object | null,
    gains = {} as Record<string, Gain>,
    computes = {} as object,
  } = {},
): string {
  const file = join(testDirectory(), "answer.json");
  const gainOf = (compute: string) => {
    const gain = compute in gains ? gains[compute] : CLEAR;
    return gain == null ? null : { ...gain, cost_dollars_per_month: -gain.gain_s / 100 };
  };
  const answer = {
    question: { plan, profile: "2024" },
    decision: {
      recommended_delay_s: recommended,
      too_little: recommended === null ? ["the trace covers 2.0 days, less than 7"] : [],
      no_margins: null,
      current: { cost_dollars_per_month: 20 },
      within_limits: within,
    },
    held_out: { recommended: choice },
    ...limits,
    computes: Object.entries(shrunk).map(([compute, shrunk_delay_s]) => ({
      compute,
      shrunk_delay_s,
      present: { delay_s: 300, burden_s: 1_000 },
      gain_of_recommended: gainOf(compute),
      gain_of_shrunk: gainOf(compute),
      ...computes,
    })),
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
  expect((await apply(file)).stderr).toMatch(/not an answer of "whatif curve" of this version: question/);
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

type OtherServer = {
  readonly url: string;
  readonly requests: string[];
  readonly delays: Map<string, number>;
};

/** A server that is not standin, whose computes are in one project. `onChange`: undefined accepts the change. */
async function otherServer(
  delays: Readonly<Record<string, number>>,
  onChange: (compute: string) => Promise<number | undefined> | undefined = () => undefined,
): Promise<OtherServer> {
  const [requests, current]: [string[], Map<string, number>] = [[], new Map(Object.entries(delays))];
  const endpointOf = (id: string) => ({
    id,
    branch_id: "br-one",
    type: "read_write",
    suspend_timeout_seconds: current.get(id),
  });
  const server = createServer(async (request, response) => {
    const { method, url = "" } = request;
    requests.push(`${method} ${url}`);
    response.setHeader("Content-Type", "application/json");
    const answer = (body: object) => response.end(JSON.stringify(body));
    const [, compute = ""] = /endpoints\/([\w-]+)/.exec(url) ?? [];
    if (method === "PATCH") {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const status = await onChange(compute);
      if (status !== undefined) {
        response.statusCode = status;
        return answer({ message: "rejected" });
      }
      const body = JSON.parse(Buffer.concat(chunks).toString());
      current.set(compute, body.endpoint.suspend_timeout_seconds);
      return answer({ endpoint: endpointOf(compute) });
    }
    if (url.includes("/operations")) return answer({ operations: [] });
    if (url.includes("/endpoints")) return answer({ endpoints: [...current.keys()].map(endpointOf) });
    return answer({
      projects: [{ id: "quiet-wind-1", name: "shop", region_id: "aws-us-east-2", pg_version: 17 }],
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v2`;
  return { url, requests, delays: current };
}

const OTHER = ["--key", "other-key", "--yes"];

test("apply stops at a rejection, and --revert restores what was changed before it", async () => {
  const other = await otherServer({ "ep-one": 0, "ep-two": -1 }, (compute) =>
    compute === "ep-two" ? Promise.resolve(422) : undefined,
  );
  const file = saveAnswer({ "ep-one": 60, "ep-two": 90 }, { choice: "per_compute_shrunk" });
  const { code, stdout, stderr } = await apply(file, "--to", other.url, ...OTHER);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  const revert = file.replace(/\.json$/, ".revert.json");
  expect(stderr).toContain("ep-two: 422 rejected; changed before it: ep-one. To restore all of them: ");
  expect(stderr).toContain(`standin whatif apply --revert ${revert} --to ${other.url}`);
  expect([...other.delays.values()]).toEqual([60, -1]);
  expect(JSON.parse(readFileSync(revert, "utf8")).computes).toEqual([
    {
      compute: "ep-one",
      project: "quiet-wind-1",
      suspend_timeout_seconds: 0,
      set_suspend_timeout_seconds: 60,
    },
    {
      compute: "ep-two",
      project: "quiet-wind-1",
      suspend_timeout_seconds: -1,
      set_suspend_timeout_seconds: 90,
    },
  ]);
  const restored = await apply("--revert", revert, "--to", other.url, ...OTHER);
  expect(restored).toMatchObject({ code: 0, stderr: "" });
  expect(restored.stdout).toContain(
    "changed 1 compute, 1 already set, 0 not found\nep-one  1 min → default\n",
  );
  expect([...other.delays.values()]).toEqual([0, -1]);
});

test("Ctrl-C during the second change leaves a complete file that restores the first", async () => {
  const reached = new EventEmitter();
  const other = await otherServer({ "ep-one": 600, "ep-two": 900 }, (compute) => {
    if (compute !== "ep-two") return undefined;
    reached.emit("change");
    return new Promise<undefined>(() => undefined);
  });
  const file = saveAnswer({ "ep-one": 60, "ep-two": 90 }, { choice: "per_compute_shrunk" });
  const changing = once(reached, "change");
  const child = spawn(process.execPath, [
    "dist/standin.js",
    ...["whatif", "apply", file, "--to", other.url, ...OTHER],
  ]);
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await changing;
  child.kill("SIGINT");
  expect(await ended).toBe(130);
  expect([...other.delays.values()]).toEqual([60, 900]);
  const revert = file.replace(/\.json$/, ".revert.json");
  const restored = JSON.parse(
    (await apply("--revert", revert, "--to", other.url, ...OTHER, "--json")).stdout,
  );
  expect(restored).toMatchObject({ delays: "previous", unchanged: ["ep-two"], not_found: [] });
  expect([...other.delays.values()]).toEqual([600, 900]);
});

test("apply changes another server only with --yes, and reads it with --dry-run", async () => {
  const other = await otherServer({ "ep-one": 0 });
  const to = ["--to", other.url];
  const file = saveAnswer({ "ep-one": 60 });
  const changes = () => other.requests.filter((text) => !text.startsWith("GET "));
  const refused = await apply(file, ...to, "--key", "other-key");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/is not a standin server; nothing was changed/);
  expect((await apply(file, ...to, "--dry-run")).stderr).toMatch(/it needs --key/);
  const planned = await apply(file, ...to, "--key", "other-key", "--dry-run", "--format", "terraform");
  expect(planned.stdout).toContain(
    '  branch_id               = "br-one"\n  type                    = "read_write"\n',
  );
  expect(changes()).toEqual([]);
  expect(existsSync(file.replace(/\.json$/, ".revert.json"))).toBe(false);
  expect((await apply(file, ...to, ...OTHER)).stdout).toMatch(/: changed 1 compute,/);
  expect(changes()).toEqual(["PATCH /api/v2/projects/quiet-wind-1/endpoints/ep-one"]);
});

test("delays without a clear gain are not set, and the bill counts only those that are changed", async () => {
  const gains = {
    "ep-clear": { gain_s: 100, margin_95: 99 },
    "ep-equal": { gain_s: 100, margin_95: 100 },
    "ep-none": { gain_s: 0, margin_95: 0 },
    "ep-worse": { gain_s: -50, margin_95: 10 },
    "ep-unknown": null,
    "ep-wide": { gain_s: 100, margin_95: null },
  };
  const shrunk = Object.fromEntries(Object.keys(gains).map((compute) => [compute, 60]));
  const file = saveAnswer({ ...shrunk, "ep-same": 300 }, { gains, choice: "per_compute_shrunk" });
  const { calls, retained, bill, plan } = JSON.parse((await apply(file, "--json")).stdout);
  expect(calls).toMatchObject([{ compute: "ep-clear", delay_s: 60 }]);
  expect(plan).toBe("scale");
  expect(bill).toEqual({ before_dollars_per_month: 20, after_dollars_per_month: 19 });
  expect(retained.map(({ compute, reason }: Record<string, string>) => [compute, reason])).toEqual([
    ["ep-equal", "within-noise"],
    ["ep-none", "no-gain"],
    ["ep-same", "current"],
    ["ep-unknown", "unknown"],
    ["ep-wide", "unknown"],
    ["ep-worse", "no-gain"],
  ]);
  const terraform = (await apply(file, "--format", "terraform")).stdout;
  expect(terraform).toContain("# Compute time of the answer: $20.0 a month before, $19.0 after (−$1.00).\n");
  expect(terraform).toContain(
    "# ep-equal  keeps 5 min: the gain of 1 min is within the noise, +10 ± 10 % of the weighted cost\n",
  );
  const other = await otherServer(Object.fromEntries(Object.keys(gains).map((compute) => [compute, 300])));
  const applied = await apply(file, "--to", other.url, ...OTHER);
  expect(applied.stdout).toContain("changed 1 compute, 0 already set, 0 not found, 6 without a clear gain\n");
  expect(applied.stdout).toContain("ep-worse  keeps 5 min: 1 min has a higher weighted cost\n");
  expect(other.requests.filter((text) => text.startsWith("PATCH "))).toHaveLength(1);
});

test("without any clear gain, apply makes no request and writes no file", async () => {
  const other = await otherServer({ "ep-one": 300 });
  const file = saveAnswer({ "ep-one": 60 }, { gains: { "ep-one": { gain_s: 1, margin_95: 5 } } });
  const applied = await apply(file, "--to", other.url, ...OTHER, "--json");
  expect(applied).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(applied.stdout)).toMatchObject({
    changed: [],
    revert_file: null,
    retained: [{ compute: "ep-one" }],
  });
  expect(other.requests).toEqual([]);
  expect((await apply(file)).stdout).toMatch(/^# No delay is to be changed\.\n# ep-one {2}keeps 5 min: /);
});

test("a delay that a limit of the answer requires is set without a gain", async () => {
  const gains = { "ep-one": { gain_s: -100, margin_95: 5 } };
  const limits = { max_cold_per_day: 5 };
  const within = (from_delay_s: number) => ({ from_delay_s, to_delay_s: "never" });
  const changed = async (options: object, ...args: string[]) => {
    const file = saveAnswer({ "ep-one": 900 }, { gains, recommended: 900, ...options });
    return JSON.parse((await apply(file, "--json", ...args)).stdout).calls.length;
  };
  expect(await changed({ limits, within: within(600) })).toBe(1);
  expect(await changed({ limits, within: within(300) })).toBe(0);
  expect(await changed({ within: within(600) })).toBe(0);
  const ofComputes = { limits: { max_wait_p99_ms: 500, compute_wait_limit: { met: 1, unmet: 0 } } };
  const withinWait = (delay: number) => ({ ...ofComputes, computes: { within_wait_p99_delay_s: delay } });
  expect(await changed(withinWait(301), "--delays", "per-compute")).toBe(1);
  expect(await changed(withinWait(300), "--delays", "per-compute")).toBe(0);
});

test.each([
  ["launch", 86, ["ep-one: 86 s is not allowed on plan launch", "allows only 5 min or never"]],
  ["free", "never", ["ep-one: never is not allowed on plan free", "allows only 5 min;"]],
  ["scale", 59, ["ep-one: 59 s is not allowed on plan scale", "allows only 1 min to 7 d, or never"]],
])(
  "on plan %s, a delay of %s is an error for each compute, and changes nothing",
  async (plan, delay, messages) => {
    const other = await otherServer({ "ep-one": 300, "ep-two": 300 });
    const file = saveAnswer({ "ep-one": 86, "ep-two": 86 }, { recommended: delay as number | "never" });
    for (const args of [[], ["--to", other.url, ...OTHER], ["--json"]]) {
      const { code, stdout, stderr } = await apply(file, "--plan", plan, ...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      for (const message of messages) expect(stderr).toContain(message);
      expect(stderr).toContain("ep-two: ");
    }
    expect(other.requests).toEqual([]);
  },
);

test("the plan is that of the answer, and what it allows is set", async () => {
  expect((await apply(saveAnswer({ "ep-one": 86 }, { plan: "launch" }))).stderr).toContain("on plan launch");
  const never = saveAnswer({ "ep-one": 86 }, { plan: "launch", recommended: "never" });
  expect(JSON.parse((await apply(never, "--json")).stdout)).toMatchObject({
    plan: "launch",
    calls: [{ suspend_timeout_seconds: -1 }],
  });
});

test("each run keeps its own file, and --revert names delays that changed since", async () => {
  const world = await shop();
  const [first, second] = [...world.ids].sort() as [string, string];
  const to = ["--to", world.server.ready.api_url];
  const file = saveAnswer({ [first]: 60, [second]: 600 }, { choice: "per_compute_shrunk" });
  const { revert_file: before } = JSON.parse((await apply(file, ...to, "--json")).stdout);
  const { revert_file: later } = JSON.parse((await apply(file, ...to, "--json", "--delays", "fleet")).stdout);
  expect([before, later]).toEqual(
    [".revert.json", ".revert-2.json"].map((end) => file.replace(/\.json$/, end)),
  );
  const printed = await apply("--revert", before, "--format", "neonctl");
  expect(printed.stdout.match(/suspend_timeout_seconds=0$/gm)).toHaveLength(2);
  const planned = await apply("--revert", before, ...to, "--dry-run");
  expect(planned.stdout).toContain("dry run: nothing was changed");
  expect(await timeouts(world)).toEqual([120, 120]);
  const restored = await apply("--revert", before, ...to);
  expect(restored).toMatchObject({ code: 0, stderr: "" });
  expect(restored.stdout).toContain(`${first}  was changed to 2 min after whatif apply had set 1 min\n`);
  expect(await timeouts(world)).toEqual([0, 0]);
});

test.each([
  ["a file that is no such file", ["--revert", "answer.json"], /--revert .*: not a file of previous delays/],
  ["a missing file", ["--revert", "missing.json"], /--revert .*missing\.json: does not exist/],
  ["--revert with an answer", ["answer.json", "--revert", "answer.json"], /either an answer .* or --revert/],
  ["neither", [], /either an answer .* or --revert/],
  ["--revert with --delays", ["--revert", "answer.json", "--delays", "fleet"], /--delays: .*omit it/],
  ["--revert with --plan", ["--revert", "answer.json", "--plan", "free"], /cannot be used with/],
])("apply refuses %s", async (_name, args, message) => {
  const directory = dirname(saveAnswer({ "ep-one": 60 }));
  const inDirectory = args.map((arg) => (arg.endsWith(".json") ? join(directory, arg) : arg));
  const { code, stdout, stderr } = await apply(...inDirectory);
  expect({ isError: code !== 0, stdout }).toEqual({ isError: true, stdout: "" });
  expect(stderr).toMatch(message);
});

test("the answer states what each compute gains, and the sum is the change of the decision", async () => {
  const trace = await createShopTrace();
  const { decision, computes = [], saving } = await runWhatif(["curve", trace, "--by-compute"]);
  const [balanced] = decision.options;
  expect(decision.recommended_delay_s).toBe(balanced?.delay_s);
  const sumOf = (of: (compute: (typeof computes)[number]) => number | undefined) =>
    computes.reduce((sum, compute) => sum + (of(compute) ?? Number.NaN), 0);
  expect(sumOf((compute) => compute.gain_of_recommended?.cost_dollars_per_month)).toBeCloseTo(
    balanced?.change.cost_dollars_per_month as number,
    9,
  );
  expect(saving.cost).toBeGreaterThan(0);
  for (const { compute, gain_of_recommended: gain, present } of computes) {
    const own = await runWhatif(["curve", trace, "--compute", compute, "--delay", String(gain?.delay_s)]);
    expect(gain?.gain_s).toBeCloseTo(present.burden_s - own.burden_s, 3);
    expect(gain?.margin_95).toBeGreaterThan(0);
  }
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
