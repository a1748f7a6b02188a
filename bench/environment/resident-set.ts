import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Resident set size as reported by the operating system. */
export function residentBytes(pid: number): number {
  const kilobytes =
    process.platform === "linux"
      ? fromStatus(pid)
      : Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)]));
  if (!(kilobytes > 0)) throw new Error(`cannot read the resident set size of process ${pid}`);
  return kilobytes * 1024;
}

function fromStatus(pid: number): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
