import type { MirrorHost, MirrorRequest, OwnServer, PrintedResult } from "@standin/standin/ports/mirror";
import { printable } from "@standin/standin/ports/server-api";
import { UserError } from "@standin/standin/ports/user-error";
import { type Inventory, type Omission, readInventory, readProjectList } from "./inventory.ts";
import { inventoryFile } from "./inventory-file.ts";
import { InventoryWriter } from "./inventory-layout.ts";

type InventoryCounts = { readonly projects: number; readonly branches: number; readonly endpoints: number };
type MirrorResult = {
  readonly found: InventoryCounts;
  readonly file:
    | { readonly name: string; readonly profile: string; readonly left_out: readonly Omission[] }
    | undefined;
  readonly world:
    | {
        readonly api_url: string;
        readonly made: InventoryCounts;
        /** Ids in the simulator, by ids in the account. */
        readonly ids: Readonly<Record<string, string>>;
        readonly left_out: readonly Omission[];
      }
    | undefined;
  readonly left_out: readonly Omission[];
};

/** Copies the inventory of an account to a server, to a seed file, or to both. */
export async function mirror(
  host: MirrorHost,
  request: MirrorRequest,
  signal: AbortSignal,
): Promise<PrintedResult> {
  const { from, server } = request;
  const readOmissions: Omission[] = [];
  const inventory = await host.withProgress("reading the account", (report) =>
    readInventory(host, from, readOmissions, report),
  );
  const file = writeSeedFile(host, request, inventory);
  const world = server && (await mirrorToServer(host, server, inventory, signal));
  const left_out = [...readOmissions, ...(file?.left_out ?? []), ...(world?.left_out ?? [])];
  const json: MirrorResult = { found: countInventory(inventory), file, world, left_out };
  return { json, text: describeMirror(host, request, json) };
}

function writeSeedFile(
  host: MirrorHost,
  { out, isDryRun }: MirrorRequest,
  inventory: Inventory,
): MirrorResult["file"] {
  if (out === undefined) return undefined;
  const left_out: Omission[] = [];
  const { text, profile } = inventoryFile(host, inventory, left_out);
  if (!isDryRun) host.writeFile(out, text);
  return { name: out, profile, left_out };
}

function mirrorToServer(
  host: MirrorHost,
  server: OwnServer,
  inventory: Inventory,
  signal: AbortSignal,
): Promise<NonNullable<MirrorResult["world"]>> {
  return server.withApi(async (api) => {
    const writer = new InventoryWriter(api, host.projectChanges(api, server.control));
    const existingNames = new Set((await readProjectList(host, api)).map(({ name }) => name));
    let done = 0;
    await host.withProgress("creating projects", async (report) => {
      for (const project of inventory.projects) {
        await report(done, inventory.projects.length);
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
  });
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
    throw new UserError(`interrupted: ${done} of ${total} projects were copied; the next one is incomplete`);
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
  host: MirrorHost,
  { from, isDryRun }: MirrorRequest,
  { found, file, world, left_out }: MirrorResult,
): string {
  const lines = [
    `${from.url} has ${countsText(host, found)}`,
    ...(file === undefined ? [] : [describeSeedFile(file, isDryRun ? "would write" : "wrote")]),
    ...(world === undefined ? [] : [`created ${countsText(host, world.made)} in ${world.api_url}`]),
    ...left_out.map(({ what, because }) => `skipped ${what}: ${because}`),
    ...(isDryRun ? ["dry run: nothing was changed"] : []),
  ];
  return `${lines.map(printable).join("\n")}\n`;
}

function describeSeedFile({ name, profile }: NonNullable<MirrorResult["file"]>, verb: string): string {
  const flags = profile === "2024" ? "" : ` --profile ${profile}`;
  const file = name === "-" ? "world.yaml" : name;
  return `${verb} the seed file to ${name === "-" ? "stdout" : name}; use it with: standin serve --seed-file ${file}${flags}`;
}

function countsText({ plural }: MirrorHost, { projects, branches, endpoints }: InventoryCounts): string {
  return `${plural(projects, "project")}, ${branches === 1 ? "1 branch" : `${branches} branches`}, ${plural(endpoints, "compute")}`;
}
