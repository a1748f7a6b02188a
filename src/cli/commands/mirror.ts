import { Command, Option } from "commander";
import { PublicApi } from "../../remote/client/public-api.ts";
import { parseApiUrl } from "../client/api-access.ts";
import { addTargetOptions, type ControlClient, requireServer, type ServerTarget } from "../client/client.ts";
import { mirrorHost, ownServer } from "../client/mirror-host.ts";
import { loadSatellite } from "../satellites.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { newFilePath } from "../terminal/new-file.ts";
import { secretParser } from "../terminal/option-parsers.ts";
import { envOption, jsonOption } from "../terminal/options.ts";

type MirrorOptions = ServerTarget & {
  from: string;
  fromKey: string;
  apiKey?: string;
  out?: string;
  dryRun?: boolean;
  json?: boolean;
};

export function mirrorCommand(): Command {
  return addTargetOptions(new Command("mirror"))
    .requiredOption(
      "--from <url>",
      "base URL of the API to read from; ends in /api/v2; receives only GET requests",
      (text) => parseApiUrl("--from", text),
    )
    .addOption(
      envOption("--from-key <key>", "API key for --from; prefer the environment variable")
        .argParser(secretParser("--from-key or STANDIN_FROM_KEY"))
        .makeOptionMandatory(),
    )
    .addOption(
      envOption(
        "--key, --api-key <key>",
        "API key for standin; its account receives the projects (default: a temporary key of the first account)",
      ).argParser(secretParser("--key or STANDIN_API_KEY")),
    )
    .addOption(
      new Option(
        "--out <file>",
        "seed file to create, - for stdout; also copies to standin if --url, --data or --world is given",
      ),
    )
    .addOption(new Option("--dry-run", "read the account and print what would be copied; change nothing"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Copies no data and no secrets. In a running server, all resources get new ids, and
projects whose names already exist are skipped. A seed file retains the ids.
Settings that cannot be copied are listed.

Examples:
  $ export STANDIN_FROM_KEY=…
  $ standin mirror --from https://console.example.com/api/v2
  $ standin mirror --from https://console.example.com/api/v2 --world pull-request-7 --json
  $ standin mirror --from https://console.example.com/api/v2 --out world.yaml && standin serve --seed-file world.yaml`,
    )
    .action(async (options: MirrorOptions, command: Command) => {
      // Check first: reading an account may take minutes.
      if (options.out !== undefined && options.out !== "-") newFilePath(options.out);
      const isTarget = ["url", "data", "world"].some((name) => command.getOptionValueSource(name) === "cli");
      const { json, text } = await interruptible((signal) =>
        runMirror(options, options.out === undefined || isTarget, signal),
      );
      // If the seed file goes to stdout, the report goes to stderr.
      const stream = options.out === "-" && options.dryRun !== true ? process.stderr : process.stdout;
      stream.write(options.json === true ? `${JSON.stringify(json)}\n` : text);
    });
}

async function runMirror(options: MirrorOptions, toServer: boolean, signal: AbortSignal) {
  const { mirror } = await loadSatellite("mirror", "standin mirror");
  const { from, fromKey, apiKey, out, dryRun } = options;
  // Check first: reading an account may take minutes.
  const server = toServer && dryRun !== true ? await requireMirrorServer(options) : undefined;
  const request = {
    ...{ from: new PublicApi(from, fromKey, signal), out, isDryRun: dryRun === true },
    server: server && ownServer(server, apiKey, "standin mirror", signal),
  };
  return mirror(mirrorHost(), request, signal);
}

async function requireMirrorServer(options: MirrorOptions): Promise<ControlClient> {
  try {
    return await requireServer(options);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message}, or write a seed file with --out`);
  }
}
