import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const PREFIX = "standin-tests-";
/** Minimum free memory. A run uses a small part of it at a time. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/**
 * Lets tests store temporary files in memory if there is enough of it. A cluster of Postgres has a thousand
 * small files, and creating them takes most file systems ten times as long.
 */
export function useTemporaryDirectory(): void {
  if (process.env["TMPDIR"] !== undefined || process.env["VITEST_WORKER_ID"] !== undefined) return;
  if (!hasEnoughMemory()) return;
  removeAbandoned();
  const directory = join(MEMORY, `${PREFIX}${process.pid}`);
  mkdirSync(directory, { recursive: true });
  process.env["TMPDIR"] = directory;
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
}

function hasEnoughMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ENOUGH_BYTES && freemem() >= ENOUGH_BYTES;
}

/** Removes the directories of runs that were killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : Number.NaN;
    if (Number.isInteger(pid) && !existsSync(join("/proc", String(pid))))
      rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}
