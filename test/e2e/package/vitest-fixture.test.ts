import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { StandinRequest } from "../../../src/package/standin-world.ts";
import type { RunFailure } from "../../../src/scenario/run/verdict.ts";
import { openFailedWorld } from "../../support/process/open-failed-world.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");

/** Runs test files with one source in a project that has the package and vitest. */
async function runTests(
  type: "module" | "commonjs",
  source: string,
  files: Readonly<Record<string, string>> = {},
  names: readonly string[] = ["sim.test.ts"],
) {
  const directory = testDirectory();
  mkdirSync(join(directory, "standin-failures"));
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(directory, "standin-failures", name), text);
  mkdirSync(join(directory, "node_modules/@standin"), { recursive: true });
  symlinkSync(ROOT, join(directory, "node_modules/@standin/standin"));
  symlinkSync(join(ROOT, "node_modules/vitest"), join(directory, "node_modules/vitest"));
  writeFileSync(join(directory, "package.json"), JSON.stringify({ type }));
  for (const name of names) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), source);
  }
  const command = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--reporter=json", "--no-color"];
  const { stdout, stderr } = await run(process.execPath, command, { cwd: directory }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const report = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
    testResults: [{ assertionResults: { title: string; status: string }[] }];
  };
  const statuses = report.testResults[0].assertionResults.map(({ title, status }) => `${title}: ${status}`);
  return { directory, statuses, stderr };
}

const SOURCE = `import { expect, simTest, test as plain } from "@standin/standin/vitest";

const create = (sim: any, name: string) =>
  sim.fetch("/api/v2/projects", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ project: { name } }),
  });
const projects = async (sim: any) =>
  ((await (await sim.fetch("/api/v2/projects")).json()) as any).projects.map(({ name }) => name);
const test = simTest({ options: { seed: 7 }, prepare: async (sim) => void (await create(sim, "prepared")) });

plain("an empty world", async ({ sim }) => {
  expect(await projects(sim)).toEqual([]);
});
test("a client with a socket", async ({ sim }) => {
  const headers = { Authorization: \`Bearer \${sim.apiKey}\` };
  expect((await fetch(sim.url + "/projects", { headers })).status).toBe(200);
});
test.concurrent("one world", async ({ sim }) => {
  await create(sim, "one");
  expect(await projects(sim)).toHaveLength(2);
});
test.concurrent("another world", async ({ sim }) => {
  await create(sim, "other");
  expect((await projects(sim)).sort()).toEqual(["other", "prepared"]);
});
test("A failing one, with / in it", async ({ sim }) => {
  await sim.faults.add("gone", { on: { operation: "listProjects" }, effect: { answer: { status: 503 } } });
  await sim.advance("10m");
  expect((await sim.fetch("/api/v2/projects/no-such-project")).status).toBe(404);
  expect((await sim.fetch("/api/v2/projects")).status).toBe(200);
});
`;

test.each(["module", "commonjs"] as const)(
  "in a project of type %s, each test has a fork of its own, and a failed one leaves a file that opens its world and fails again",
  async (type) => {
    const { directory, statuses, stderr } = await runTests(type, SOURCE);
    expect(statuses).toEqual([
      "an empty world: passed",
      "a client with a socket: passed",
      "one world: passed",
      "another world: passed",
      "A failing one, with / in it: failed",
    ]);
    // The title has characters that the name of the file lacks, so a checksum makes it unique.
    const [name = ""] = readdirSync(join(directory, "standin-failures"));
    expect(name).toMatch(/^sim\.a-failing-one-with-in-it\.[0-9a-f]{8}\.yaml$/);
    const file = join("standin-failures", name);
    expect(stderr).toContain(
      `open it with: npx standin open ${file}; repeat it with: npx standin run ${file}\n`,
    );
    expect(stderr).toMatch(
      /the last requests of "A failing one.*":\n.*\n {2}\S+ GET \/api\/v2\/projects 503 /,
    );
    expect(stderr).not.toContain("POST /api/v2/projects");
    expect(readFileSync(join(directory, file), "utf8")).toContain("/projects");
    expect(readdirSync(join(directory, "standin-failures"))).toEqual([basename(file)]);
    const command = [join(ROOT, "dist/standin.js"), "run", file, "--json"];
    const repeated = await run(process.execPath, command, { cwd: directory }).catch((error) => error);
    const { verdict, failures } = JSON.parse(repeated.stdout).runs[0];
    expect([
      repeated.code,
      verdict,
      failures.map(({ expected, actual }: RunFailure) => [expected, actual]),
    ]).toEqual([
      1,
      "failed",
      [[`the test "A failing one, with / in it" passes`, expect.stringContaining("expected 503 to be 200")]],
    ]);
    const opened = await openFailedWorld(join(directory, file));
    expect(await opened.sim("/clock")).toMatchObject({ now: "2026-01-01T00:10:00.000Z", mode: "manual" });
    expect(
      (await opened.sim("/requests")).requests.map(({ status, path }: StandinRequest) => [
        status,
        path.replace(/^\/w\/[^/]+/, ""),
      ]),
    ).toEqual([
      [201, "/api/v2/projects"],
      [404, "/api/v2/projects/no-such-project"],
      [503, "/api/v2/projects"],
    ]);
  },
);

test("a failed test replaces and deletes no file that an earlier failure did not write, and names it", async () => {
  const files = {
    "sim.a-world.failed.sqlite": "mine",
    "sim.a-start.world.sqlite": "mine",
    "sim.a-scenario.yaml": "version: 1\nlength: 1h\n",
  };
  const source = `import { expect, test } from "@standin/standin/vitest";
for (const name of ["a world", "a start", "a scenario"]) test(name, ({ sim }) => expect(sim.seed).toBe("none"));
`;
  const { directory, statuses, stderr } = await runTests("module", source, files);
  expect(statuses).toEqual(["a world: failed", "a start: failed", "a scenario: failed"]);
  const failures = join(directory, "standin-failures");
  expect(
    Object.fromEntries(
      readdirSync(failures).map((name) => [name, readFileSync(join(failures, name), "utf8")]),
    ),
  ).toEqual(files);
  for (const name of Object.keys(files))
    expect(stderr).toContain(
      `${join("standin-failures", name)}: expected a file that an earlier failure wrote, which this one replaces; move the file`,
    );
});

test("failed tests of the same name in different files or suites leave a file each", async () => {
  const source = `import { describe } from "vitest";
import { expect, test } from "@standin/standin/vitest";
test("has a project", ({ sim }) => expect(sim.seed).toBe("none"));
describe("orders", () => test("has a project", ({ sim }) => expect(sim.seed).toBe("none")));
`;
  const names = ["shop.test.ts", "orders/shop.spec.ts"];
  const { directory } = await runTests("module", source, {}, names);
  expect(readdirSync(join(directory, "standin-failures")).sort()).toEqual([
    "orders-shop.has-a-project.yaml",
    "orders-shop.orders.has-a-project.yaml",
    "shop.has-a-project.yaml",
    "shop.orders.has-a-project.yaml",
  ]);
});

const WITH_SQL = `import { expect, simTest } from "@standin/standin/vitest";

const json = { method: "POST", headers: { "Content-Type": "application/json" } };
const test = simTest({
  options: { operations: "immediate", postgres: true },
  prepare: async (sim) =>
    void (await sim.fetch("/api/v2/projects", { ...json, body: JSON.stringify({ project: { name: "shop" } }) })),
});
test("a row is there", { timeout: 60_000 }, async ({ sim }) => {
  const [{ endpoint_id }] = await sim.endpoints.list();
  const sql = async (query: string) =>
    (await sim.fetch(\`/_sim/endpoints/\${endpoint_id}/sql\`, { ...json, body: JSON.stringify({ query }) })).json();
  await sql("create table users (name text)");
  await sql("insert into user values ('a')");
  expect((await sql("select * from users")).row_count).toBe(1);
});
`;

test("the file of a failed test with Postgres has its SQL, and says that no step repeats it", async () => {
  const { directory, statuses, stderr } = await runTests("module", WITH_SQL);
  expect(statuses).toEqual(["a row is there: failed"]);
  expect(stderr).toMatch(
    /the last SQL of "a row is there":\n.*create table users \(name text\): CREATE\n.*: ERROR 42601: syntax error .*\n.*select \* from users: SELECT 0\n/,
  );
  expect(stderr).toMatch(
    /not in the steps of .*a-row-is-there\.yaml: SQL of Postgres clients on ep-.* their texts are in failed\.sql/,
  );
  const opened = await openFailedWorld(join(directory, "standin-failures", "sim.a-row-is-there.yaml"));
  expect(opened.output).toMatch(
    /SQL of the test, the newest 3 of 3:\n.*: CREATE\n.*ERROR 42601.*\n.*neondb_owner@neondb: select \* from users: SELECT 0\n/,
  );
  await opened.stop();
});
