import { spawnSync } from "node:child_process";

/** With `required`, a missing program fails the tests that need it instead of skipping them. */
const areRequired = process.env["STANDIN_TEST_PROGRAMS"] === "required";

/** Whether a program can be run. Without it, tests that need it are skipped, or fail where programs are required. */
export function hasProgram(program: string): boolean {
  if (spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined) return true;
  if (areRequired) throw new Error(`${program} is missing`);
  process.stderr.write(`${program} is not installed, so tests with it are skipped\n`);
  return false;
}
