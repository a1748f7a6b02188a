import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const COMMAND = join(import.meta.dirname, "../../../dist/standin.js");
/** Longer than any command of a test takes. A command that hangs is ended and fails its test. */
const LONGEST_COMMAND_MS = 60_000;

export type ReadyLine = {
  event: "ready";
  pid: number;
  api_url: string;
  control_url: string;
  world: string;
  api_key?: string;
};

/** The command in a separate process. */
export type SpawnedCommand = {
  readonly process: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Waits until stdout contains a match and returns it. */
  waitForOutput(pattern: RegExp): Promise<string>;
  /** Exit code of the process; `null` if a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Ends it and waits until it has exited. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
};

/** `standin serve` in a separate process, on a free port. */
export type ServerProcess = SpawnedCommand & { readonly ready: ReadyLine };

export function temporaryDirectory(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "standin-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts the command; `prefix` is a command line that runs another one, like `nice`. */
export function spawnStandin(
  args: readonly string[],
  env: Record<string, string> = {},
  prefix: readonly string[] = [],
): SpawnedCommand {
  return spawnCommand([...prefix, process.execPath, COMMAND, ...args], env);
}

/** Starts any command line. */
export function spawnCommand(
  [file = "", ...args]: readonly string[],
  env: Record<string, string> = {},
): SpawnedCommand {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...environment(), ...env } });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    waitForOutput: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const match = pattern.exec(stdout);
          if (match !== null) resolve(match[0]);
        };
        child.stdout.on("data", check);
        ended.then(
          () => reject(new Error(`${args.join(" ")} ended before it printed ${pattern}: ${stdout}${stderr}`)),
          reject,
        );
        check();
      }),
    ended,
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

export async function serve(
  data: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
  prefix: readonly string[] = [],
  port = "0",
): Promise<ServerProcess> {
  const spawned = spawnStandin(["serve", "--data", data, "--port", port, "--json", ...args], env, prefix);
  const line = await spawned.waitForOutput(/^.*\n/);
  return { ...spawned, ready: JSON.parse(line) as ReadyLine };
}

/** Runs one command in a separate process until it exits. */
export function runStandinProcess(args: readonly string[], env: Record<string, string> = {}) {
  return waitForExit(spawnStandin(args, env));
}

/**
 * The output of a command that has exited. One that takes too long is killed; `stderr` then says what it waited for.
 */
export async function waitForExit(spawned: SpawnedCommand, longestMs = LONGEST_COMMAND_MS) {
  let late = "";
  const timer = setTimeout(() => {
    late = `killed after ${longestMs / 1_000} s:\n${processesBelow(spawned.process.pid)}`;
    void spawned.kill("SIGKILL");
  }, longestMs);
  const code = await spawned.ended;
  clearTimeout(timer);
  return { code, stdout: spawned.stdout(), stderr: `${spawned.stderr()}${late}` };
}

/** A process and its children, with their states and the functions of the kernel in which they wait. */
function processesBelow(pid: number | undefined): string {
  try {
    const columns = ["-eo", "pid=,ppid=,stat=,wchan:24=,etimes=,args="];
    const lines = execFileSync("ps", columns, { encoding: "utf8" }).split("\n");
    const below = new Set([String(pid)]);
    // Children have been started later, but numbers are used again.
    for (let round = 0; round < 5; round += 1)
      for (const line of lines) {
        const [child = "", parent = ""] = line.trim().split(/\s+/);
        if (below.has(parent)) below.add(child);
      }
    return lines.filter((line) => below.has(line.trim().split(/\s+/)[0] ?? "")).join("\n");
  } catch (error) {
    return String(error);
  }
}

/**
 * The environment of the tests without any `STANDIN_` variable, except that new worlds have constant durations,
 * because tests compare instants.
 */
export function environment(): NodeJS.ProcessEnv {
  const outside = Object.entries(process.env).filter(([name]) => !name.startsWith("STANDIN_"));
  return { ...Object.fromEntries(outside), STANDIN_DURATIONS: "constant" };
}
