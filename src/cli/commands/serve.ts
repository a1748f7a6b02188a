import { Command } from "commander";
import { addOptions } from "../server/options/option-table.ts";
import { SERVE_OPTION_GROUPS, type ServeOptions } from "../server/options/serve-options.ts";
import { CliError } from "../terminal/cli-error.ts";
import { dataOption } from "../terminal/options.ts";

const FIRST_GROUP = Object.keys(SERVE_OPTION_GROUPS)[0] as string;

const NOTES = `
A --profile file also gives the plan, the limits, and the share of operations that
fail. The world stores its figures and does not need the file again.

The options of new worlds (--start-at, --seed, --profile, --plan, --host-domain)
apply only when the world is created. On later starts omit them; a different
value is an error.

--clock, --operations, --locks, --durations, --answers, --start-delay and the --…-limit options
are stored with the world and may change at every start. Omit them to keep the stored
value. The values profile and plan remove an override. Worlds of earlier releases have
constant durations.

A start delay of 1s..5s is uniform; 3s~0.5 is log-normal with a median of 3 s and
a sigma of 0.5.

Exit status: 0 stopped by Ctrl-C or SIGTERM, 1 failed, 2 usage error.

Examples:
  $ standin serve                                  # ./.standin, port 4620, real clock
  $ standin serve --clock manual --settle          # for neonctl on a manual clock
  $ standin serve --clock manual --seed 7 --start-at 2026-01-01T00:00:00Z
  $ STANDIN_API_KEY=$KEY standin serve --port 0 --data /tmp/ci --json
  $ standin serve --clock 60x --operations immediate
  $ standin serve --clock manual --seed 7 --durations constant
  $ standin serve --profile shop.profile.yaml      # as fast as an account of the platform
  $ standin serve --locks parallel-branches        # one branch per test file, in parallel
  $ standin serve --answers recorded               # for clients that read what recordings have
  $ standin serve --backup-every 1h --keep-backups 48`;

export function serveCommand(): Command {
  const command = new Command("serve").addOption(dataOption().helpGroup(FIRST_GROUP));
  for (const [group, rows] of Object.entries(SERVE_OPTION_GROUPS)) addOptions(command, rows, group);
  return command.addHelpText("after", NOTES).action(async (options: ServeOptions) => {
    if (options.keepBackups !== undefined && options.backupEvery === undefined)
      throw new CliError(
        "--keep-backups (STANDIN_KEEP_BACKUPS) requires --backup-every (STANDIN_BACKUP_EVERY)",
        true,
      );
    const operations = options.settle === true ? "immediate" : options.operations;
    // The server is loaded only here, which keeps the startup of other commands fast.
    const { serve } = await import("../server/server.ts");
    await serve({ ...options, ...(operations === undefined ? {} : { operations }) });
  });
}
