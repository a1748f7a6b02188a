import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Resident memory of a process, as the system counts it. */
export function residentBytes(pid: number): number {
  const kilobytes =
    process.platform === "linux"
      ? fromStatus(pid)
      : Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)]));
  if (!(kilobytes > 0)) throw new Error(`the resident memory of process ${pid} cannot be read`);
  return kilobytes * 1024;
}

function fromStatus(pid: number): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
