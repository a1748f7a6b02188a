import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runStormSeed } from "./storm.ts";

// Runs seeds under the shim: storm-worker.ts <first seed> <last seed> <step>. Prints a line of JSON for each.
const [first = 1, last = 1, step = 1] = process.argv.slice(2).map(Number);
const scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "standin-storm-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
for (let seed = first; seed <= last; seed += step) {
  try {
    process.stdout.write(`${JSON.stringify(await runStormSeed(seed, scratch))}\n`);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stdout.write(`${JSON.stringify({ seed, error: text })}\n`);
  }
}
