import { Command, Option } from "commander";
import { addTargetOptions, type Target } from "../client/client.ts";
import { withControl } from "../client/control-client.ts";
import { durationMs, jsonOption } from "../terminal/option-parsers.ts";

type Options = Target & { keep: number; json?: boolean };
type Compacted = { readonly forgotten_seq: number; readonly seq: number; readonly size_bytes: number };

/** Forgets old history by hand; `serve --keep-history` does so by itself. */
export function compactCommand(): Command {
  return addTargetOptions(new Command("compact"))
    .addOption(
      new Option("--keep <duration>", "how much is kept, by the world's clock, like 30d").argParser(durationMs).makeOptionMandatory(),
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
    .action(async ({ keep, ...options }: Options) => {
      const answer = await withControl(options, (call) => call<Compacted>("POST", "/compact", { keep }));
      const { forgotten_seq, seq, size_bytes } = answer;
      const text = `history begins after event ${forgotten_seq} and stands at event ${seq} (${size_bytes} bytes)`;
      process.stdout.write(`${options.json === true ? JSON.stringify(answer) : text}\n`);
    });
}
