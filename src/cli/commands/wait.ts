import { setTimeout as sleep } from "node:timers/promises";
import { Command, Option } from "commander";
import {
  addTargetOptions,
  ControlApiError,
  findServer,
  requireServer,
  type ServerTarget,
} from "../client/client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { jsonOption, parseDurationOption } from "../terminal/option-parsers.ts";

type WaitOptions = ServerTarget & {
  endpoint?: string;
  state?: string;
  operation?: string;
  project?: string;
  timeout: number;
  json?: boolean;
};

const POLL_MS = 50;

/** For scripts: until the server answers, or until its world is as one wants it. */
export function waitCommand(): Command {
  return addTargetOptions(new Command("wait"))
    .addOption(new Option("--endpoint <id>", "a compute, with --state"))
    .addOption(new Option("--state <state>", "the state it must be in").choices(["init", "active", "idle"]))
    .addOption(new Option("--operation <id>", "an operation that must be over"))
    .addOption(new Option("--project <id>", "a project all whose operations must be over"))
    .addOption(
      new Option("--timeout <duration>", "how long at most, by the wall")
        .argParser(parseDurationOption)
        .default(30_000, "30s"),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Ends with 0 when it is so, 1 where it is not in time or cannot be, 2 where the command line is not understood; Ctrl-C ends it by the signal (130).

Examples:
  $ standin wait
  $ standin wait --endpoint ep-silent-smoke-80663912 --state idle --timeout 10m`,
    )
    .action(async (options: WaitOptions) => {
      const condition = waitCondition(options);
      const result =
        condition === undefined ? await waitUntilReady(options) : await waitForCondition(condition, options);
      process.stdout.write(
        options.json === true
          ? `${JSON.stringify(result)}\n`
          : condition === undefined
            ? "ready\n"
            : "so it is\n",
      );
    });
}

function waitCondition({ endpoint, state, operation, project }: WaitOptions) {
  const subjects = [endpoint, operation, project].filter((value) => value !== undefined);
  if (subjects.length > 1)
    throw new CliError("wait for one of --endpoint, --operation, --project at a time", true);
  if ((endpoint === undefined) !== (state === undefined))
    throw new CliError("--endpoint and --state go together", true);
  if (endpoint !== undefined) return { endpoint_id: endpoint, state };
  if (operation !== undefined) return { operation_id: operation };
  return project === undefined ? undefined : { project_id: project };
}

async function waitForCondition(condition: object, options: WaitOptions): Promise<unknown> {
  const server = await requireServer(options);
  try {
    return await server.call("POST", "/wait", { until: condition, timeout: options.timeout });
  } catch (error) {
    // Who gave an option is not told of a field.
    if (error instanceof ControlApiError)
      throw new CliError(error.message.replace(/^until\.(\w+)_id:/, "--$1:"));
    throw error;
  }
}

async function waitUntilReady(options: WaitOptions): Promise<unknown> {
  const deadline = performance.now() + options.timeout;
  for (;;) {
    const server = await findServer(options);
    const health = await server?.call("GET", "/health/ready").catch(() => undefined);
    if (health !== undefined) return health;
    if (performance.now() >= deadline) throw new CliError(`no server was ready within ${options.timeout} ms`);
    await sleep(POLL_MS);
  }
}
