import { Command, Option } from "commander";
import { DEFAULT_PROFILE } from "../../platform/catalog/defaults-and-limits.ts";
import { PublicApi } from "../../remote/client/public-api.ts";
import { parseApiUrl } from "../client/api-access.ts";
import { addTargetOptions, type ControlClient, requireServer, type ServerTarget } from "../client/client.ts";
import { mirrorHost, ownServer } from "../client/mirror-host.ts";
import { mirrorHistory } from "../recorded-past/mirror-history.ts";
import { loadSatellite } from "../satellites.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { newFilePath } from "../terminal/new-file.ts";
import { integerParser, secretParser } from "../terminal/option-parsers.ts";
import { envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

/** Fixed, so that a file gives the same world on each run. */
const DEFAULT_SEED = 1;

type MirrorOptions = ServerTarget & {
  from?: string;
  fromKey?: string;
  history?: string;
  profile: string;
  seed: number;
  apiKey?: string;
  out?: string;
  dryRun?: boolean;
  json?: boolean;
};

export function mirrorCommand(): Command {
  return addTargetOptions(new Command("mirror"))
    .option(
      "--from <url>",
      "base URL of the API to read from; ends in /api/v2; receives only GET requests",
      (text) => parseApiUrl("--from", text),
    )
    .addOption(
      envOption("--from-key <key>", "API key for --from; prefer the environment variable").argParser(
        secretParser("--from-key or STANDIN_FROM_KEY"),
      ),
    )
    .addOption(
      new Option(
        "--history <file>",
        "create a world in --data from the history in a file of standin account pull",
      ).conflicts(["from", "out", "dryRun"]),
    )
    .addOption(
      new Option(
        "--profile <profile>",
        "with --history, profile of the world: 2024, 2026, or a file of standin account calibrate",
      ).default(DEFAULT_PROFILE),
    )
    .addOption(
      new Option("--seed <number>", "with --history, seed for everything after the recorded past")
        .argParser(integerParser(0, 2 ** 32 - 1))
        .default(DEFAULT_SEED),
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

With --history, no server may use --data. The world has the original ids, and its
past has the recorded starts, suspends and operations. After the last pull, it
continues on a manual clock by the rules of standin. Requests within a period are not known.

Examples:
  $ export STANDIN_FROM_KEY=…
  $ standin mirror --from https://console.example.com/api/v2
  $ standin mirror --from https://console.example.com/api/v2 --world pull-request-7 --json
  $ standin mirror --from https://console.example.com/api/v2 --out world.yaml && standin serve --seed-file world.yaml
  $ standin mirror --history shop.standin-account --data past && standin serve --data past`,
    )
    .action(async (options: MirrorOptions, command: Command) => {
      checkOptionsOfHistory(command, options.history !== undefined);
      if (options.history !== undefined) {
        const { json, text } = await mirrorHistory({ ...options, history: options.history });
        print(options.json === true ? `${JSON.stringify(json)}\n` : text);
        return;
      }
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

/** The environment may name servers for other commands. */
function checkOptionsOfHistory(command: Command, hasHistory: boolean): void {
  const isGiven = (option: string) => command.getOptionValueSource(option) === "cli";
  for (const [option, flag] of [
    ["url", "--url"],
    ["apiKey", "--key"],
    ["fromKey", "--from-key"],
  ] as const)
    if (hasHistory && isGiven(option))
      throw new CliError(`--history cannot be used with ${flag}: it calls no server`, true);
  for (const option of ["profile", "seed"])
    if (!hasHistory && isGiven(option))
      throw new CliError(`--${option}: has an effect only with --history`, true);
}

async function runMirror(options: MirrorOptions, toServer: boolean, signal: AbortSignal) {
  const { from, fromKey, apiKey, out, dryRun } = options;
  if (from === undefined) throw new CliError("--from <url> is required, unless --history is given", true);
  if (fromKey === undefined)
    throw new CliError("--from-key <key> is required; or set STANDIN_FROM_KEY", true);
  const { mirror } = await loadSatellite("mirror", "standin mirror");
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
