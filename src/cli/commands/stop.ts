import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command, Option } from "commander";
import { requireServer } from "../client/client.ts";
import { readServerFile } from "../server/server-file.ts";
import { CliError } from "../terminal/cli-error.ts";
import { parseDurationOption } from "../terminal/option-parsers.ts";
import { dataOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type StopOptions = { data: string; timeout: number; json?: boolean };

const POLL_MS = 50;

export function stopCommand(): Command {
  return new Command("stop")
    .addOption(dataOption())
    .addOption(
      new Option("--timeout <duration>", "longest wait for its end, in wall-clock time")
        .argParser(parseDurationOption)
        .default(30_000, "30s"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Stops the server that runs on this data directory, as Ctrl-C in its terminal
does, and waits until it has ended. Its worlds stay in the directory.

Exit status: 0 the server has ended, 1 no server is running or it has not ended
in time, 2 usage error.

Examples:
  $ standin stop
  $ standin stop --data ./shop`,
    )
    .action(async (options: StopOptions) => {
      const pid = await stop(options);
      print(options.json === true ? `${JSON.stringify({ stopped: pid })}\n` : "stopped\n");
    });
}

/** Returns the id of the process that was stopped. */
async function stop({ data, timeout }: StopOptions): Promise<number> {
  await requireServer({ data, world: "default", advice: "stop it as its user" });
  const pid = readServerFile(resolve(data))?.pid;
  if (pid === undefined) throw new CliError(`no server is running at ${data}`);
  process.kill(pid, "SIGTERM");
  const deadline = performance.now() + timeout;
  while (isRunning(pid)) {
    if (performance.now() >= deadline)
      throw new CliError(`timed out after ${timeout} ms: the server (process ${pid}) has not ended`);
    await sleep(POLL_MS);
  }
  return pid;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
