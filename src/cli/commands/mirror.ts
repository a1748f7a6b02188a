import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import type { Inventory, LeftOut } from "../../mirror/inventory.ts";
import { addTargetOptions, type ControlClient, requireServer, type Target } from "../client/client.ts";
import { apiUrl, PublicApi, printable, withKey } from "../client/public-api.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { newFile } from "../terminal/new-file.ts";
import { jsonOption, option, secret } from "../terminal/option-parsers.ts";
import { showProgress } from "../terminal/progress-display.ts";

type Options = Target & { from: string; fromKey: string; apiKey?: string; out?: string; dryRun?: boolean; json?: boolean };

type Counts = { readonly projects: number; readonly branches: number; readonly endpoints: number };
type Mirrored = {
  readonly found: Counts;
  readonly file?: { readonly name: string; readonly profile: string; readonly left_out: readonly LeftOut[] };
  readonly world?: {
    readonly api_url: string;
    readonly made: Counts;
    /** By their ids at the origin, the ids in the double. */
    readonly ids: Readonly<Record<string, string>>;
    readonly left_out: readonly LeftOut[];
  };
  readonly left_out: readonly LeftOut[];
};

/** A double of what one has. */
export function mirrorCommand(): Command {
  return addTargetOptions(new Command("mirror"))
    .requiredOption("--from <url>", "base URL of the account's API, ends in /api/v2; it gets nothing but GET", (text) =>
      apiUrl("--from", text),
    )
    .addOption(
      option("--from-key <key>", "a key of that account; prefer the variable")
        .argParser(secret("--from-key or STANDIN_FROM_KEY"))
        .makeOptionMandatory(),
    )
    .addOption(
      option("--key, --api-key <key>", "the double's key, whose account gets the projects (default: the first account)").argParser(
        secret("--key or STANDIN_API_KEY"),
      ),
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
    .action(async (options: Options, command: Command) => {
      // Told before an account is read for minutes.
      if (options.out !== undefined && options.out !== "-") newFile(options.out);
      const isTarget = ["url", "data", "world"].some((name) => command.getOptionValueSource(name) === "cli");
      const mirrored = await interruptible((signal) => mirror(options, options.out === undefined || isTarget, signal));
      // Where the file goes to stdout, nothing else does.
      const stream = options.out === "-" && options.dryRun !== true ? process.stderr : process.stdout;
      stream.write(options.json === true ? `${JSON.stringify(mirrored)}\n` : describe(options, mirrored));
    });
}

async function mirror(options: Options, toDouble: boolean, signal: AbortSignal): Promise<Mirrored> {
  // A double that is not there is told before an account is read for minutes.
  const server = toDouble && options.dryRun !== true ? await requiredServer(options) : undefined;
  const { readInventory } = await import("../../mirror/inventory.ts");
  const readLeftOut: LeftOut[] = [];
  const inventory = await withProgress("Reading the account", (progress) =>
    readInventory(new PublicApi(options.from, options.fromKey, signal), readLeftOut, progress),
  );
  const file = options.out === undefined ? undefined : await fileOf(options, options.out, inventory);
  const world = server && (await withKey(server, options.apiKey, "standin mirror", (key) => layOut(server, key, inventory, signal)));
  const left_out = [...readLeftOut, ...(file?.left_out ?? []), ...(world?.left_out ?? [])];
  return { found: countOf(inventory), ...(file === undefined ? {} : { file }), ...(world === undefined ? {} : { world }), left_out };
}

async function requiredServer(options: Options): Promise<ControlClient> {
  try {
    return await requireServer(options);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message}; or write a file for it with --out`);
  }
}

async function withProgress<T>(work: string, use: (progress: ReturnType<typeof showProgress>) => Promise<T>): Promise<T> {
  const progress = showProgress(work);
  try {
    return await use(progress);
  } finally {
    progress.end();
  }
}

async function fileOf(options: Options, out: string, inventory: Inventory): Promise<NonNullable<Mirrored["file"]>> {
  const { inventoryFile } = await import("../../mirror/inventory-file.ts");
  const left_out: LeftOut[] = [];
  const { text, profile } = inventoryFile(inventory, left_out);
  if (options.dryRun !== true) write(out, text);
  return { name: out, profile, left_out };
}

/** A file is there as a whole or not at all. */
function write(out: string, text: string): void {
  if (out === "-") return void process.stdout.write(text);
  const unfinished = `${out}.unfinished`;
  try {
    writeFileSync(unfinished, text);
    renameSync(unfinished, out);
  } catch (error) {
    // Below a file there is nothing to remove, and no way to say so.
    if (existsSync(unfinished)) rmSync(unfinished, { force: true });
    throw new CliError(`--out ${out} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function layOut(
  server: ControlClient,
  key: string,
  inventory: Inventory,
  signal: AbortSignal,
): Promise<NonNullable<Mirrored["world"]>> {
  const { InventoryLayout } = await import("../../mirror/inventory-layout.ts");
  const { listProjects } = await import("../../mirror/inventory.ts");
  const api = new PublicApi(server.apiUrl, key, signal);
  const layout = new InventoryLayout(api, server);
  const taken = new Set((await listProjects(api)).map(({ name }) => name));
  let done = 0;
  await withProgress("Laying out projects", async (progress) => {
    for (const project of inventory.projects) {
      await progress.report(done, inventory.projects.length);
      if (taken.has(project.name)) {
        layout.leftOut.push({ what: `project ${project.name} (${project.id})`, because: "the world has a project of this name already" });
      } else {
        await explainInterrupt(signal, done, inventory.projects.length, () => layout.layOut(project));
      }
      done += 1;
    }
  });
  return { api_url: server.apiUrl, made: madeOf(inventory, layout.ids), ids: layout.ids, left_out: layout.leftOut };
}

async function explainInterrupt<T>(signal: AbortSignal, done: number, of: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CliError(`interrupted: ${done} of ${of} projects were laid out, and a part of the next one`);
  }
}

function countOf({ projects }: Inventory): Counts {
  const branches = projects.flatMap((project) => project.branches);
  return { projects: projects.length, branches: branches.length, endpoints: branches.flatMap(({ endpoints }) => endpoints).length };
}

function madeOf({ projects }: Inventory, ids: Readonly<Record<string, string>>): Counts {
  const isMade = ({ id }: { readonly id: string }) => ids[id] !== undefined;
  const branches = projects.flatMap((project) => project.branches);
  return {
    projects: projects.filter(isMade).length,
    branches: branches.filter(isMade).length,
    endpoints: branches.flatMap(({ endpoints }) => endpoints).filter(isMade).length,
  };
}

function describe({ from, dryRun }: Options, { found, file, world, left_out }: Mirrored): string {
  const lines = [
    `${from} has ${counted(found)}`,
    ...(file === undefined ? [] : [describeFile(file, dryRun === true ? "would be" : "is")]),
    ...(world === undefined ? [] : [`${counted(world.made)} are laid out in ${world.api_url}`]),
    ...left_out.map(({ what, because }) => `left out: ${what}, because: ${because}`),
    ...(dryRun === true ? ["nothing was made and nothing was written"] : []),
  ];
  return `${lines.map(printable).join("\n")}\n`;
}

function describeFile({ name, profile }: NonNullable<Mirrored["file"]>, verb: string): string {
  const flags = profile === "2024" ? "" : ` --profile ${profile}`;
  const file = name === "-" ? "world.yaml" : name;
  return `the seed file ${verb} ${name === "-" ? "on stdout" : name}; use it with: standin serve --seed-file ${file}${flags}`;
}

function counted({ projects, branches, endpoints }: Counts): string {
  return `${projects} projects, ${branches} branches, ${endpoints} computes`;
}
