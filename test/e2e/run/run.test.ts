import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnCommand, spawnStandin, waitForExit } from "../../support/process/process.ts";
import { SIMULATED, YEAR } from "../../support/scenario/shipped-scenarios.ts";
import { createProjectOn, startServer, testDirectory } from "../../support/server/running-server.ts";

/** Enough for all scenarios on a busy machine. */
const LONGEST_RUN_MS = 90_000;
const LIBRARY = SIMULATED.filter((file) => file !== YEAR);
const QUICK = [
  "scenarios/wakes-on-a-query.yaml",
  "scenarios/sleeps-at-five-minutes.yaml",
  "scenarios/second-primary-refused.yaml",
];

const run = (args: readonly string[]) => runStandin(["run", ...args]);

/** A scenario in its own directory; its world has one project. */
function written(...lines: string[]): string {
  const file = join(testDirectory(), "mine.yaml");
  writeFileSync(
    file,
    ["version: 1", "world: { start_delay: 2s, projects: { shop: {} } }", ...lines].join("\n"),
  );
  return file;
}

const PASSES = () => written("length: 1m", "expect: [{ computes: 1 }]");
const FAILS = () => written("steps: [{ advance: 1m }]", "expect: [{ computes: 2 }]");

test("the whole library passes; with two workers the verdicts are byte-identical", async () => {
  const report = join(testDirectory(), "one.json");
  const one = await run([...LIBRARY, "--reporter", "pretty", "--reporter", `json=${report}`]);
  // A run of more than 10 s prints its progress.
  const messages = one.stderr.replaceAll(/^running: .*\n/gm, "");
  expect({ code: one.code, messages }).toEqual({ code: 0, messages: "" });
  const runs: { file: string }[] = JSON.parse(readFileSync(report, "utf8")).runs;
  expect(one.stdout).toContain(`${runs.length} of ${runs.length} passed`);
  expect(new Set(runs.map(({ file }) => file))).toEqual(new Set(LIBRARY));
  const two = await run([...LIBRARY, "--workers", "2", "--json"]);
  expect(two.code).toBe(0);
  expect(two.stdout === readFileSync(report, "utf8"), "the same bytes").toBe(true);
});

test("repeated runs are byte-identical; with another seed, the report has that seed", async () => {
  const [one, again, other] = [
    await run([...QUICK, "--json"]),
    await run([...QUICK, "--json"]),
    await run([...QUICK, "--json", "--seed", "7"]),
  ];
  expect(again.stdout).toBe(one.stdout);
  expect(other.code).toBe(0);
  expect(
    JSON.parse(other.stdout).runs.map(({ seed, repeat }: { seed: number; repeat: string }) => [
      seed,
      repeat.endsWith("--seed 7"),
    ]),
  ).toEqual(Array(3).fill([7, true]));
});

test("a kept world has the same report as one in memory, passes verification, and can be served", async () => {
  const kept = join(testDirectory(), "world");
  const scenario = "scenarios/second-primary-refused.yaml";
  const inFiles = await run([scenario, "--keep", kept, "--json"]);
  expect(inFiles.stdout).toBe((await run([scenario, "--json"])).stdout);
  expect(await waitForExit(spawnStandin(["verify", kept]))).toMatchObject({ code: 0 });
  const { api } = await startServer(kept, ["--clock", "manual"], { key: "key-of-main" });
  const { body } = await api("GET", "/projects/shop/endpoints");
  expect(body.endpoints.map((endpoint) => endpoint.branch_id).sort()).toEqual([
    "br-shop-dev",
    "br-shop-main",
    "br-shop-main",
  ]);
});

test("several worlds are kept next to each other, and none is overwritten", async () => {
  const kept = join(testDirectory(), "worlds");
  const files = QUICK.slice(0, 2);
  const { code, stderr } = await run([...files, "--keep", kept]);
  expect(code).toBe(0);
  expect(readdirSync(kept)).toEqual(["1-wakes-on-a-query", "2-sleeps-at-five-minutes"]);
  expect(stderr).toBe(
    `standin: kept the world of wakes-on-a-query in ${kept}/1-wakes-on-a-query\nstandin: kept the world of sleeps-at-five-minutes in ${kept}/2-sleeps-at-five-minutes\n`,
  );
  const again = await run([...files, "--keep", kept]);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain("the directory is not empty");
});

test("passed exits with 0, failed with 1, and could not run with 2", async () => {
  expect((await run([PASSES()])).code).toBe(0);
  const failed = await run([FAILS(), PASSES()]);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toBe("");
  expect(failed.stdout).toContain("expected     computes: 2");
  expect(failed.stdout).toMatch(/repeat with: standin run \S+mine\.yaml --seed 1/);
  expect(failed.stdout).toContain("1 of 2 passed");
  const cannot = await run([written("steps: [{ control: { path: /nowhere } }]"), PASSES()]);
  expect(cannot.code).toBe(2);
  expect(cannot.stderr).toMatch(/^standin: could not run mine: GET \/_sim\/nowhere /);
  expect(cannot.stdout).not.toContain("/_sim/nowhere");
});

test("a run that could not start is in all reports, with its reason", async () => {
  const file = written("steps: [{ control: { path: /nowhere } }]");
  const [text, xml] = ["run.txt", "run.xml"].map((name) => join(testDirectory(), name)) as [string, string];
  const reporters = ["--json", "--reporter", `pretty=${text}`, "--reporter", `junit=${xml}`];
  const { code, stdout } = await run([file, PASSES(), ...reporters, "--workers", "2"]);
  const reason = expect.stringMatching(/^GET \/_sim\/nowhere was rejected: /);
  expect([code, JSON.parse(stdout)]).toEqual([
    2,
    {
      ...{ version: 2, passed: 1, failed: 0, could_not_run: 1 },
      runs: [
        {
          scenario: "mine",
          file,
          values: {},
          seed: 1,
          verdict: "could_not_run",
          reason,
          repeat: `standin run ${file} --seed 1`,
        },
        expect.objectContaining({ verdict: "passed" }),
      ],
    },
  ]);
  expect(readFileSync(text, "utf8")).toContain("could not run mine: GET /_sim/nowhere");
  expect(readFileSync(xml, "utf8")).toContain('errors="1"');
});

test("a missing or invalid file exits with 2 before any run, and all of them are reported", async () => {
  const wrong = written("lenght: 1m");
  const { code, stdout, stderr } = await run(["nowhere.yaml", PASSES(), wrong]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("nowhere.yaml");
  expect(stderr).toContain(`${wrong}:3:1: lenght: unknown key`);
});

test("with --bail, the first failure ends all runs", async () => {
  const file = written(
    "steps:",
    "  - { expect: [{ computes: 2 }] }",
    "  - { name: never reached, advance: 1m }",
  );
  const { code, stdout } = await run([file, PASSES(), "--bail", "--json"]);
  expect(code).toBe(1);
  const { runs } = JSON.parse(stdout);
  expect(runs).toHaveLength(1);
  expect(runs[0].steps).toHaveLength(1);
  expect(JSON.parse((await run([file, PASSES(), "--json"])).stdout).runs).toHaveLength(2);
  expect((await run([file, PASSES(), PASSES(), "--bail"])).stdout).toContain("0 of 1 passed, 2 not run");
});

test("--only selects runs by a part of their name, and lists them if none matches", async () => {
  const file = written("length: 1m", `about: of \${size}`, "matrix: { size: [1, 2, 3] }");
  const { stdout } = await run([file, "--only", "size 2", "--json"]);
  expect(JSON.parse(stdout).runs.map(({ values }: { values: object }) => values)).toEqual([{ size: 2 }]);
  const none = await run([file, "--only", "size 4"]);
  expect(none.code).toBe(2);
  expect(none.stderr).toContain(
    "--only size 4: no run has this text in its name; the runs are mine (size 1), mine (size 2), mine (size 3)",
  );
  const two = await run([file, "--only", "size 3", "--only", "size 1", "--json"]);
  expect(JSON.parse(two.stdout).runs.map(({ values }: { values: object }) => values)).toEqual([
    { size: 1 },
    { size: 3 },
  ]);
  expect((await run([file, "--only", "size 3", "--only", "size 4"])).stderr).toContain(
    "--only size 4: no run has this text in its name",
  );
});

test("--seed is rejected if the matrix sets the seeds, except for a selected run with that seed", async () => {
  const file = join(testDirectory(), "mine.yaml");
  writeFileSync(
    file,
    `version: 1\nworld: { seed: "\${seed}" }\nlength: 1m\nmatrix: { seed: { from: 1, to: 12 } }\n`,
  );
  const { code, stderr } = await run([file, "--seed", "1"]);
  expect([code, stderr]).toEqual([
    2,
    `standin: --seed 1: the matrix of ${file} sets the seed; select one of its runs with --only\n`,
  ]);
  expect((await run([file, "--seed", "7", "--only", "mine (seed 1)"])).code).toBe(2);
  expect((await run([file, "--seed", "1", "--only", "mine (seed 1)"])).code).toBe(0);
});

test("endpoints that a recording does not have are reported before any run, with those that it has", async () => {
  const source =
    "{ name: r, to: shop/main, pattern: replay, file: rec.csv, computes: { one: shop/main, nope: shop/main } }";
  const file = written("length: 1m", `traffic: [${source}]`);
  writeFileSync(
    join(dirname(file), "rec.csv"),
    "at,endpoint_id\n2026-01-01T00:00:00Z,one\n2026-01-01T00:00:01Z,two\n",
  );
  const { code, stdout, stderr } = await run([PASSES(), file]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`${file}:`);
  expect(stderr).toContain(
    ': traffic.r.computes.nope: rec.csv has no endpoint "nope"; its endpoints are one, two',
  );
});

test("any number of runs may wait for a worker without a warning", async () => {
  const file = written("length: 1m", `about: "of \${round}"`, "matrix: { round: { from: 1, to: 12 } }");
  const { code, stdout, stderr } = await run([file, "--workers", "2", "--json"]);
  expect([code, stderr, JSON.parse(stdout).runs.length]).toEqual([0, "", 12]);
});

test("several reporters write at once, each to its own file", async () => {
  const directory = testDirectory();
  const path = (name: string) => join(directory, "reports", name);
  const { code, stdout } = await run([
    FAILS(),
    ...[
      "--reporter",
      `pretty=${path("run.txt")}`,
      "--reporter",
      `junit=${path("run.xml")}`,
      "--reporter",
      `json=${path("run.json")}`,
    ],
  ]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(readFileSync(path("run.txt"), "utf8")).toContain("failed mine");
  expect(readFileSync(path("run.xml"), "utf8")).toContain('<testsuite name="mine" tests="2" failures="1"');
  expect(JSON.parse(readFileSync(path("run.json"), "utf8"))).toMatchObject({ passed: 0, failed: 1 });
  expect((await run([PASSES(), "--reporter", "json", "--reporter", "junit"])).code).toBe(2);
  const unknown = await run([PASSES(), "--reporter", "tap"]);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain("--reporter: expected pretty, json, junit");
});

test("in a job of GitHub, the github reporter adds the failures to the summary of the job", async () => {
  const summary = join(testDirectory(), "summary.md");
  const args = ["run", FAILS(), PASSES(), "--reporter", "github"];
  const { code, stdout } = await runStandin(args, { GITHUB_STEP_SUMMARY: summary });
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^::error /) });
  const [title, , ...table] = readFileSync(summary, "utf8").trim().split("\n");
  expect(title).toBe("### standin run: 1 passed, 1 failed, 0 could not run");
  expect(table[0]).toBe("| Scenario | Failure | Expected | Actual |");
  expect(table.slice(2)).toEqual([expect.stringMatching(/^\| mine \| .* at 20.*Z \| .* \| .* \|$/)]);
});

test("unwritable reports, unusable directories and unreadable worlds exit with 2 and are not internal errors", async () => {
  const refused = async (message: string, file: string, ...args: readonly string[]) => {
    const { code, stderr } = await run([file, ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain("internal error");
  };
  const file = PASSES();
  await refused(
    `--reporter: cannot write ${file}/report.json: `,
    file,
    "--reporter",
    `json=${file}/report.json`,
  );
  await refused(
    `--reporter: two reports write to ${file}.json; give each its own file`,
    file,
    "--reporter",
    `json=${file}.json`,
    ...["--reporter", `junit=${dirname(file)}/./${basename(file)}.json`],
  );
  await refused(
    '--reporter: expected a file after "=", such as junit=report.txt',
    file,
    "--reporter",
    "junit=",
  );
  await refused("not a directory", file, "--keep", file);
  await refused(
    "'--keep <dir>' cannot be used with option '--target <url>'",
    file,
    "--keep",
    "kept",
    "--target",
    "http://127.0.0.1:1",
  );
  await refused("--control-token requires --target", file, "--control-token", "secret");
  await refused(`${tmpdir()}: is a directory; name the files in it`, tmpdir());
  await refused("missing.yaml: does not exist", join(testDirectory(), "missing.yaml"));
  const empty = join(testDirectory(), "empty.yaml");
  writeFileSync(empty, "# nothing\n");
  await refused("empty.yaml:1:1: the file: is empty", empty);
  const begun = join(testDirectory(), "begun.yaml");
  writeFileSync(begun, "version: 1\nworld: { file: begun.yaml }\nlength: 1m\n");
  await refused("world.file: file is not a database", begun);
});

test("Ctrl-C works while steps run without waiting", async () => {
  const launched = spawnStandin([
    "run",
    written("steps: [{ repeat: { times: 1000000, steps: [{ advance: 0s }] } }]"),
  ]);
  await launched.waitForOutput(/advance/);
  launched.process.kill("SIGINT");
  const { code, stderr } = await waitForExit(launched);
  expect({ code, stderr }).toEqual({ code: 130, stderr: "standin: interrupted\n" });
});

test("Ctrl-C ends a long run with code 130 and a message, and leaves nothing behind", async () => {
  const scratch = testDirectory();
  const file = written(
    "traffic: [{ name: crowd, to: shop/main, pattern: constant, every: 1m }]",
    "steps: [{ restart: true }, { name: begun, advance: 1m }]",
    "length: 3000d",
  );
  const launched = spawnStandin(["run", file], { TMPDIR: scratch });
  await launched.waitForOutput(/begun/);
  launched.process.kill("SIGINT");
  const { code, stderr } = await waitForExit(launched);
  expect({ code, stderr }).toEqual({ code: 130, stderr: "standin: interrupted\n" });
  expect(readdirSync(scratch)).toEqual([]);
});

test("Ctrl-C leaves no empty report: none, or the existing one", async () => {
  const [fresh, former] = [join(testDirectory(), "fresh.json"), join(testDirectory(), "former.xml")];
  writeFileSync(former, "what was there");
  const launched = spawnStandin([
    ...["run", written("steps: [{ repeat: { times: 1000000, steps: [{ advance: 0s }] } }]")],
    ...["--reporter", "pretty", "--reporter", `json=${fresh}`, "--reporter", `junit=${former}`],
  ]);
  await launched.waitForOutput(/advance/);
  launched.process.kill("SIGINT");
  expect((await waitForExit(launched)).code).toBe(130);
  expect([existsSync(fresh), readFileSync(former, "utf8")]).toEqual([false, "what was there"]);
});

test("a reader that closes the pipe early still gets the exit code, and the reports are written", async () => {
  const report = join(testDirectory(), "run.json");
  const file = written("steps: [{ repeat: { times: 3000, steps: [{ request: { path: /nowhere } }] } }]");
  const launched = spawnStandin(["run", file, "--reporter", "pretty", "--reporter", `json=${report}`]);
  await launched.waitForOutput(/nowhere/);
  launched.process.stdout?.destroy();
  expect((await waitForExit(launched, LONGEST_RUN_MS)).code).toBe(1);
  expect(JSON.parse(readFileSync(report, "utf8"))).toMatchObject({ failed: 1 });
});

test.skipIf(!existsSync("/dev/full"))(
  "a failed write to stdout exits with 2 and a one-line error",
  async () => {
    const line = '"$0" "$@" > /dev/full';
    const { code, stderr } = await waitForExit(
      spawnCommand(["bash", "-c", line, process.execPath, "dist/standin.js", "run", FAILS()]),
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^standin: cannot write to stdout: ENOSPC.*\n$/),
    ]);
  },
);

/** The measures of a run, without the location of the target. */
const measuresOf = (stdout: string) =>
  JSON.parse(stdout).runs.map(({ verdict, measures, failures }: Record<string, unknown>) => ({
    verdict,
    measures,
    failures,
  }));

test("on a running server with a manual clock, a scenario has the same measures as in process", async () => {
  const file = written(
    "traffic: [{ name: users, to: shop/main, pattern: poisson, rate: 2/hour, duration: 3s }]",
    "steps:",
    "  - { at: 5m 30s, activity: { to: shop/main, outcome: waits } }",
    '  - request: { path: "/projects/{shop}", answer: { project.name: shop } }',
    // The command that ends the suspend starts the compute again, so it is never idle.
    '  - { after: 5s, request: { method: PATCH, path: "/projects/{shop}/endpoints/{shop/main/primary}", body: { endpoint: { pooler_enabled: true } } } }',
    "length: 6h",
    "never: [{ state: idle, of: shop/main, from: 5m 32s, until: 10m }]",
    "expect: [{ cold_starts: { min: 5 } }, { state: [idle, active], of: shop/main }]",
  );
  const { ready } = await startServer(testDirectory(), [
    "--clock",
    "manual",
    "--start-at",
    "2026-01-01T00:00:00Z",
    "--start-delay",
    "2s",
  ]);
  const remote = await run([file, "--target", ready.api_url, "--json"]);
  expect({ code: remote.code, stderr: remote.stderr }).toEqual({ code: 0, stderr: "" });
  const local = await run([file, "--json"]);
  const [there] = measuresOf(remote.stdout);
  const [here] = measuresOf(local.stdout);
  // There, creating the world takes time during which its computes are active; clients see no difference.
  for (const name of ["activities", "refused", "requests", "errors", "wait_max_ms"])
    expect(there.measures[name], name).toBe(here.measures[name]);
  expect([there.verdict, there.failures]).toEqual([here.verdict, here.failures]);
});

test("on a running server, traffic that a call delayed arrives when the call is over", async () => {
  const file = written(
    "traffic: [{ name: users, to: shop/main, pattern: constant, every: 10m }]",
    "steps:",
    "  - { fault: { name: slow, on: { operation: getProject }, effect: { latency: 25m } } }",
    '  - { at: 1h, request: { path: "/projects/{shop}" } }',
    "  - { expect: [{ activities: 9 }] }",
    "length: 2h",
    "expect: [{ activities: 12 }, { refused: 0 }]",
  );
  const { ready } = await startServer(testDirectory(), ["--clock", "manual", "--start-delay", "2s"]);
  const { code, stdout, stderr } = await run([file, "--target", ready.api_url, "--json"]);
  expect({ code, stderr, failures: JSON.parse(stdout).runs[0].failures }).toEqual({
    code: 0,
    stderr: "",
    failures: [],
  });
});

test("runs on a running server are sequential, whatever the number of workers, because it has one clock", async () => {
  const { ready } = await startServer(testDirectory(), ["--clock", "manual", "--start-delay", "2s"]);
  const file = join(testDirectory(), "mine.yaml");
  writeFileSync(
    file,
    `version: 1
world: { start_delay: 2s, projects: { shop: { branches: { main: { computes: { primary: { suspend_timeout_seconds: "\${delay}" } } } } } } }
steps:
  - repeat:
      times: 5
      every: 10m
      steps:
        - { after: 5m, activity: { to: shop/main } }
        - { after: 10s, expect: [{ state: active, of: shop/main }] }
matrix: { delay: [60, 90, 120, 150] }
`,
  );
  const { code, stderr, stdout } = await run([file, "--target", ready.api_url, "--workers", "2", "--json"]);
  expect([stderr, code, JSON.parse(stdout).passed]).toEqual(["", 0, 4]);
});

test("on a running server, only an arrival at a deleted compute is rejected", async () => {
  const main = "{ computes: { primary: {}, replica: { type: read_only } } }";
  const file = join(testDirectory(), "mine.yaml");
  writeFileSync(
    file,
    [
      "version: 1",
      `world: { operations: immediate, projects: { shop: { branches: { main: ${main} } } } }`,
      "traffic:",
      "  - { name: readers, to: shop/main/replica, pattern: constant, every: 10m }",
      "  - { name: users, to: shop/main, pattern: constant, every: 10m, from: 5m }",
      "steps:",
      '  - { at: 1h 1m, request: { method: DELETE, path: "/projects/{shop}/endpoints/{shop/main/replica}" } }',
      "  - { activity: { to: shop/main/replica, outcome: refused } }",
      "length: 2h",
      "never: [{ refused: { min: 4 } }]",
      "expect: [{ refused: 6 }, { errors: 6 }, { activities: 19 }, { activities: 12, of: shop/main/primary }]",
    ].join("\n"),
  );
  const { ready } = await startServer(testDirectory(), [
    "--clock",
    "manual",
    "--operations",
    "immediate",
    "--start-at",
    "2026-01-01T00:00:00Z",
  ]);
  const [there, here] = [await run([file, "--target", ready.api_url, "--json"]), await run([file, "--json"])];
  expect([there.stderr, there.code]).toEqual(["", 1]);
  const failuresIn = ({ stdout }: typeof here) =>
    JSON.parse(stdout).runs[0].failures.map(({ what, at }: { what: string; at: string }) => [what, at]);
  expect(failuresIn(here)).toEqual([["never.1", "2026-01-01T01:30:00.000Z"]]);
  expect(failuresIn(there)).toEqual(failuresIn(here));
});

test("what a running server cannot do exits with 2 and the reason", async () => {
  const { ready } = await startServer(testDirectory(), ["--clock", "manual"]);
  const reasonOf = async (file: string, url = ready.api_url) => {
    const { code, stderr } = await run([file, "--target", url]);
    expect(code, stderr).toBe(2);
    return stderr;
  };
  const plain = (...lines: string[]) => {
    const file = join(testDirectory(), "mine.yaml");
    writeFileSync(file, ["version: 1", ...lines].join("\n"));
    return file;
  };
  const shop = "world: { projects: { shop: {} } }";
  expect(await reasonOf(plain(shop, "steps: [{ restart: true }]"))).toContain(
    "restart cannot be done on a server from outside",
  );
  expect(
    await reasonOf(
      plain(shop, "traffic: [{ name: pool, to: shop/main, pattern: health-check, every: 1m }]", "length: 1h"),
    ),
  ).toContain("the closed-loop source pool reacts within an instant, which is not possible over HTTP");
  expect(
    await reasonOf(
      plain(
        "world: { sql_clock: world, projects: { shop: {} } }",
        'steps: [{ sql: { on: shop/main, query: "select now()" } }]',
      ),
    ),
  ).toContain(
    "world.sql_clock: the clock of SQL is that of the server; leave this out, and start the server with",
  );
  expect(await reasonOf(plain('world: { profile: "2026", projects: { shop: {} } }', "length: 1m"))).toMatch(
    /world\.profile: the scenario wants "2026", but .* has "2024"; start the server with the same --profile/,
  );
  expect(await reasonOf(plain("world: { durations: varied, projects: { shop: {} } }", "length: 1m"))).toMatch(
    /world\.durations: the scenario wants "varied", but .* has "constant"; start the server with the same --durations/,
  );
  expect(await reasonOf(plain("length: 1m"), "http://127.0.0.1:1")).toContain(
    "no answer from http://127.0.0.1:1",
  );
  const real = await startServer(testDirectory(), ["--clock", "real"]);
  expect(await reasonOf(plain("length: 1m"), real.ready.api_url)).toMatch(
    /is real, but a scenario needs a manual clock/,
  );
});

test("a run that needs files leaves nothing in the temporary directory", async () => {
  const scratch = testDirectory();
  const launched = spawnStandin(["run", "scenarios/restart-drops-connections.yaml"], { TMPDIR: scratch });
  expect((await waitForExit(launched)).code).toBe(0);
  expect(existsSync(scratch) && readdirSync(scratch)).toEqual([]);
  expect(scratch.startsWith(tmpdir())).toBe(true);
});

test("a step can restore a running server; past events count once, and so does a rejected arrival", async () => {
  const { ready } = await startServer(testDirectory(), ["--clock", "manual", "--start-delay", "2s"]);
  const file = written(
    "steps:",
    "  - { at: 1m, activity: { to: shop/main, outcome: served } }",
    "  - { snapshot: before }",
    "  - { activity: { to: shop/main, outcome: served } }",
    '  - { request: { method: DELETE, path: "/projects/{shop}" } }',
    "  - { restore: before }",
    '  - { request: { method: PATCH, path: "/projects/{shop}/endpoints/{shop/main/primary}", body: { endpoint: { disabled: true } } } }',
    "  - { advance: { until: settled } }",
    "  - { activity: { to: shop/main, outcome: refused } }",
    "expect: [{ activities: 2 }, { refused: 1 }, { projects: 1, of: shop }]",
  );
  for (const args of [[file], [file, "--target", ready.api_url]]) {
    const { code, stdout } = await run([...args, "--json"]);
    expect(JSON.parse(stdout).runs[0].failures).toEqual([]);
    expect(code).toBe(0);
  }
});

test("features of a fresh world are rejected with --target: an initial world, and a final state", async () => {
  const { ready } = await startServer(testDirectory(), ["--clock", "manual", "--start-delay", "2s"]);
  for (const [line, reason] of [
    ["state: 0123456789abcdef", "state: the end state cannot be compared on a server"],
    ["", "world.file: a scenario that begins with a recorded world cannot run on a server"],
  ]) {
    const file = written("length: 1m", line ?? "");
    if (line === "") writeFileSync(file, "version: 1\nworld: { file: mine.world.sqlite }\nlength: 1m\n");
    const { code, stderr } = await run([file, "--target", ready.api_url]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason ?? "")]);
  }
});

test("after a run, a server has its own faults and snapshots again, and can be used for another run", async () => {
  const server = await startServer(testDirectory(), ["--clock", "manual", "--start-delay", "2s"]);
  const { endpointId } = await createProjectOn(server);
  await server.sim("PUT", "/faults/theirs", {
    on: { operation: "deleteProject" },
    effect: { answer: { status: 500 } },
  });
  await server.sim("POST", "/snapshots", { name: "theirs" });
  const file = written(
    "steps:",
    "  - { fault: { name: ours, effect: { answer: { status: 503 } } } }",
    "  - { snapshot: before }",
    "  - { restore: before }",
    '  - { request: { path: "/projects/{shop}" } }',
    `about: "of \${round}"`,
    "matrix: { round: [1, 2] }",
  );
  const { code, stdout, stderr } = await run([file, "--target", server.ready.api_url, "--json"]);
  expect([code, stderr]).toEqual([1, ""]);
  const { runs } = JSON.parse(stdout);
  for (const one of runs) {
    expect(one.repeat).toContain(` --seed 1 --target ${server.ready.api_url}`);
    expect(one.failures).toMatchObject([{ actual: expect.stringContaining("status 503") }]);
    expect(one.timelines.map(({ label }: { label: string }) => label)).toEqual(["shop/main/primary"]);
    expect(stdout).not.toContain(`"label": "${endpointId}"`);
  }
  expect(runs).toHaveLength(2);
  const names = async (of: "faults" | "snapshots") =>
    (await server.sim("GET", `/${of}`)).body[of].map(({ name }) => name);
  expect(await names("faults")).toEqual(["theirs"]);
  expect(await names("snapshots")).toEqual(["theirs"]);
});

test("--wall-time reports the wall-clock time of each run, which no report has otherwise", async () => {
  const xml = join(testDirectory(), "report.xml");
  const files = [PASSES(), FAILS()];
  const timesOf = ({ stdout }: { readonly stdout: string }) =>
    (JSON.parse(stdout).runs as { wall_ms?: number }[]).map(({ wall_ms }) => wall_ms);
  expect(timesOf(await run([...files, "--json"]))).toEqual([undefined, undefined]);
  for (const workers of ["1", "2"]) {
    const options = ["--json", "--wall-time", "--workers", workers, "--reporter", `junit=${xml}`];
    const times = timesOf(await run([...files, ...options]));
    expect(times.every((ms = 0) => ms > 0 && ms < LONGEST_RUN_MS)).toBe(true);
    expect(
      [...readFileSync(xml, "utf8").matchAll(/<testsuite [^>]*time="([^"]*)"/g)].map(([, s]) => Number(s)),
    ).toEqual(times.map((ms = 0) => ms / 1_000));
  }
  const queued = await run([...files, "--wall-time", "--queue", "redis://127.0.0.1:1"]);
  expect([queued.code, queued.stderr]).toEqual([2, expect.stringContaining("--wall-time")]);
});

test("the merged reports of the shards are those of one run, byte for byte", async () => {
  const directory = testDirectory();
  const files = [...QUICK, FAILS()];
  const whole = join(directory, "whole.xml");
  const one = await run([...files, "--json", "--reporter", `junit=${whole}`]);
  expect(one.code).toBe(1);
  const shards = await Promise.all(
    [1, 2, 3].map(async (index) => {
      const { stdout, code } = await run([...files, "--shard", `${index}/3`, "--json"]);
      const path = join(directory, `shard-${index}.json`);
      writeFileSync(path, stdout);
      return { path, code, runs: JSON.parse(stdout).runs.length };
    }),
  );
  expect(shards.map(({ code, runs }) => [code, runs])).toEqual([
    [0, 1],
    [0, 1],
    [1, 2],
  ]);
  const merged = join(directory, "merged.xml");
  const paths = shards.map(({ path }) => path).reverse();
  const merge = await runStandin(["report", "merge", ...paths, "--json", "--reporter", `junit=${merged}`]);
  expect(merge.code).toBe(1);
  expect(merge.stdout === one.stdout, "the same JSON").toBe(true);
  expect(readFileSync(merged, "utf8") === readFileSync(whole, "utf8"), "the same JUnit XML").toBe(true);
  const missing = await runStandin(["report", "merge", paths[0] as string]);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    "standin: the reports of these shards are missing: 1/3, 2/3\n",
  ]);
});

test("a part without runs passes", async () => {
  const { code, stdout } = await run([PASSES(), "--shard", "1/2", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    version: 2,
    shard: { index: 1, of: 2 },
    passed: 0,
    failed: 0,
    runs: [],
  });
});
