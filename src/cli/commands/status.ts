import { setTimeout as sleep } from "node:timers/promises";
import { Command, Option } from "commander";
import type { ControlAnswer } from "../../control-api/document/answers.ts";
import { formatBytes } from "../../postgres/volumes/format-bytes.ts";
import { formatDuration } from "../../scenario/file/expectation.ts";
import { addTargetOptions, type ControlClient, requireServer, type ServerTarget } from "../client/client.ts";
import { callRoute, callRouteIfAllowed } from "../client/control-route.ts";
import { untilInterrupted } from "../terminal/interrupt.ts";
import { jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { openScreen } from "../terminal/screen.ts";
import { formatTable } from "../terminal/text-table.ts";

type StatusOptions = ServerTarget & { json?: boolean; watch?: boolean };

const WATCH_INTERVAL_MS = 1_000;

export function statusCommand(): Command {
  return addTargetOptions(new Command("status"))
    .addOption(
      new Option(
        "--watch",
        "show the table until Ctrl-C, updated every second; without a terminal, print it when it changes",
      ).conflicts("json"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nThe ids of projects and branches are in the JSON.\n\nExamples:\n  $ standin status\n  $ standin status --watch\n  $ standin status --json",
    )
    .action(async (options: StatusOptions) => {
      const server = await requireServer(options);
      if (options.watch === true) return untilInterrupted((signal) => watchStatus(server, signal));
      const response = await readStatus(server);
      print(options.json === true ? `${JSON.stringify(response)}\n` : `${describeStatus(response)}\n`);
    });
}

type Status = ControlAnswer<"GET /endpoints"> & {
  /** Concerns the whole server: null to the token of a team. */
  readonly data: ControlAnswer<"GET /data"> | null;
  /** Absent from the health of older servers. */
  readonly history: ControlAnswer<"GET /health">["history"] | undefined;
};

async function readStatus({ control }: ControlClient): Promise<Status> {
  const [endpoints, data, { history }] = await Promise.all([
    callRoute(control, "GET /endpoints"),
    callRouteIfAllowed(control, "GET /data"),
    callRoute(control, "GET /health"),
  ]);
  return { ...endpoints, data: data ?? null, history };
}

async function watchStatus(server: ControlClient, signal: AbortSignal): Promise<void> {
  const screen = openScreen();
  try {
    for (;;) {
      screen.show(`${describeStatus(await readStatus(server))}\n`);
      await sleep(WATCH_INTERVAL_MS, undefined, { signal });
    }
  } finally {
    screen.close();
  }
}

function describeStatus({ now, endpoints, data, history }: Status): string {
  const rows = endpoints.map((endpoint) => [
    endpoint.endpoint_id,
    endpoint.project_name ?? endpoint.project_id,
    endpoint.branch_name ?? endpoint.branch_id,
    endpoint.pending_state === null ? endpoint.status : `${endpoint.status} → ${endpoint.pending_state}`,
    endpoint.current_size_cu === 0 ? "" : `${endpoint.current_size_cu} CU`,
    String(endpoint.connections.direct + endpoint.connections.pooled),
    describeSuspend(endpoint.autosuspend.suspend_in_ms, endpoint.status),
  ]);
  const table =
    rows.length === 0
      ? "no computes; create a project to get one"
      : formatTable(["ENDPOINT", "PROJECT", "BRANCH", "STATUS", "SIZE", "CONNECTIONS", "SUSPENDS IN"], rows);
  return `${now}\n${table}${describeReplacements(endpoints)}${describeData(data)}${describeUpkeep(history)}`;
}

/** A line for each compute that runs another version of Postgres than that of its project. */
function describeReplacements(endpoints: Status["endpoints"]): string {
  return endpoints
    .filter(({ pg_version, running_pg_version: running }) => running !== null && running !== pg_version)
    .map(
      ({ endpoint_id, pg_version, running_pg_version }) =>
        `\n${endpoint_id}: Postgres ${pg_version} was not installed, so it runs ${running_pg_version}`,
    )
    .join("");
}

function describeData(data: Status["data"]): string {
  if (data === null) return "\ndata: only shown with the control token";
  const { volumes, size_bytes, waiting_bytes, limit_bytes } = data;
  if (volumes === 0) return "";
  const limit = limit_bytes === null ? "no limit" : `limit ${formatBytes(limit_bytes)}`;
  const waiting = waiting_bytes === 0 ? "" : `; ${formatBytes(waiting_bytes)} of it are being deleted`;
  return `\ndata: ${formatBytes(size_bytes)} in ${volumes} ${volumes === 1 ? "volume" : "volumes"}, ${limit}${waiting}`;
}

function describeUpkeep(history: Status["history"]): string {
  const failure = history?.upkeep_failure;
  return failure === undefined ? "" : `\nhistory: the last checkpoint or truncation failed: ${failure}`;
}

/** Rounded up to whole seconds. */
function describeSuspend(inMs: number | null, status: string): string {
  if (status === "Idle") return "";
  return inMs === null ? "in use" : formatDuration(Math.ceil(inMs / 1_000) * 1_000);
}
