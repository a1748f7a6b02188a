import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Watchdog } from "../../postgres/machine/watchdog.ts";
import { CliError } from "../terminal/cli-error.ts";

const USAGE_ERROR = 2;

/** A server that a command runs in a separate process. */
export type ReadyServer = {
  readonly process: ChildProcess;
  readonly apiUrl: string;
  readonly controlUrl: string;
  readonly consoleUrl: string;
};

/** Ends the child with this process, even if this process is killed. */
export function endWithThisProcess(child: ChildProcess, watchdog: Watchdog): void {
  const { pid } = child;
  if (pid === undefined) return;
  watchdog.watch(pid);
  child.once("exit", () => watchdog.forget(pid));
}

/**
 * Starts `standin serve` in its own process group, so that Ctrl-C does not reach it. `onStart` is called before it is
 * ready.
 */
export async function startServer(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onStart: (child: ChildProcess) => void,
): Promise<ReadyServer> {
  const program = process.argv[1] ?? "";
  const server = spawn(process.execPath, [program, "serve", "--json", "--log-level", "error", ...args], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...withoutServeVariables(), ...env },
  });
  onStart(server);
  let problems = "";
  server.stderr.setEncoding("utf8").on("data", (text: string) => {
    problems += text;
  });
  const lines = createInterface({ input: server.stdout });
  let isUsageError = false;
  const ended = once(server, "exit").then(([code]) => {
    isUsageError = code === USAGE_ERROR;
    return undefined;
  });
  const line = await Promise.race([once(lines, "line").then(([text]) => String(text)), ended]);
  if (line === undefined)
    throw new CliError(
      `the server did not start: ${problems.trim().replace(/^standin: /, "")}`,
      isUsageError,
    );
  const { api_url, control_url, console_url } = JSON.parse(line);
  return { process: server, apiUrl: api_url, controlUrl: control_url, consoleUrl: console_url };
}

/** The server takes its options from this command, not from variables that are meant for another server. */
export function withoutServeVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("STANDIN_")));
}

export async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  await ended;
}
