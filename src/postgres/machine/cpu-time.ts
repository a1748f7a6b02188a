import { readFileSync } from "node:fs";

/** Linux reports processor time to programs in ticks of this length, whatever the kernel uses itself. */
const TICK_MS = 10;

/**
 * Processor time of a process, of its children, and of the children that have exited, in milliseconds;
 * `undefined` where the system has no `/proc`, and after the exit of the process.
 */
export function processTreeCpuMs(pid: number): number | undefined {
  try {
    const own = cpuTicks(pid);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    const running = children === "" ? [] : children.split(" ").map(Number);
    return (own.self + own.exited + running.reduce((sum, child) => sum + childTicks(child), 0)) * TICK_MS;
  } catch {
    return undefined;
  }
}

/** A child that has exited meanwhile is counted by the next reading. */
function childTicks(pid: number): number {
  try {
    return cpuTicks(pid).self;
  } catch {
    return 0;
  }
}

function cpuTicks(pid: number): { readonly self: number; readonly exited: number } {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program may contain spaces and parentheses. The fields after it begin with the third.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const field = (number: number) => Number(fields[number - 3]);
  return { self: field(14) + field(15), exited: field(16) + field(17) };
}
