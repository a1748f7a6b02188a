import { Command, Option } from "commander";
import type { Point } from "../../simulation/replay.ts";
import { addTargetOptions, type Target } from "../client/client.ts";
import { withControl } from "../client/control-client.ts";
import { jsonOption, point } from "../terminal/option-parsers.ts";

type Options = Target & { at?: Point; json?: boolean };
type Explanation = {
  readonly at: string;
  readonly reasons: readonly { readonly text: string; readonly events: readonly number[] }[];
  readonly events: readonly { readonly seq: number; readonly at: string; readonly type: string }[];
};

/** Why something is as it is, in words, with the events that prove it. */
export function explainCommand(): Command {
  return addTargetOptions(new Command("explain").argument("<id>", "ep-…, or the id of an operation"))
    .addOption(new Option("--at <point>", "as it was at an ISO 8601 instant or after an event (default: now)").argParser(point))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Why did that request get 423? Ask with --at and its instant.

Examples:
  $ standin explain ep-silent-smoke-80663912
  $ standin explain ep-silent-smoke-80663912 --at 2026-01-31T14:03:05Z
  $ standin explain 22acbb37-209b-4b90-a39c-8460090e1329 --json`,
    )
    .action(async (id: string, { at, ...options }: Options) => {
      const kind = id.startsWith("ep-") ? "endpoints" : "operations";
      const query = at === undefined ? "" : `?at=${"seq" in at ? at.seq : new Date(at.at).toISOString()}`;
      const explanation = await withControl(options, (call) =>
        call<Explanation>("GET", `/explain/${kind}/${encodeURIComponent(id)}${query}`),
      );
      process.stdout.write(options.json === true ? `${JSON.stringify(explanation)}\n` : describe(explanation));
    });
}

function describe({ at, reasons, events }: Explanation): string {
  const lines = reasons.map((reason) => `- ${reason.text}${reason.events.length === 0 ? "" : ` [${reason.events.join(", ")}]`}`);
  const proof = events.map((event) => `  ${event.seq}  ${event.at}  ${event.type}`);
  return `${[`as of ${at}:`, ...lines, ...(proof.length === 0 ? [] : ["events:", ...proof])].join("\n")}\n`;
}
