import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { messageOf } from "../../kernel/message-of.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { PublicApi, printable } from "../../remote/client/public-api.ts";
import type { Inventory, Omission } from "../../remote/mirror/inventory.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { parseApiUrl, withApiKey } from "../client/api-access.ts";
import { addTargetOptions, type ControlClient, requireServer, type ServerTarget } from "../client/client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { newFilePath } from "../terminal/new-file.ts";
import { secretParser } from "../terminal/option-parsers.ts";
import { envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
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
    /** Ids in the simulator, by ids in the account. */
    readonly ids: Readonly<Record<string, string>>;
    readonly left_out: readonly Omission[];
  };
  readonly left_out: readonly Omission[];
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
      const mirrored = await interruptible((signal) =>
        mirror(options, options.out === undefined || isTarget, signal),
      );
      // If the seed file goes to stdout, the report goes to stderr.
      const stream = options.out === "-" && options.dryRun !== true ? process.stderr : process.stdout;
      stream.write(
        options.json === true ? `${JSON.stringify(mirrored)}\n` : describeMirror(options, mirrored),
      );
    });
}

async function mirror(options: MirrorOptions, toServer: boolean, signal: AbortSignal): Promise<MirrorResult> {
  // Check first: reading an account may take minutes.
  const server = toServer && options.dryRun !== true ? await requireMirrorServer(options) : undefined;
  const { readInventory } = await import("../../remote/mirror/inventory.ts");
  const readOmissions: Omission[] = [];
  const inventory = await withProgress("reading the account", (progress) =>
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
    ...omitUndefined({ file, world }),
    left_out,
  };
}

async function requireMirrorServer(options: MirrorOptions): Promise<ControlClient> {
  try {
    return await requireServer(options);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message}, or write a seed file with --out`);
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
  const { inventoryFile } = await import("../../remote/mirror/inventory-file.ts");
  const left_out: Omission[] = [];
  const { text, profile } = inventoryFile(inventory, left_out);
  if (options.dryRun !== true) writeOutput(out, text);
  return { name: out, profile, left_out };
}

/** Writes the file atomically. */
function writeOutput(out: string, text: string): void {
  if (out === "-") return void print(text);
  const temporaryPath = `${out}.unfinished`;
  try {
    writeFileSync(temporaryPath, text);
    renameSync(temporaryPath, out);
  } catch (error) {
    // Check first: rmSync throws if the parent of the path is a file, even with `force`.
    if (existsSync(temporaryPath)) rmSync(temporaryPath, { force: true });
    throw new CliError(`--out ${out}: cannot write the file: ${messageOf(error)}`);
  }
}

async function mirrorToServer(
  server: ControlClient,
  key: string,
  inventory: Inventory,
  signal: AbortSignal,
): Promise<NonNullable<MirrorResult["world"]>> {
  const { InventoryWriter } = await import("../../remote/mirror/inventory-layout.ts");
  const { listProjects } = await import("../../remote/mirror/inventory.ts");
  const api = new PublicApi(server.apiUrl, key, signal);
  const writer = new InventoryWriter(api, server);
  const existingNames = new Set((await listProjects(api)).map(({ name }) => name));
  let done = 0;
  await withProgress("creating projects", async (progress) => {
    for (const project of inventory.projects) {
      await progress.report(done, inventory.projects.length);
      if (existingNames.has(project.name)) {
        writer.omissions.push({
          what: `project ${project.name} (${project.id})`,
          because: "the world already has a project of this name",
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
    throw new CliError(`interrupted: ${done} of ${total} projects were copied; the next one is incomplete`);
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
    ...(file === undefined ? [] : [describeSeedFile(file, dryRun === true ? "would write" : "wrote")]),
    ...(world === undefined ? [] : [`created ${countsText(world.made)} in ${world.api_url}`]),
    ...left_out.map(({ what, because }) => `skipped ${what}: ${because}`),
    ...(dryRun === true ? ["dry run: nothing was changed"] : []),
  ];
  return `${lines.map(printable).join("\n")}\n`;
}

function describeSeedFile({ name, profile }: NonNullable<MirrorResult["file"]>, verb: string): string {
  const flags = profile === "2024" ? "" : ` --profile ${profile}`;
  const file = name === "-" ? "world.yaml" : name;
  return `${verb} the seed file to ${name === "-" ? "stdout" : name}; use it with: standin serve --seed-file ${file}${flags}`;
}

function countsText({ projects, branches, endpoints }: InventoryCounts): string {
  return `${plural(projects, "project")}, ${branches === 1 ? "1 branch" : `${branches} branches`}, ${plural(endpoints, "compute")}`;
}
