import { Command } from "commander";
import type { ControlAnswer } from "../../control-api/document/answers.ts";
import type { PointSelector } from "../../simulation/replay.ts";
import { addTargetOptions, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import { jsonOption, pointOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type ExplainOptions = ServerTarget & { at?: PointSelector; json?: boolean };

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
  $ standin explain ep-dawn-king-a527wlyu
  $ standin explain ep-dawn-king-a527wlyu --at 2026-01-31T14:03:05Z
  $ standin explain 22acbb37-209b-4b90-a39c-8460090e1329 --json`,
    )
    .action(async (id: string, { at, ...options }: ExplainOptions) => {
      const route = id.startsWith("ep-")
        ? "GET /explain/endpoints/:endpoint_id"
        : "GET /explain/operations/:operation_id";
      const point = at && ("seq" in at ? at.seq : new Date(at.at).toISOString());
      const explanation = await withControlApi(options, (call) =>
        callRoute(call, route, { params: [id], query: { at: point } }),
      );
      print(options.json === true ? `${JSON.stringify(explanation)}\n` : describeExplanation(explanation));
    });
}

function describeExplanation({
  at,
  reasons,
  events,
}: ControlAnswer<"GET /explain/endpoints/:endpoint_id">): string {
  const lines = reasons.map(
    (reason) => `- ${reason.text}${reason.events.length === 0 ? "" : ` [${reason.events.join(", ")}]`}`,
  );
  const proof = events.map((event) => `  ${event.seq}  ${event.at}  ${event.type}`);
  return `${[`as of ${at}:`, ...lines, ...(proof.length === 0 ? [] : ["events:", ...proof])].join("\n")}\n`;
}
