import { Command, Option } from "commander";
import type { ControlAnswer } from "../../control-api/document/answers.ts";
import { isoInstant } from "../../kernel/calendar.ts";
import { ACTIVITY_KINDS, type ActivityKind } from "../../platform/model/activity.ts";
import { formatDuration } from "../../scenario/file/expectation.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { addTargetOptions, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import { CliError } from "../terminal/cli-error.ts";
import { checkInputExists } from "../terminal/input-file.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { integerParser, parseDurationOption, parseInstantOption } from "../terminal/option-parsers.ts";
import { jsonOption } from "../terminal/options.ts";
import { printResult } from "../terminal/print.ts";

type ActivityOptions = ServerTarget & {
  file?: string;
  until?: number;
  kind: ActivityKind;
  duration?: number;
  at?: number;
  queries?: number;
  connection?: string;
  source?: string;
  json?: boolean;
};
type ActivityOutcome = ControlAnswer<"POST /activity">["activities"][number];

/** Options that describe one activity. */
const OF_ONE_ACTIVITY = ["kind", "duration", "at", "queries", "connection", "source"];
const MAX_QUERIES = 2 ** 32 - 1;

export function activityCommand(): Command {
  return addTargetOptions(new Command("activity").argument("[endpoint]", "id of the compute (ep-…)"))
    .addOption(
      new Option(
        "--file <recording>",
        "schedule all arrivals of this recording that are after the current instant",
      ).conflicts(OF_ONE_ACTIVITY),
    )
    .addOption(
      new Option("--until <instant>", "with --file, omit arrivals at or after this instant").argParser(
        parseInstantOption,
      ),
    )
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

--file schedules recorded traffic: CSV if the name ends in .csv, otherwise NDJSON.
Each arrival comes at its recorded instant. Arrivals at computes that the world does
not have are omitted and counted.

Exit status: 0 served, waits or scheduled, 1 rejected by the compute, or nothing of
the recording could be scheduled, 2 usage error.

Examples:
  $ standin activity ep-dawn-king-a527wlyu
  $ standin activity ep-dawn-king-a527wlyu --duration 30s --source nightly-job
  $ standin activity ep-dawn-king-a527wlyu --at 2026-01-31T08:00:00Z --json
  $ standin activity --file shop.ndjson --world tuesday --until 2026-02-07T00:00:00Z`,
    )
    .action(reportActivity);
}

async function reportActivity(endpoint: string | undefined, options: ActivityOptions): Promise<void> {
  const { file, until } = options;
  if (file !== undefined) {
    if (endpoint !== undefined)
      throw new CliError("--file: the recording names the computes; omit the endpoint", true);
    await reportRecording(file, options);
    return;
  }
  if (endpoint === undefined)
    throw new CliError("expected the id of a compute, or --file with a recording", true);
  if (until !== undefined) throw new CliError("--until: has an effect only with --file", true);
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
  const { activities } = await withControlApi(options, (call) => callRoute(call, "POST /activity", { body }));
  for (const activity of activities) {
    printResult(options, activity, describeOutcome(activity));
    if (activity.outcome === "refused") process.exitCode = 1;
  }
}

async function reportRecording(file: string, options: ActivityOptions): Promise<void> {
  checkInputExists(file, "--file");
  const { scheduleRecording } = await import("../activity/schedule-recording.ts");
  const { now, scheduled, earlier, later, unknown } = await interruptible((signal) =>
    withControlApi(options, (call) =>
      scheduleRecording(call, file, options.until ?? Number.POSITIVE_INFINITY, signal),
    ),
  );
  const json = { file, now: isoInstant(now), scheduled, earlier, later, unknown_endpoints: unknown };
  const unknownArrivals = Object.values(unknown).reduce((sum, count) => sum + count, 0);
  const lines = [
    `scheduled ${plural(scheduled, "arrival")} of ${file} after ${json.now}`,
    ...(earlier === 0 ? [] : [`skipped ${plural(earlier, "arrival")} until then`]),
    ...(later === 0 ? [] : [`skipped ${plural(later, "arrival")} from --until on`]),
    ...(unknownArrivals === 0
      ? []
      : [
          `skipped ${plural(unknownArrivals, "arrival")} at ${plural(Object.keys(unknown).length, "compute")} that the world does not have`,
        ]),
  ];
  printResult(options, json, lines.join("\n"));
  if (scheduled === 0) process.exitCode = 1;
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
