import { Command, Option } from "commander";
import { readText } from "../../app/read-text.ts";
import { MAX } from "../../input-limits/limits.ts";
import { isUserError } from "../../ports/user-error.ts";
import { PublicApi } from "../../remote/client/public-api.ts";
import { parseApiUrl } from "../client/api-access.ts";
import { addTargetOptions, requireServer, type ServerTarget } from "../client/client.ts";
import { mirrorHost, ownServer } from "../client/mirror-host.ts";
import { loadSatellite } from "../satellites.ts";
import { CliError } from "../terminal/cli-error.ts";
import { unreadableInput } from "../terminal/input-file.ts";
import { InterruptedError, interruptible } from "../terminal/interrupt.ts";
import { integerParser, secretParser } from "../terminal/option-parsers.ts";
import { envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type DriftOptions = ServerTarget & {
  against: string;
  againstKey: string;
  apiKey?: string;
  list?: string;
  recorded?: boolean;
  projects?: number;
  json?: boolean;
};

const EXIT_DIFFERENT = 1;
const DEFAULT_PROJECTS = 3;

/** Compares the simulator with the platform that it imitates. */
export function driftCommand(): Command {
  return addTargetOptions(new Command("drift"))
    .addOption(
      envOption("--key, --api-key <key>", "API key for standin (default: a temporary key)").argParser(
        secretParser("--key or STANDIN_API_KEY"),
      ),
    )
    .requiredOption("--against <url>", "base URL of the other server; ends in /api/v2", (text) =>
      parseApiUrl("--against", text),
    )
    .addOption(
      envOption("--against-key <key>", "API key for the other server; prefer the environment variable")
        .argParser(secretParser("--against-key or STANDIN_AGAINST_KEY"))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--list <file>",
        "file of calls to compare, one per line, such as GET /projects/{project_id}/branches (default: a built-in list)",
      ).conflicts("projects"),
    )
    .addOption(
      new Option("--recorded", "compare the GET calls in the request log of the server").conflicts([
        "list",
        "projects",
      ]),
    )
    .addOption(
      new Option(
        "--projects <n>",
        `number of projects to read on each side (default: ${DEFAULT_PROJECTS})`,
      ).argParser(integerParser(1, 100)),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Sends only GET requests. Compares statuses, error codes, field names and field
types, but not values.

Exit status: 0 no differences, 1 differences, 2 the comparison could not run,
130 interrupted by Ctrl-C.

Examples:
  $ export STANDIN_AGAINST_KEY=…
  $ standin drift --against https://console.example.com/api/v2
  $ standin drift --against https://console.example.com/api/v2 --recorded
  $ standin drift --against https://console.example.com/api/v2 --list calls.txt --json`,
    )
    .action(async (options: DriftOptions) => {
      const { json, text, isDifferent } = await withUsageExitCode(() =>
        interruptible((signal) => compareServers(options, signal)),
      );
      print(options.json === true ? `${JSON.stringify(json)}\n` : text);
      if (isDifferent) process.exitCode = EXIT_DIFFERENT;
    });
}

/** Errors exit with 2, because 1 means that there are differences. */
async function withUsageExitCode<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUserError(error) && !(error instanceof InterruptedError)) throw new CliError(error.message, true);
    throw error;
  }
}

async function compareServers(options: DriftOptions, signal: AbortSignal) {
  const { drift } = await loadSatellite("mirror", "standin drift");
  const { list: file, against, againstKey, apiKey } = options;
  const list = file === undefined ? undefined : { text: readCallList(file), file };
  return drift(mirrorHost(), {
    openServer: async () => ownServer(await requireServer(options), apiKey, "standin drift", signal),
    list,
    against: new PublicApi(against, againstKey, signal),
    isRecorded: options.recorded === true,
    projects: options.projects ?? DEFAULT_PROJECTS,
  });
}

function readCallList(path: string): string {
  try {
    return readText(path, MAX.settingsFile);
  } catch (error) {
    throw unreadableInput(`--list ${path}`, error);
  }
}
