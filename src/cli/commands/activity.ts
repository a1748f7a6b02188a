import { Command, Option } from "commander";
import type { ControlAnswer } from "../../control-api/document/answers.ts";
import { ACTIVITY_KINDS, type ActivityKind } from "../../platform/model/activity.ts";
import { formatDuration } from "../../scenario/file/expectation.ts";
import { addTargetOptions, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import { integerParser, parseDurationOption, parseInstantOption } from "../terminal/option-parsers.ts";
import { jsonOption } from "../terminal/options.ts";
import { printResult } from "../terminal/print.ts";

type ActivityOptions = ServerTarget & {
  kind: ActivityKind;
  duration?: number;
  at?: number;
  queries?: number;
  connection?: string;
  source?: string;
  json?: boolean;
};
type ActivityOutcome = ControlAnswer<"POST /activity">["activities"][number];

const MAX_QUERIES = 2 ** 32 - 1;

export function activityCommand(): Command {
  return addTargetOptions(new Command("activity").argument("<endpoint>", "id of the compute (ep-…)"))
    .addOption(new Option("--kind <kind>", "kind of activity").choices(ACTIVITY_KINDS).default("query"))
    .addOption(
      new Option("--duration <duration>", "how long the client uses the compute (default: 0)").argParser(
        parseDurationOption,
      ),
    )
    .addOption(
      new Option("--at <instant>", "when it arrives, not in the past (default: now)").argParser(
        parseInstantOption,
      ),
    )
    .addOption(
      new Option("--queries <n>", "number of queries (default: 1 for a query or transaction)").argParser(
        integerParser(0, MAX_QUERIES),
      ),
    )
    .addOption(new Option("--connection <id>", "connection that the activity uses or closes"))
    .addOption(new Option("--source <name>", "client that the activity is attributed to"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Reports that a client used a compute, as if a query had arrived there. A suspended
compute starts.

Exit status: 0 served, waits or scheduled, 1 rejected by the compute, 2 usage error.

Examples:
  $ standin activity ep-dawn-king-a527wlyu
  $ standin activity ep-dawn-king-a527wlyu --duration 30s --source nightly-job
  $ standin activity ep-dawn-king-a527wlyu --at 2026-01-31T08:00:00Z --json`,
    )
    .action(async (endpoint: string, options: ActivityOptions) => {
      const { kind, duration, at, queries, connection, source } = options;
      const body = {
        endpoint_id: endpoint,
        kind,
        duration_ms: duration,
        at: at === undefined ? undefined : new Date(at).toISOString(),
        queries,
        connection_id: connection,
        source,
      };
      const { activities } = await withControlApi(options, (call) =>
        callRoute(call, "POST /activity", { body }),
      );
      for (const activity of activities) {
        printResult(options, activity, describeOutcome(activity));
        if (activity.outcome === "refused") process.exitCode = 1;
      }
    });
}

function describeOutcome(activity: ActivityOutcome): string {
  const { endpoint_id, kind, at, outcome, waited_ms = 0, connection_id, code, message } = activity;
  const detail = {
    served: "served",
    waits: `waits ${formatDuration(waited_ms)} for the compute to start`,
    scheduled: "scheduled",
    refused: `rejected: ${code}: ${message}`,
  }[outcome];
  return `${at}  ${kind} at ${endpoint_id}: ${detail}${connection_id === undefined ? "" : `; connection ${connection_id}`}`;
}
