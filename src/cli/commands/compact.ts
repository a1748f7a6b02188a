import { Command, Option } from "commander";
import { addTargetOptions, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import { parseDurationOption } from "../terminal/option-parsers.ts";
import { jsonOption } from "../terminal/options.ts";
import { printResult } from "../terminal/print.ts";

type CompactOptions = ServerTarget & { keep: number; json?: boolean };

/** Deletes old history on request; `serve --keep-history` does so continuously. */
export function compactCommand(): Command {
  return addTargetOptions(new Command("compact"))
    .addOption(
      new Option(
        "--keep <duration>",
        "age up to which history is retained, by the world's clock, such as 30d",
      )
        .argParser(parseDurationOption)
        .makeOptionMandatory(),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The current state of the world does not change. Its history then begins at a
checkpoint: verify and replay start there, and earlier points can no longer be
shown or forked. The file keeps its size and reuses the free space; standin
export writes a smaller copy.

Examples:
  $ standin compact --keep 30d`,
    )
    .action(async ({ keep, ...options }: CompactOptions) => {
      const response = await withControlApi(options, (call) =>
        callRoute(call, "POST /compact", { body: { keep: `${keep}ms` } }),
      );
      const { forgotten_seq, seq, size_bytes } = response;
      const retained =
        forgotten_seq < seq
          ? `history now covers events ${forgotten_seq + 1} to ${seq}`
          : "no events are retained";
      printResult(options, response, `${retained} (${size_bytes} bytes)`);
    });
}
