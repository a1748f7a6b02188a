import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

/** The temporary files of one worker. */
export type WorkerDirectory = { readonly path: string; readonly remove: () => void };

/**
 * Creates the directory of this worker in `parent`, and removes those of workers of this machine that were
 * killed. The name of a directory has the machine and the process, so that machines can share `parent`.
 */
export function openWorkerDirectory(parent = tmpdir()): WorkerDirectory {
  const prefix = `standin-worker-${createHash("sha256").update(hostname()).digest("hex").slice(0, 8)}-`;
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : Number.NaN;
    // In a container, all workers can have the same process id. A directory with the id of this process is of an ended
    // one.
    if (Number.isInteger(pid) && pid > 0 && (pid === process.pid || !isAlive(pid)))
      removeIfPossible(join(parent, name));
  }
  const path = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  // If this process is root, Postgres runs as another user, which must be able to enter. The files below stay private.
  if (process.getuid?.() === 0) chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // `EPERM`: a process of another user.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function removeIfPossible(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The directory belongs to another user, whose worker removes it.
  }
}
