// @ts-nocheck
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runStormSeed } from "./storm.ts";

// Runs the seeds of stdin, one per line, under the shim. Prints a line of JSON for each.
const scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "standin-storm-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const seed = Number(line);
  try {
    process.stdout.write(`${JSON.stringify(await runStormSeed(seed, scratch))}\n`);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stdout.write(`${JSON.stringify({ seed, error: text })}\n`);
  }
}
