import { setTimeout as sleep } from "node:timers/promises";
import { Command, Option } from "commander";
import {
  addTargetOptions,
  ControlApiError,
  findServer,
  requireServer,
  type ServerTarget,
} from "../client/client.ts";
import { callRoute } from "../client/control-route.ts";
import { CliError } from "../terminal/cli-error.ts";
import { parseDurationOption } from "../terminal/option-parsers.ts";
import { jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type WaitOptions = ServerTarget & {
  endpoint?: string;
  state?: string;
  operation?: string;
  project?: string;
  timeout: number;
  json?: boolean;
};

const POLL_MS = 50;

export function waitCommand(): Command {
  return addTargetOptions(new Command("wait"))
    .addOption(new Option("--endpoint <id>", "id of the compute to wait for; requires --state"))
    .addOption(
      new Option("--state <state>", "state that the compute must reach").choices(["init", "active", "idle"]),
    )
    .addOption(new Option("--operation <id>", "id of an operation that must finish"))
    .addOption(new Option("--project <id>", "id of a project whose operations must all finish"))
    .addOption(
      new Option("--timeout <duration>", "longest wait, in wall-clock time")
        .argParser(parseDurationOption)
        .default(30_000, "30s"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Without --endpoint, --operation and --project, waits until the server is ready.

Exit status: 0 condition met, 1 timed out or impossible, 2 usage error, 130
interrupted by Ctrl-C.

Examples:
  $ standin wait
  $ standin wait --endpoint ep-dawn-king-a527wlyu --state idle --timeout 10m`,
    )
    .action(async (options: WaitOptions) => {
      const condition = waitCondition(options);
      const result =
        condition === undefined ? await waitUntilReady(options) : await waitForCondition(condition, options);
      print(
        options.json === true
          ? `${JSON.stringify(result)}\n`
          : condition === undefined
            ? "ready\n"
            : "condition met\n",
      );
    });
}

function waitCondition({ endpoint, state, operation, project }: WaitOptions) {
  const subjects = [endpoint, operation, project].filter((value) => value !== undefined);
  if (subjects.length > 1) throw new CliError("give only one of --endpoint, --operation and --project", true);
  if ((endpoint === undefined) !== (state === undefined))
    throw new CliError("--endpoint and --state must be given together", true);
  if (endpoint !== undefined) return { endpoint_id: endpoint, state };
  if (operation !== undefined) return { operation_id: operation };
  return project === undefined ? undefined : { project_id: project };
}

async function waitForCondition(condition: object, options: WaitOptions): Promise<unknown> {
  const server = await requireServer(options);
  try {
    return await callRoute(server.control, "POST /wait", {
      body: { until: condition, timeout: `${options.timeout}ms` },
    });
  } catch (error) {
    // Name the option of the command line, not the field of the request.
    if (error instanceof ControlApiError)
      throw new CliError(error.message.replace(/^until\.(\w+)_id:/, "--$1:"));
    throw error;
  }
}

async function waitUntilReady(options: WaitOptions): Promise<unknown> {
  const deadline = performance.now() + options.timeout;
  for (;;) {
    const server = await findServer(options);
    const health = server && (await callRoute(server.control, "GET /health/ready").catch(() => undefined));
    if (health !== undefined) return health;
    if (performance.now() >= deadline)
      throw new CliError(`timed out after ${options.timeout} ms: no server is ready`);
    await sleep(POLL_MS);
  }
}
