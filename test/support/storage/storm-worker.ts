import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runStormSeed } from "./storm.ts";
import { runVolumeSeed } from "./volume-storm.ts";

// Runs the seeds of stdin, one per line after their kind, under the shim. Prints a line of JSON for each.
const scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "standin-storm-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const [kind, number] = line.split(" ");
  const seed = Number(number);
  const run = kind === "volumes" ? runVolumeSeed : runStormSeed;
  try {
    process.stdout.write(`${JSON.stringify(await run(seed, scratch))}\n`);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stdout.write(`${JSON.stringify({ seed, error: text })}\n`);
  }
}
