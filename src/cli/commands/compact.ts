import { Command, Option } from "commander";
import { addTargetOptions, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { jsonOption, parseDurationOption } from "../terminal/option-parsers.ts";

type CompactOptions = ServerTarget & { keep: number; json?: boolean };
type CompactResponse = { readonly forgotten_seq: number; readonly seq: number; readonly size_bytes: number };

/** Forgets old history by hand; `serve --keep-history` does so by itself. */
export function compactCommand(): Command {
  return addTargetOptions(new Command("compact"))
    .addOption(
      new Option("--keep <duration>", "how much is kept, by the world's clock, like 30d")
        .argParser(parseDurationOption)
        .makeOptionMandatory(),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
History then begins at a checkpoint: verify and replay start from there, and nothing before it can be forked or shown any more. The file
keeps its size and fills the room again; standin export writes one without it.

Examples:
  $ standin compact --keep 30d`,
    )
    .action(async ({ keep, ...options }: CompactOptions) => {
      const response = await withControlApi(options, (call) =>
        call<CompactResponse>("POST", "/compact", { keep }),
      );
      const { forgotten_seq, seq, size_bytes } = response;
      const text = `history begins after event ${forgotten_seq} and stands at event ${seq} (${size_bytes} bytes)`;
      process.stdout.write(`${options.json === true ? JSON.stringify(response) : text}\n`);
    });
}
