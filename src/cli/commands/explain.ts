import { Command } from "commander";
import type { PointSelector } from "../../simulation/replay.ts";
import { addTargetOptions, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { jsonOption, pointOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type ExplainOptions = ServerTarget & { at?: PointSelector; json?: boolean };
type ExplanationResponse = {
  readonly at: string;
  readonly reasons: readonly { readonly text: string; readonly events: readonly number[] }[];
  readonly events: readonly { readonly seq: number; readonly at: string; readonly type: string }[];
};

export function explainCommand(): Command {
  return addTargetOptions(
    new Command("explain").argument("<id>", "id of a compute (ep-…) or of an operation"),
  )
    .addOption(pointOption("--at <point>", "explain the state as of this point, inclusive", "now"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
To find out why a request was answered with 423, pass its time to --at.

Examples:
  $ standin explain ep-silent-smoke-80663912
  $ standin explain ep-silent-smoke-80663912 --at 2026-01-31T14:03:05Z
  $ standin explain 22acbb37-209b-4b90-a39c-8460090e1329 --json`,
    )
    .action(async (id: string, { at, ...options }: ExplainOptions) => {
      const kind = id.startsWith("ep-") ? "endpoints" : "operations";
      const query = at === undefined ? "" : `?at=${"seq" in at ? at.seq : new Date(at.at).toISOString()}`;
      const explanation = await withControlApi(options, (call) =>
        call<ExplanationResponse>("GET", `/explain/${kind}/${encodeURIComponent(id)}${query}`),
      );
      print(options.json === true ? `${JSON.stringify(explanation)}\n` : describeExplanation(explanation));
    });
}

function describeExplanation({ at, reasons, events }: ExplanationResponse): string {
  const lines = reasons.map(
    (reason) => `- ${reason.text}${reason.events.length === 0 ? "" : ` [${reason.events.join(", ")}]`}`,
  );
  const proof = events.map((event) => `  ${event.seq}  ${event.at}  ${event.type}`);
  return `${[`as of ${at}:`, ...lines, ...(proof.length === 0 ? [] : ["events:", ...proof])].join("\n")}\n`;
}
