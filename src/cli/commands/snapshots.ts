import { Command, Option } from "commander";
import { findServer, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import { addTargetCommand } from "../client/target-command.ts";
import type { PullOptions } from "../snapshot-files/pull-snapshot.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { controlTokenOption, dataOption, jsonOption, worldOption } from "../terminal/options.ts";
import { printResult } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";
import { invalidValue } from "../terminal/usage-errors.ts";

type SnapshotsOptions = ServerTarget & { json?: boolean };
/** Options of the commands that work on the files of this machine. */
type FilesOptions = { data: string; world: string; json?: boolean };

export function snapshotsCommand(): Command {
  const snapshots = new Command("snapshots").addHelpText(
    "after",
    `
Examples:
  $ standin snapshots create before-migration
  $ standin snapshots list
  $ standin snapshots restore before-migration
  $ standin snapshots delete before-migration
  $ standin snapshots push before-migration --to /backups`,
  );
  addCreate(snapshots);
  addList(snapshots);
  addRestore(snapshots);
  addDelete(snapshots);
  addPush(snapshots);
  addPull(snapshots);
  return snapshots;
}

function addCreate(snapshots: Command): void {
  addTargetCommand(snapshots, {
    usage: "create <name>",
    description: "take a snapshot of the world",
    examples: ["standin snapshots create before-migration"],
  }).action(async (name: string, options: SnapshotsOptions) => {
    const { snapshot } = await withControlApi(options, (call) =>
      callRoute(call, "POST /snapshots", { body: { name } }),
    );
    printResult(
      options,
      snapshot,
      `created snapshot ${snapshot.name} at event ${snapshot.seq}, ${snapshot.now} (${snapshot.size_bytes} bytes)`,
    );
  });
}

function addList(snapshots: Command): void {
  addTargetCommand(snapshots, {
    usage: "list",
    description: "list the snapshots of the world, oldest first",
    examples: ["standin snapshots list --json"],
  }).action(async (options: SnapshotsOptions) => {
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
}

function addRestore(snapshots: Command): void {
  addTargetCommand(snapshots, {
    usage: "restore <name>",
    description: "restore a snapshot; the current state is stored as another snapshot",
    examples: ["standin snapshots restore before-migration"],
  }).action(async (name: string, options: SnapshotsOptions) => {
    const restored = await restoreSnapshot(options, name);
    printResult(
      options,
      restored,
      `restored snapshot ${name}; the previous state is stored as snapshot ${restored.former_kept_as}`,
    );
  });
}

function addDelete(snapshots: Command): void {
  addTargetCommand(snapshots, {
    usage: "delete <name>",
    description: "delete a snapshot",
    examples: ["standin snapshots delete before-migration"],
  }).action(async (name: string, options: SnapshotsOptions) => {
    const response = await withControlApi(options, (call) =>
      callRoute(call, "DELETE /snapshots/:name", { params: [name] }),
    );
    printResult(options, response, `deleted snapshot ${name}`);
  });
}

function addPush(snapshots: Command): void {
  snapshots
    .command("push <name>")
    .description("copy a snapshot to a file, or to an object store by a presigned URL")
    .requiredOption("--to <target>", "directory, new file, file:// URL, or presigned https:// URL for PUT")
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Works on a data directory of this machine, even while a server uses it. The snapshot is
verified first. The checksum of a file is written next to it, to <file>.sha256.

The file contains the whole history, the hashes of API keys, and the encrypted role
passwords. To give a world to somebody else, use: standin export

Examples:
  $ standin snapshots push nightly --world team-a --to /backups/team-a
  $ standin snapshots push nightly --to "https://bucket.s3.amazonaws.com/nightly.sqlite?X-Amz-Signature=…"`,
    )
    .action(async (name: string, options: FilesOptions & { to: string }) => {
      const { pushSnapshot } = await import("../snapshot-files/push-snapshot.ts");
      const pushed = await interruptible((signal) => pushSnapshot(name, options, signal));
      const text = `pushed snapshot ${name} of world ${options.world} to ${pushed.to} (${pushed.size_bytes} bytes, SHA-256 ${pushed.sha256})`;
      printResult(options, pushed, text);
    });
}

function addPull(snapshots: Command): void {
  snapshots
    .command("pull <source>")
    .description("add a pushed snapshot to a world, or create the world from it")
    .option("--name <name>", "name of the snapshot in the world (default: that of its file)")
    .addOption(
      new Option("--sha256 <hex>", "checksum that the file must have, as push prints it").argParser(
        parseSha256Option,
      ),
    )
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(controlTokenOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The source is a file, a file:// URL, or a presigned https:// URL for GET. The file is
verified first. If --world exists, the snapshot is added to it; the world changes only with
standin snapshots restore. Otherwise the world is created, and continues at the snapshot.

Works on a data directory of this machine, even while a server uses it.

Examples:
  $ standin snapshots pull /backups/team-a/nightly.sqlite --world team-a
  $ standin snapshots pull "https://bucket.s3.amazonaws.com/nightly.sqlite?X-Amz-Signature=…" --world team-a`,
    )
    .action(async (source: string, options: FilesOptions & Omit<PullOptions, "data" | "world">) => {
      const { pullSnapshot } = await import("../snapshot-files/pull-snapshot.ts");
      const pulled = await interruptible((signal) => pullSnapshot(source, options, signal));
      const { world, snapshot, seq, now } = pulled;
      const where = world === "default" ? "" : ` --world ${world}`;
      printResult(
        options,
        pulled,
        snapshot === undefined
          ? `created world ${world} at event ${seq}, ${now}`
          : `added snapshot ${snapshot} to world ${world} at event ${seq}, ${now}; restore it with: standin snapshots restore ${snapshot}${where}`,
      );
    });
}

function parseSha256Option(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw invalidValue("64 hexadecimal digits");
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
