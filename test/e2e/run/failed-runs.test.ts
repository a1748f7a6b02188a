import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import type { RunFailure } from "../../../src/scenario/run/verdict.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { openFailedWorld } from "../../support/process/open-failed-world.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const FAILING = `version: 1
world: { seed: "\${seed}", projects: { shop: {} } }
traffic:
  - { name: shoppers, to: shop/main, pattern: poisson, rate: 4/hour, duration: 500ms }
steps:
  - { advance: 2h }
  - name: a branch that nobody created
    request: { method: DELETE, path: "/projects/{shop}/branches/br-$$-none" }
  - { advance: 1d }
  - request: { method: POST, path: "/projects/{shop}/branches", body: { branch: { name: later } } }
matrix: { seed: [3, 4] }
`;

const failuresOf = (stdout: string) =>
  (JSON.parse(stdout).runs as { failures: RunFailure[] }[]).flatMap(({ failures }) =>
    failures.map(({ what, at, expected, actual }) => ({ what, at, expected, actual })),
  );

/** Runs a scenario and returns what it reports and the files of its failures. */
async function runFailing(text: string, ...options: readonly string[]) {
  const directory = testDirectory();
  const file = join(directory, "shop.yaml");
  const failures = join(directory, "failures");
  writeFileSync(file, text);
  const result = await runStandin(["run", file, "--failures", failures, "--json", ...options]);
  return { ...result, directory, files: existsSync(failures) ? readdirSync(failures).sort() : [], failures };
}

test("each failed run leaves a file that fails in the same way and opens the world at its first failure", async () => {
  const { code, stdout, stderr, files, failures } = await runFailing(FAILING);
  expect([code, files]).toEqual([1, ["1-shop-seed-3.yaml", "2-shop-seed-4.yaml"]]);
  const file = join(failures, "2-shop-seed-4.yaml");
  expect(stderr).toContain(`open it with: standin open ${file}; repeat it with: standin run ${file}\n`);
  const [, expected] = failuresOf(stdout);
  const repeated = await runStandin(["run", file, "--json"]);
  expect([repeated.code, failuresOf(repeated.stdout)]).toEqual([1, [expected]]);
  expect(JSON.parse(repeated.stdout).runs[0].state).toBe(JSON.parse(stdout).runs[1].state);

  const opened = await openFailedWorld(file);
  expect(opened.output).toContain(
    `step 2 failed at 2026-01-01T02:00:00.000Z: ${`expected ${expected?.expected}`}`,
  );
  expect((await fetch(opened.consoleUrl, { headers: { Accept: "text/html" } })).status).toBe(200);
  expect(await opened.sim("/clock")).toMatchObject({ now: "2026-01-01T02:00:00.000Z", mode: "manual" });
  expect((await opened.sim("/requests")).requests).toMatchObject([
    { method: "DELETE", path: "/api/v2/projects/shop/branches/br-$-none", status: 400 },
  ]);
  const { branches } = await opened.api("/projects/shop/branches");
  expect(branches).toHaveLength(1);
  expect((await opened.sim("/invariants")).ok).toBe(true);
  await opened.stop();
});

test("a violation within an advance is opened at its instant", async () => {
  const { files, failures } = await runFailing(
    `version: 1
world: { projects: { shop: {} } }
steps: [{ activity: { to: shop/main } }]
length: 30d
never: [{ active_computes: { min: 1 }, from: 12d }]
traffic: [{ name: late, to: shop/main, pattern: poisson, rate: 1/hour, from: 13d, duration: 1s }]
`,
  );
  expect(files).toEqual(["shop.yaml"]);
  const { failed } = parse(readFileSync(join(failures, "shop.yaml"), "utf8"));
  const opened = await openFailedWorld(join(failures, "shop.yaml"));
  expect(await opened.sim("/clock")).toMatchObject({ now: failed.at });
  const { endpoints } = await opened.api("/projects/shop/endpoints");
  expect(endpoints[0].current_state).toBe("active");
});

test("a run that passes leaves no file, and options that no file can have are refused", async () => {
  const passing = "version: 1\nlength: 1h\n";
  expect((await runFailing(passing)).files).toEqual([]);
  const target = await runFailing(passing, "--target", "http://127.0.0.1:1");
  expect([target.code, target.stderr]).toEqual([2, expect.stringContaining("--failures <dir>")]);
});

test("--failures replaces no scenario and no other file, and needs a directory", async () => {
  const directory = testDirectory();
  const scenario = join(directory, "shop.yaml");
  const other = join(directory, "other", "shop.yaml");
  const text = "version: 1\nlength: 1h\n";
  mkdirSync(join(directory, "other"));
  for (const file of [scenario, other]) writeFileSync(file, text);
  for (const [failures, problem] of [
    [directory, `would replace the scenario ${scenario}`],
    [join(directory, "other"), `would replace ${other}, which no earlier failure wrote`],
    [scenario, "is not a directory"],
    [join(scenario, "below"), "name another directory"],
    ["", "expected a directory"],
  ] as const) {
    const { code, stderr } = await runStandin(["run", scenario, "--failures", failures]);
    expect({ failures, code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^standin: --failures "/),
    });
    expect(stderr).toContain(problem);
  }
  expect([scenario, other].map((file) => readFileSync(file, "utf8"))).toEqual([text, text]);
});

test("--failures neither replaces nor deletes a file beside its own, unless a failure wrote it and nobody changed it", async () => {
  const text = "version: 1\nsteps: [{ request: { path: /no-such-path, method: GET, status: 200 } }]\n";
  const { failures, directory } = await runFailing(text);
  const [own, world, start] = ["yaml", "failed.sqlite", "world.sqlite"].map((ending) =>
    join(failures, `shop.${ending}`),
  ) as [string, string, string];
  const again = () => runStandin(["run", join(directory, "shop.yaml"), "--failures", failures]);
  const written = readFileSync(own, "utf8");

  for (const file of [world, `${world}-wal`]) {
    writeFileSync(file, "mine");
    expect(await again()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`would replace ${file}, which no earlier failure wrote`),
    });
    expect([readFileSync(file, "utf8"), readFileSync(own, "utf8")]).toEqual(["mine", written]);
    rmSync(file);
  }
  // Runs write no file of this name.
  writeFileSync(start, "mine");
  expect((await again()).code).toBe(1);
  expect(readFileSync(start, "utf8")).toBe("mine");

  // As a failure leaves a world that is too large for the file.
  const sha256 = createHash("sha256").update("a large world").digest("hex");
  const scenario = parse(readFileSync(own, "utf8"));
  const beside = { ...scenario.failed, files: { [basename(world)]: sha256 } };
  writeFileSync(own, stringify({ ...scenario, failed: beside }));
  writeFileSync(world, "a large world, changed");
  expect(await again()).toMatchObject({ code: 2, stderr: expect.stringContaining(world) });
  expect(readFileSync(world, "utf8")).toBe("a large world, changed");
  writeFileSync(world, "a large world");
  expect((await again()).code).toBe(1);
  expect(existsSync(world)).toBe(false);

  // A scenario with a key of that name is not the file of a failure.
  const mine = "version: 1\nlength: 1h\nfailed: yes\n";
  writeFileSync(own, mine);
  expect(await again()).toMatchObject({ code: 2, stderr: expect.stringContaining(own) });
  expect(readFileSync(own, "utf8")).toBe(mine);
});

test.each([
  ["nothing.yaml", undefined, "nothing.yaml: does not exist"],
  ["text.yaml", "hello, world", "expected a file that a failed test or standin run --failures wrote"],
  ["scenario.yaml", "version: 1\nlength: 1h\n", 'is a scenario without the key "failed"'],
  ["world.sqlite", "SQLite format 3\u0000", "import it with: standin import"],
  ["older.yaml", failedFile({ version: 2 }), "failed.version"],
  ["cut.yaml", failedFile({ world: "data:application/gzip;base64,H4sIAAAA" }), "damaged or cut off"],
  ["path.yaml", failedFile({ world: "../../etc/passwd" }), "is outside"],
  ["absent.yaml", failedFile({ world: "absent.sqlite" }), "absent.sqlite"],
])("open %s: a clear error and exit status 2", async (name, text, problem) => {
  const path = join(testDirectory(), name);
  if (text !== undefined) writeFileSync(path, text);
  const { code, stdout, stderr } = await runStandin(["open", path, "--print"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(path);
  expect(stderr).toContain(problem);
});

test("open with a file and a server is a usage error, and so is a port without a file", async () => {
  expect(await runStandin(["open", "failed.yaml", "--url", "http://127.0.0.1:1"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--url: selects a running server"),
  });
  expect(await runStandin(["open", "--port", "4000"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--port: requires a file"),
  });
});

/** A file of a failed run with other values in its entry. */
function failedFile(changes: Readonly<Record<string, unknown>>): string {
  const failed = {
    version: 1,
    by: "run",
    what: "expect",
    at: "2026-01-01T01:00:00.000Z",
    message: "",
    world: "",
  };
  return stringify({ version: 1, length: "1h", failed: { ...failed, ...changes } });
}
