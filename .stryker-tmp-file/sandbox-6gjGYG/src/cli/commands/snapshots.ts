// @ts-nocheck
import { Command } from "commander";
import { addTargetOptions, findServer, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import { CliError } from "../terminal/cli-error.ts";
import { jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";

type SnapshotsOptions = ServerTarget & { json?: boolean };

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
    "take a snapshot of the world",
    "standin snapshots create before-migration",
  ).action(async (name: string, options: SnapshotsOptions) => {
    const { snapshot } = await withControlApi(options, (call) =>
      callRoute(call, "POST /snapshots", { body: { name } }),
    );
    printResult(
      options,
      snapshot,
      `created snapshot ${snapshot.name} at event ${snapshot.seq}, ${snapshot.now} (${snapshot.size_bytes} bytes)`,
    );
  });
  addSubcommand(
    snapshots,
    "list",
    "list the snapshots of the world, oldest first",
    "standin snapshots list --json",
  ).action(async (options: SnapshotsOptions) => {
    const response = await withControlApi(options, (call) => callRoute(call, "GET /snapshots"));
    const rows = response.snapshots.map((snapshot) => [
      snapshot.name,
      snapshot.kind,
      snapshot.created_at,
      snapshot.error ?? snapshot.now,
      String(snapshot.seq),
      String(snapshot.size_bytes),
    ]);
    const emptyText = "no snapshots; take one with: standin snapshots create <name>";
    printResult(
      options,
      response,
      rows.length === 0
        ? emptyText
        : formatTable(["NAME", "KIND", "CREATED", "WORLD CLOCK", "EVENT", "BYTES"], rows),
    );
  });
  addSubcommand(
    snapshots,
    "restore <name>",
    "restore a snapshot; the current state is stored as another snapshot",
    "standin snapshots restore before-migration",
  ).action(async (name: string, options: SnapshotsOptions) => {
    const restored = await restoreSnapshot(options, name);
    printResult(
      options,
      restored,
      `restored snapshot ${name}; the previous state is stored as snapshot ${restored.former_kept_as}`,
    );
  });
  addSubcommand(
    snapshots,
    "delete <name>",
    "delete a snapshot",
    "standin snapshots delete before-migration",
  ).action(async (name: string, options: SnapshotsOptions) => {
    const response = await withControlApi(options, (call) =>
      callRoute(call, "DELETE /snapshots/:name", { params: [name] }),
    );
    printResult(options, response, `deleted snapshot ${name}`);
  });
  return snapshots;
}

/**
 * Uses the running server, or the files directly if none runs, because the world may be too corrupt to open.
 */
async function restoreSnapshot(
  options: SnapshotsOptions,
  name: string,
): Promise<{ restored: string; former_kept_as: string }> {
  const server = await findServer(options);
  if (server !== undefined)
    return callRoute(server.control, "POST /snapshots/:name/restore", { params: [name], body: {} });
  if (options.url !== undefined) throw new CliError(`no server responds at ${options.url}`);
  const { restoreStoredWorld } = await import("../client/stored-world.ts");
  return { restored: name, former_kept_as: await restoreStoredWorld(options, name) };
}

function addSubcommand(parent: Command, usage: string, description: string, example: string): Command {
  return addTargetOptions(
    parent.command(usage).description(description).addHelpText("after", `\nExamples:\n  $ ${example}`),
  ).addOption(jsonOption());
}

function printResult({ json }: SnapshotsOptions, result: unknown, text: string): void {
  print(`${json === true ? JSON.stringify(result) : text}\n`);
}
