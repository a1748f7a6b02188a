import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { EngineError } from "../engine/engine.ts";
import { STOP_SIGNALS, STOP_TIMEOUT_MS } from "./postgres-process.ts";

const POLL_MS = 10;

/**
 * Stops the server process `pid` if it runs on this directory, and the processes that it has left over: after a
 * SIGKILL of the server process, its sessions go on until their queries end. Returns whether there were any.
 */
export async function stopProcessesOn(dataDirectory: string, pid: number): Promise<boolean> {
  const hadServer = await stopAll(
    STOP_SIGNALS,
    () => (runsOn(pid, dataDirectory) ? [pid] : []),
    dataDirectory,
  );
  const hadSessions = await stopAll(["SIGKILL"], () => processesOn(dataDirectory), dataDirectory);
  return hadServer || hadSessions;
}

/** Sends the signals one after another until there are no such processes. */
async function stopAll(
  signals: readonly NodeJS.Signals[],
  find: () => readonly number[],
  dataDirectory: string,
): Promise<boolean> {
  let pids = find();
  if (pids.length === 0) return false;
  for (const signal of signals) {
    for (const pid of pids) signalProcess(pid, signal);
    const deadline = performance.now() + STOP_TIMEOUT_MS;
    while (performance.now() < deadline) {
      pids = find();
      if (pids.length === 0) return true;
      await sleep(POLL_MS);
    }
  }
  throw new EngineError(`process ${pids[0]}, which runs Postgres on ${dataDirectory}, cannot be stopped`);
}

/** The processes that work in this directory. Empty where the system has no `/proc`. */
function processesOn(dataDirectory: string): number[] {
  if (!existsSync("/proc/self/cwd")) return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => runsOn(pid, dataDirectory));
}

/** Whether the process is a Postgres that uses this directory, and not one that was given the same pid. */
function runsOn(pid: number, dataDirectory: string): boolean {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  if (!existsSync("/proc/self/cwd")) return commandNames(pid, dataDirectory);
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === dataDirectory;
  } catch {
    return false;
  }
}

/** Whether the command line of a process names the directory. Works without `/proc`, for server processes. */
export function commandNames(pid: number, dataDirectory: string): boolean {
  try {
    const command = execFileSync("ps", ["-ww", "-p", String(pid), "-o", "command="], { encoding: "utf8" });
    return ` ${command.trim()} `.includes(` -D ${dataDirectory} `);
  } catch {
    // There is no such process, or no `ps`.
    return false;
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited in the meantime.
  }
}
