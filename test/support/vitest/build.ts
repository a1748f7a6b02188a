import { execFileSync } from "node:child_process";

let isBuilt = false;

/**
 * Tests in separate processes run the bundled command, so it is built from the current sources first. Several
 * projects of tests ask for it.
 */
export function setup(): void {
  if (isBuilt || process.env["STANDIN_TEST_IS_BUILT"] !== undefined) return;
  execFileSync(process.execPath, ["build.mjs"], { stdio: "inherit" });
  isBuilt = true;
  process.env["STANDIN_TEST_IS_BUILT"] = "yes";
}
