import { Command } from "commander";
import type { PointSelector } from "../../simulation/replay.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { dataOption, jsonOption, pointOption, worldOption } from "../terminal/options.ts";
import { print, printError } from "../terminal/print.ts";

type RecordOptions = {
  data: string;
  world: string;
  from?: PointSelector;
  to?: PointSelector;
  out: string;
  json?: boolean;
};

export function recordCommand(): Command {
  return new Command("record")
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(
      pointOption(
        "--from <point>",
        "starting point, whose state becomes the initial world",
        "when the first API key was created",
      ),
    )
    .addOption(pointOption("--to <point>", "end point, inclusive", "the current state"))
    .requiredOption(
      "--out <file>",
      "scenario file to create, such as bug.yaml; the initial world is written next to it",
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Only reads the data directory; a server may be running on it. Requests are taken
from the request log, which holds the newest ones (standin serve
--requests-limit); older requests cannot be recorded. Neither file contains
secrets: API keys get new ones. SQL of Postgres clients is not recorded, only its
load.

Exit status: 0 fully reproduced, 1 partly reproduced (stderr lists what is
missing) or failed, 2 usage error.

Examples:
  $ standin record --out yesterday.yaml --from 2026-01-30T00:00:00Z --to 2026-01-31T00:00:00Z
  $ standin record --data .standin --world pull-request-7 --out bug.yaml && standin run bug.yaml`,
    )
    .action(async ({ json, ...options }: RecordOptions) => {
      const { recordWorld } = await import("../history/record-world.ts");
      const { steps, state, omitted, worldFile = null } = await recordWorld(options);
      if (json === true)
        print(`${JSON.stringify({ file: options.out, world_file: worldFile, steps, state, omitted })}\n`);
      else
        print(
          `wrote ${options.out} (${plural(steps, "step")}) and ${worldFile}${state === null ? "" : `; final state ${state}`}\n`,
        );
      if (omitted.length > 0) process.exitCode = 1;
      for (const reason of json === true ? [] : omitted) printError(`standin: cannot reproduce: ${reason}\n`);
    });
}
