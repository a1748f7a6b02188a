import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { environment } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const COMMAND = join(import.meta.dirname, "../../../dist/standin.js");
const TRACE = "endpoint_id,at,duration_ms\nep-one,2026-01-01T00:00:00Z,5\nep-one,2026-01-01T01:00:00Z,5\n";
const SCENARIO = "version: 1\nlength: 1h\nexpect:\n  - projects: 0\n";

function runWithInput(args: readonly string[], input: string, temporary: string) {
  const env = { ...environment(), TMPDIR: temporary };
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    input,
    env,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

test("whatif curve and import read a trace from stdin, and leave no temporary file behind", async () => {
  const [directory, temporary] = [testDirectory(), testDirectory()];
  writeFileSync(`${directory}/t.csv`, TRACE);
  const args = ["--delay", "300", "--json"];
  const fromFile = await runStandin(["whatif", "curve", `${directory}/t.csv`, ...args]);
  expect(runWithInput(["whatif", "curve", "-", ...args], TRACE, temporary)).toEqual(fromFile);
  const out = `${directory}/t.standin-trace`;
  const imported = runWithInput(["whatif", "import", "-", "--out", out], TRACE, temporary);
  expect(imported).toMatchObject({ code: 0, stderr: expect.stringContaining("columns read as") });
  expect(imported.stdout.split("\n").slice(0, 2)).toEqual([
    `${out}: 2 requests to 1 compute`,
    "stdin: columns read as endpoint=endpoint_id,at=at,duration=duration_ms, durations in ms; first requests as read:",
  ]);
  expect(readFileSync(out).length).toBeGreaterThan(0);
  expect(readdirSync(temporary)).toEqual([]);
});

test("run reads a scenario from stdin, and reports its mistakes with line and column", () => {
  const temporary = testDirectory();
  const passed = runWithInput(["run", "-"], SCENARIO, temporary);
  expect(passed).toMatchObject({ code: 0, stderr: "" });
  expect(passed.stdout).toMatch(/passed stdin\n/);
  const failed = runWithInput(["run", "-", "--json"], SCENARIO.replace(": 0", ": 1"), temporary);
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.stdout).runs[0].repeat).toMatch(/^standin run - --seed \d+$/);
  const invalid = runWithInput(["run", "-"], "version: 1\nlenght: 1h\n", temporary);
  expect(invalid).toMatchObject({ code: 2, stderr: expect.stringContaining("-:2:1: lenght:") });
});

test.each([[["run", "-", "-"]], [["whatif", "curve", "-", "-"]]])(
  "stdin cannot be read twice: %j",
  (args) => {
    expect(runWithInput(args, SCENARIO, testDirectory())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("standard input can be read only once"),
    });
  },
);
