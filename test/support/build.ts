import { execFileSync } from "node:child_process";

/** Tests in real processes run the bundled command: it must be the one of these sources. */
export function setup(): void {
  execFileSync(process.execPath, ["build.mjs"], { stdio: "inherit" });
}
