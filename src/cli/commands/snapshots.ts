import { Command } from "commander";
import { addTargetOptions, findServer, type Target } from "../client/client.ts";
import { withControl } from "../client/control-client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { jsonOption } from "../terminal/option-parsers.ts";
import { formatTable } from "../terminal/text-table.ts";

type Options = Target & { json?: boolean };
type Snapshot = {
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
  verb(snapshots, "create <name>", "keep the world as it is now", "standin snapshots create before-migration").action(
    async (name: string, options: Options) => {
      const { snapshot } = await withControl(options, (call) => call<{ snapshot: Snapshot }>("POST", "/snapshots", { name }));
      print(options, snapshot, `kept as ${snapshot.name}: event ${snapshot.seq}, ${snapshot.now} (${snapshot.size_bytes} bytes)`);
    },
  );
  verb(snapshots, "list", "show the snapshots of the world, oldest first", "standin snapshots list --json").action(
    async (options: Options) => {
      const answer = await withControl(options, (call) => call<{ snapshots: Snapshot[] }>("GET", "/snapshots"));
      const rows = answer.snapshots.map((one) => [
        one.name,
        one.kind,
        one.created_at,
        one.error ?? one.now,
        String(one.seq),
        String(one.size_bytes),
      ]);
      const none = "no snapshots yet; keep one with: standin snapshots create <name>";
      print(options, answer, rows.length === 0 ? none : formatTable(["NAME", "KIND", "CREATED", "WORLD'S CLOCK", "EVENT", "BYTES"], rows));
    },
  );
  verb(
    snapshots,
    "restore <name>",
    "take the world back; what it is now is kept as a snapshot",
    "standin snapshots restore before-migration",
  ).action(async (name: string, options: Options) => {
    const restored = await restore(options, name);
    print(options, restored, `restored ${name}; the former world is kept as ${restored.former_kept_as}`);
  });
  verb(snapshots, "delete <name>", "delete a snapshot", "standin snapshots delete before-migration").action(
    async (name: string, options: Options) => {
      const answer = await withControl(options, (call) => call("DELETE", `/snapshots/${encodeURIComponent(name)}`));
      print(options, answer, `deleted ${name}`);
    },
  );
  return snapshots;
}

/** By the running server; without one, straight on the files, for a world may be too damaged to be opened. */
async function restore(options: Options, name: string): Promise<{ restored: string; former_kept_as: string }> {
  const server = await findServer(options);
  if (server !== undefined) return server.call("POST", `/snapshots/${encodeURIComponent(name)}/restore`, {});
  if (options.url !== undefined) throw new CliError(`no server answers at ${options.url}`);
  const { restoreStoredWorld } = await import("../client/stored-world.ts");
  return { restored: name, former_kept_as: await restoreStoredWorld(options, name) };
}

function verb(parent: Command, usage: string, description: string, example: string): Command {
  return addTargetOptions(parent.command(usage).description(description).addHelpText("after", `\nExamples:\n  $ ${example}`)).addOption(
    jsonOption(),
  );
}

function print({ json }: Options, answer: unknown, text: string): void {
  process.stdout.write(`${json === true ? JSON.stringify(answer) : text}\n`);
}
