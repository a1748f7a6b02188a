import { Command, Option } from "commander";
import type { PointSelector } from "../../simulation/replay.ts";
import { dataOption, jsonOption, parsePointOption, worldOption } from "../terminal/option-parsers.ts";

type RecordOptions = {
  data: string;
  world: string;
  from?: PointSelector;
  to?: PointSelector;
  out: string;
  json?: boolean;
};

/** What happened in a world, as a scenario that brings it about again. */
export function recordCommand(): Command {
  return new Command("record")
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(
      new Option(
        "--from <point>",
        "an ISO 8601 instant or an event's sequence number (default: when its first key was made)",
      ).argParser(parsePointOption),
    )
    .addOption(
      new Option(
        "--to <point>",
        "an ISO 8601 instant or an event's sequence number, included (default: the head)",
      ).argParser(parsePointOption),
    )
    .requiredOption(
      "--out <file>",
      "the scenario, like mine.yaml; the world that it begins with comes beside it",
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
It only looks: a server may have the directory open. Requests come from the journal of requests, which keeps the newest (see standin serve
--help); what is older cannot be recorded. Secrets are in neither file; keys have other secrets there.

Ends with 1 where something could not be reproduced; what, is said.

Examples:
  $ standin record --out yesterday.yaml --from 2026-01-30T00:00:00Z --to 2026-01-31T00:00:00Z
  $ standin record --data .standin --world pull-request-7 --out bug.yaml && standin run bug.yaml`,
    )
    .action(async ({ json, ...options }: RecordOptions) => {
      const { recordWorld } = await import("../history/record-world.ts");
      const { steps, state, omitted, worldFile } = await recordWorld(options);
      if (json === true)
        process.stdout.write(
          `${JSON.stringify({ file: options.out, world_file: worldFile, steps, state, omitted })}\n`,
        );
      else
        process.stdout.write(
          `wrote ${options.out} (${steps} steps) and ${worldFile}${state === null ? "" : `; it ends in state ${state}`}\n`,
        );
      if (omitted.length > 0) process.exitCode = 1;
      for (const reason of json === true ? [] : omitted)
        process.stderr.write(`standin: not reproduced: ${reason}\n`);
    });
}
