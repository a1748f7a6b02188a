import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import type { Inventory, Omission } from "../../mirror/inventory.ts";
import { PublicApi, printable } from "../../remote/public-api.ts";
import { parseApiUrl, withApiKey } from "../client/api-access.ts";
import { addTargetOptions, type ControlClient, requireServer, type ServerTarget } from "../client/client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { newFilePath } from "../terminal/new-file.ts";
import { envOption, jsonOption, secretParser } from "../terminal/option-parsers.ts";
import { showProgress } from "../terminal/progress-display.ts";

type MirrorOptions = ServerTarget & {
  from: string;
  fromKey: string;
  apiKey?: string;
  out?: string;
  dryRun?: boolean;
  json?: boolean;
};

type InventoryCounts = { readonly projects: number; readonly branches: number; readonly endpoints: number };
type MirrorResult = {
  readonly found: InventoryCounts;
  readonly file?: { readonly name: string; readonly profile: string; readonly left_out: readonly Omission[] };
  readonly world?: {
    readonly api_url: string;
    readonly made: InventoryCounts;
    /** By their ids at the origin, the ids in the double. */
    readonly ids: Readonly<Record<string, string>>;
    readonly left_out: readonly Omission[];
  };
  readonly left_out: readonly Omission[];
};

/** A double of what one has. */
export function mirrorCommand(): Command {
  return addTargetOptions(new Command("mirror"))
    .requiredOption(
      "--from <url>",
      "base URL of the account's API, ends in /api/v2; it gets nothing but GET",
      (text) => parseApiUrl("--from", text),
    )
    .addOption(
      envOption("--from-key <key>", "a key of that account; prefer the variable")
        .argParser(secretParser("--from-key or STANDIN_FROM_KEY"))
        .makeOptionMandatory(),
    )
    .addOption(
      envOption(
        "--key, --api-key <key>",
        "the double's key, whose account gets the projects (default: the first account)",
      ).argParser(secretParser("--key or STANDIN_API_KEY")),
    )
    .addOption(
      new Option(
        "--out <file>",
        "write a new seed file, - for stdout; the double gets nothing unless --url, --data or --world is given too",
      ),
    )
    .addOption(new Option("--dry-run", "read the account and say what there is; make nothing, write nothing"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
In a running double, everything gets an id of its own, and a project whose name is there already is left out.
A seed file keeps the ids. What cannot be carried over is listed.

Examples:
  $ export STANDIN_FROM_KEY=…
  $ standin mirror --from https://console.example.com/api/v2
  $ standin mirror --from https://console.example.com/api/v2 --world pull-request-7 --json
  $ standin mirror --from https://console.example.com/api/v2 --out world.yaml && standin serve --seed-file world.yaml`,
    )
    .action(async (options: MirrorOptions, command: Command) => {
      // Told before an account is read for minutes.
      if (options.out !== undefined && options.out !== "-") newFilePath(options.out);
      const isTarget = ["url", "data", "world"].some((name) => command.getOptionValueSource(name) === "cli");
      const mirrored = await interruptible((signal) =>
        mirror(options, options.out === undefined || isTarget, signal),
      );
      // Where the file goes to stdout, nothing else does.
      const stream = options.out === "-" && options.dryRun !== true ? process.stderr : process.stdout;
      stream.write(
        options.json === true ? `${JSON.stringify(mirrored)}\n` : describeMirror(options, mirrored),
      );
    });
}

async function mirror(options: MirrorOptions, toServer: boolean, signal: AbortSignal): Promise<MirrorResult> {
  // A double that is not there is told before an account is read for minutes.
  const server = toServer && options.dryRun !== true ? await requireMirrorServer(options) : undefined;
  const { readInventory } = await import("../../mirror/inventory.ts");
  const readOmissions: Omission[] = [];
  const inventory = await withProgress("Reading the account", (progress) =>
    readInventory(new PublicApi(options.from, options.fromKey, signal), readOmissions, progress.report),
  );
  const file = options.out === undefined ? undefined : await writeSeedFile(options, options.out, inventory);
  const world =
    server &&
    (await withApiKey(server, options.apiKey, "standin mirror", (key) =>
      mirrorToServer(server, key, inventory, signal),
    ));
  const left_out = [...readOmissions, ...(file?.left_out ?? []), ...(world?.left_out ?? [])];
  return {
    found: countInventory(inventory),
    ...(file === undefined ? {} : { file }),
    ...(world === undefined ? {} : { world }),
    left_out,
  };
}

async function requireMirrorServer(options: MirrorOptions): Promise<ControlClient> {
  try {
    return await requireServer(options);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message}; or write a file for it with --out`);
  }
}

async function withProgress<T>(
  work: string,
  use: (progress: ReturnType<typeof showProgress>) => Promise<T>,
): Promise<T> {
  const progress = showProgress(work);
  try {
    return await use(progress);
  } finally {
    progress.end();
  }
}

async function writeSeedFile(
  options: MirrorOptions,
  out: string,
  inventory: Inventory,
): Promise<NonNullable<MirrorResult["file"]>> {
  const { inventoryFile } = await import("../../mirror/inventory-file.ts");
  const left_out: Omission[] = [];
  const { text, profile } = inventoryFile(inventory, left_out);
  if (options.dryRun !== true) writeOutput(out, text);
  return { name: out, profile, left_out };
}

/** A file is there as a whole or not at all. */
function writeOutput(out: string, text: string): void {
  if (out === "-") return void process.stdout.write(text);
  const temporaryPath = `${out}.unfinished`;
  try {
    writeFileSync(temporaryPath, text);
    renameSync(temporaryPath, out);
  } catch (error) {
    // Below a file there is nothing to remove, and no way to say so.
    if (existsSync(temporaryPath)) rmSync(temporaryPath, { force: true });
    throw new CliError(
      `--out ${out} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function mirrorToServer(
  server: ControlClient,
  key: string,
  inventory: Inventory,
  signal: AbortSignal,
): Promise<NonNullable<MirrorResult["world"]>> {
  const { InventoryWriter } = await import("../../mirror/inventory-layout.ts");
  const { listProjects } = await import("../../mirror/inventory.ts");
  const api = new PublicApi(server.apiUrl, key, signal);
  const writer = new InventoryWriter(api, server);
  const existingNames = new Set((await listProjects(api)).map(({ name }) => name));
  let done = 0;
  await withProgress("Laying out projects", async (progress) => {
    for (const project of inventory.projects) {
      await progress.report(done, inventory.projects.length);
      if (existingNames.has(project.name)) {
        writer.omissions.push({
          what: `project ${project.name} (${project.id})`,
          because: "the world has a project of this name already",
        });
      } else {
        await wrapInterrupt(signal, done, inventory.projects.length, () => writer.writeProject(project));
      }
      done += 1;
    }
  });
  return {
    api_url: server.apiUrl,
    made: countCreated(inventory, writer.ids),
    ids: writer.ids,
    left_out: writer.omissions,
  };
}

async function wrapInterrupt<T>(
  signal: AbortSignal,
  done: number,
  total: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CliError(`interrupted: ${done} of ${total} projects were laid out, and a part of the next one`);
  }
}

function countInventory({ projects }: Inventory): InventoryCounts {
  const branches = projects.flatMap((project) => project.branches);
  return {
    projects: projects.length,
    branches: branches.length,
    endpoints: branches.flatMap(({ endpoints }) => endpoints).length,
  };
}

function countCreated({ projects }: Inventory, ids: Readonly<Record<string, string>>): InventoryCounts {
  const isCreated = ({ id }: { readonly id: string }) => ids[id] !== undefined;
  const branches = projects.flatMap((project) => project.branches);
  return {
    projects: projects.filter(isCreated).length,
    branches: branches.filter(isCreated).length,
    endpoints: branches.flatMap(({ endpoints }) => endpoints).filter(isCreated).length,
  };
}

function describeMirror(
  { from, dryRun }: MirrorOptions,
  { found, file, world, left_out }: MirrorResult,
): string {
  const lines = [
    `${from} has ${countsText(found)}`,
    ...(file === undefined ? [] : [describeSeedFile(file, dryRun === true ? "would be" : "is")]),
    ...(world === undefined ? [] : [`${countsText(world.made)} are laid out in ${world.api_url}`]),
    ...left_out.map(({ what, because }) => `left out: ${what}, because: ${because}`),
    ...(dryRun === true ? ["nothing was made and nothing was written"] : []),
  ];
  return `${lines.map(printable).join("\n")}\n`;
}

function describeSeedFile({ name, profile }: NonNullable<MirrorResult["file"]>, state: string): string {
  const flags = profile === "2024" ? "" : ` --profile ${profile}`;
  const file = name === "-" ? "world.yaml" : name;
  return `the seed file ${state} ${name === "-" ? "on stdout" : name}; use it with: standin serve --seed-file ${file}${flags}`;
}

function countsText({ projects, branches, endpoints }: InventoryCounts): string {
  return `${projects} projects, ${branches} branches, ${endpoints} computes`;
}
