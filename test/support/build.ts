import { execFileSync } from "node:child_process";

/** Tests in separate processes run the bundled command, so it is built from the current sources first. */
export function setup(): void {
  execFileSync(process.execPath, ["build.mjs"], { stdio: "inherit" });
}
