import { Command, InvalidArgumentError, Option } from "commander";
import { probeServer } from "../../../app/server-probe.ts";
import type { ControlApi } from "../../../ports/server-api.ts";
import { PublicApi } from "../../../remote/client/public-api.ts";
import { delayText, plural } from "../../../whatif/units/number-format.ts";
import { parseApiUrl, withApiKey } from "../../client/api-access.ts";
import { findServer } from "../../client/client.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { secretParser } from "../../terminal/option-parsers.ts";
import { controlTokenOption, envOption, jsonOption } from "../../terminal/options.ts";
import { print } from "../../terminal/print.ts";
import { showProgress } from "../../terminal/progress-display.ts";
import { findComputes, type ServerTargets, setDelays } from "../../whatif/apply-delays.ts";
import {
  CALL_FORMATS,
  type CallFormat,
  callText,
  type DelayTarget,
  suspendTimeoutSeconds,
} from "../../whatif/delay-calls.ts";
import {
  type ChosenDelays,
  chosenDelays,
  DELAY_SETS,
  type DelaySet,
  readAnswer,
} from "../../whatif/saved-answer.ts";

type ApplyOptions = {
  readonly delays: DelaySet;
  readonly format?: CallFormat;
  readonly project?: string;
  readonly to?: string;
  readonly apiKey?: string;
  readonly controlToken?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
};

/** Sets the delays that `whatif curve` recommends. */
export function applyCommand(): Command {
  return new Command("apply")
    .description("print the calls that set the recommended delays, or set them on a server")
    .argument(
      "<answer>",
      "answer of whatif curve: its JSON with --by-compute, the directory of its report, or - for stdin",
    )
    .addOption(
      new Option(
        "--delays <which>",
        "which delays: one for the fleet, one per compute, or the one of both that the answer recommends",
      )
        .choices(DELAY_SETS)
        .default("recommended" satisfies DelaySet),
    )
    .addOption(new Option("--format <name>", "print only these calls (default: all)").choices(CALL_FORMATS))
    .addOption(
      new Option("--project <id>", "project of the computes, for the printed calls (default: a variable)")
        .argParser(parseProjectOption)
        .conflicts("to"),
    )
    .addOption(
      new Option(
        "--to <url>",
        "set the delays on this server: base URL of its API, such as http://127.0.0.1:4620/api/v2",
      ).argParser((text) => parseApiUrl("--to", text)),
    )
    .addOption(
      envOption("--key, --api-key <key>", "API key for --to (default: a temporary key)").argParser(
        secretParser("--key or STANDIN_API_KEY"),
      ),
    )
    .addOption(controlTokenOption())
    .addOption(new Option("--dry-run", "with --to: print the calls for its computes; change nothing"))
    .addOption(new Option("--yes", "with --to: also change a server that is not standin"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The printed shell commands use the variables of "standin env". The Terraform
resources are those of provider kislerdm/neon.

Examples:
  $ standin whatif curve fleet.csv --by-compute --json > answer.json
  $ standin whatif apply answer.json
  $ standin whatif apply answer.json --format terraform > delays.tf
  $ standin whatif curve --data ./.standin --by-compute --json | standin whatif apply - --to http://127.0.0.1:4620/api/v2
  $ standin whatif apply report/ --delays fleet --to http://127.0.0.1:4620/api/v2 --dry-run`,
    )
    .action(async (path: string, options: ApplyOptions, command: Command) => {
      checkOptions(options, command);
      await interruptible(async (signal) => {
        const chosen = chosenDelays(await readAnswer(path, signal), options.delays);
        if (options.to === undefined) return printPlan(chosen, options);
        await applyTo(options.to, chosen, options, signal);
      });
    });
}

function checkOptions({ to, format, json, dryRun }: ApplyOptions, command: Command): void {
  const given = (name: string) => command.getOptionValueSource(name) === "cli";
  if (to === undefined)
    for (const name of ["apiKey", "controlToken", "dryRun", "yes"])
      if (given(name))
        throw new CliError(
          `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} needs --to`,
          true,
        );
  if (format !== undefined && json === true) throw new CliError("give either --format or --json", true);
  if (format !== undefined && to !== undefined && dryRun !== true)
    throw new CliError("--format prints calls; with --to it needs --dry-run", true);
}

function printPlan({ set, delays }: ChosenDelays, { project, format, json }: ApplyOptions): void {
  const targets: DelayTarget[] = delays.map((delay) => ({ ...delay, projectId: project }));
  if (json === true) printJson({ delays: set, calls: targets.map(callOf) });
  else print(format === undefined ? allFormats(targets) : callText(format, targets));
}

async function applyTo(
  to: string,
  { set, delays }: ChosenDelays,
  options: ApplyOptions,
  signal: AbortSignal,
): Promise<void> {
  const { controlToken, apiKey, dryRun = false, yes = false } = options;
  const double = await findDouble(to, controlToken);
  if (double === undefined && !yes && !dryRun)
    throw new CliError(
      `${to} is not a standin server; nothing was changed. Check the calls with --dry-run, then repeat with --yes`,
    );
  await withKey(double, to, apiKey, async (key) => {
    const api = new PublicApi(to, key, signal);
    const targets = await findComputes(api, delays);
    if (targets.missing.length === delays.length)
      throw new CliError(`${to} has none of the ${plural(delays.length, "compute")} of the answer`);
    if (dryRun && options.format !== undefined) return print(callText(options.format, targets.changed));
    if (!dryRun) await withProgress((report) => setDelays(api, double, targets.changed, report));
    if (options.json === true) return printJson(appliedJson(to, set, dryRun, targets));
    print(`${appliedLines(to, dryRun, targets).join("\n")}\n`);
    if (dryRun && targets.changed.length > 0) print(`\n${allFormats(targets.changed)}`);
  });
}

/** The control API of the server if it is standin. */
async function findDouble(to: string, controlToken: string | undefined): Promise<ControlApi | undefined> {
  const live = await probeServer(to.replace(/\/api\/v2$/, ""));
  if (typeof live?.pid !== "number") return undefined;
  // The path of a world is part of the URL.
  return findServer({ data: "", world: "default", url: to, ...(controlToken && { controlToken }) });
}

async function withKey(
  double: ControlApi | undefined,
  to: string,
  apiKey: string | undefined,
  use: (key: string) => Promise<void>,
): Promise<void> {
  if (double !== undefined) return withApiKey(double, apiKey, "standin whatif apply", use);
  if (apiKey === undefined) throw new CliError(`${to} is not a standin server; it needs --key`, true);
  return use(apiKey);
}

async function withProgress(
  use: (report: ReturnType<typeof showProgress>["report"]) => Promise<void>,
): Promise<void> {
  const progress = showProgress("setting delays");
  try {
    await use(progress.report);
  } finally {
    progress.end();
  }
}

function allFormats(targets: readonly DelayTarget[]): string {
  return CALL_FORMATS.map((format) => `${format}:\n\n${callText(format, targets)}`).join("\n");
}

function callOf({ compute, delay, projectId }: DelayTarget) {
  return {
    compute,
    project: projectId ?? null,
    delay_s: delay,
    suspend_timeout_seconds: suspendTimeoutSeconds(delay),
  };
}

function appliedJson(to: string, set: string, dryRun: boolean, targets: ServerTargets) {
  return {
    delays: set,
    api_url: to,
    dry_run: dryRun,
    changed: targets.changed.map((target) => ({
      ...callOf(target),
      previous_suspend_timeout_seconds: target.currentS ?? null,
    })),
    unchanged: targets.unchanged,
    not_found: targets.missing,
  };
}

function appliedLines(to: string, dryRun: boolean, { changed, unchanged, missing }: ServerTargets): string[] {
  return [
    `${to}: ${dryRun ? "would change" : "changed"} ${plural(changed.length, "compute")}, ${unchanged.length} already set, ${missing.length} not found`,
    ...changed.map(
      ({ compute, currentS, delay }) => `${compute}  ${settingText(currentS)} → ${delayText(delay)}`,
    ),
    ...missing.map((compute) => `${compute}  not found`),
    ...(dryRun ? ["dry run: nothing was changed"] : []),
  ];
}

function settingText(seconds: number | undefined): string {
  if (seconds === undefined || seconds === 0) return "default";
  return delayText(seconds < 0 ? "never" : seconds);
}

function printJson(result: object): void {
  print(`${JSON.stringify(result, null, 2)}\n`);
}

function parseProjectOption(text: string): string {
  if (/^[A-Za-z0-9][\w-]{0,99}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be the id of a project, such as quiet-wind-12345678.");
}
