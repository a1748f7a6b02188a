import { Command } from "commander";
import { addTargetOptions, findServer, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { jsonOption } from "../terminal/option-parsers.ts";
import { formatTable } from "../terminal/text-table.ts";

type SnapshotsOptions = ServerTarget & { json?: boolean };
type SnapshotResponse = {
  readonly name: string;
  readonly kind: string;
  readonly created_at: string;
  readonly now: string;
  readonly seq: number;
  readonly size_bytes: number;
  readonly error?: string;
};

/** What a world was, kept under a name. */
export function snapshotsCommand(): Command {
  const snapshots = new Command("snapshots").addHelpText(
    "after",
    `
Examples:
  $ standin snapshots create before-migration
  $ standin snapshots list
  $ standin snapshots restore before-migration
  $ standin snapshots delete before-migration`,
  );
  addSubcommand(
    snapshots,
    "create <name>",
    "keep the world as it is now",
    "standin snapshots create before-migration",
  ).action(async (name: string, options: SnapshotsOptions) => {
    const { snapshot } = await withControlApi(options, (call) =>
      call<{ snapshot: SnapshotResponse }>("POST", "/snapshots", { name }),
    );
    printResult(
      options,
      snapshot,
      `kept as ${snapshot.name}: event ${snapshot.seq}, ${snapshot.now} (${snapshot.size_bytes} bytes)`,
    );
  });
  addSubcommand(
    snapshots,
    "list",
    "show the snapshots of the world, oldest first",
    "standin snapshots list --json",
  ).action(async (options: SnapshotsOptions) => {
    const response = await withControlApi(options, (call) =>
      call<{ snapshots: SnapshotResponse[] }>("GET", "/snapshots"),
    );
    const rows = response.snapshots.map((snapshot) => [
      snapshot.name,
      snapshot.kind,
      snapshot.created_at,
      snapshot.error ?? snapshot.now,
      String(snapshot.seq),
      String(snapshot.size_bytes),
    ]);
    const emptyText = "no snapshots yet; keep one with: standin snapshots create <name>";
    printResult(
      options,
      response,
      rows.length === 0
        ? emptyText
        : formatTable(["NAME", "KIND", "CREATED", "WORLD'S CLOCK", "EVENT", "BYTES"], rows),
    );
  });
  addSubcommand(
    snapshots,
    "restore <name>",
    "take the world back; what it is now is kept as a snapshot",
    "standin snapshots restore before-migration",
  ).action(async (name: string, options: SnapshotsOptions) => {
    const restored = await restoreSnapshot(options, name);
    printResult(
      options,
      restored,
      `restored ${name}; the former world is kept as ${restored.former_kept_as}`,
    );
  });
  addSubcommand(
    snapshots,
    "delete <name>",
    "delete a snapshot",
    "standin snapshots delete before-migration",
  ).action(async (name: string, options: SnapshotsOptions) => {
    const response = await withControlApi(options, (call) =>
      call("DELETE", `/snapshots/${encodeURIComponent(name)}`),
    );
    printResult(options, response, `deleted ${name}`);
  });
  return snapshots;
}

/** By the running server; without one, straight on the files, for a world may be too damaged to be opened. */
async function restoreSnapshot(
  options: SnapshotsOptions,
  name: string,
): Promise<{ restored: string; former_kept_as: string }> {
  const server = await findServer(options);
  if (server !== undefined) return server.call("POST", `/snapshots/${encodeURIComponent(name)}/restore`, {});
  if (options.url !== undefined) throw new CliError(`no server answers at ${options.url}`);
  const { restoreStoredWorld } = await import("../client/stored-world.ts");
  return { restored: name, former_kept_as: await restoreStoredWorld(options, name) };
}

function addSubcommand(parent: Command, usage: string, description: string, example: string): Command {
  return addTargetOptions(
    parent.command(usage).description(description).addHelpText("after", `\nExamples:\n  $ ${example}`),
  ).addOption(jsonOption());
}

function printResult({ json }: SnapshotsOptions, result: unknown, text: string): void {
  process.stdout.write(`${json === true ? JSON.stringify(result) : text}\n`);
}
