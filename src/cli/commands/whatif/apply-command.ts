import { Command, Option } from "commander";
import { VENDOR_PLANS, type VendorPlan } from "../../../platform/catalog/price-lists.ts";
import { DEFAULT_SUSPEND_TIMEOUT, delayOfSuspendTimeout } from "../../../platform/catalog/suspend-timeout.ts";
import { parseApiUrl } from "../../client/api-access.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { secretParser } from "../../terminal/option-parsers.ts";
import { controlTokenOption, envOption, jsonOption } from "../../terminal/options.ts";
import { print } from "../../terminal/print.ts";
import { invalidValue } from "../../terminal/usage-errors.ts";
import type { ServerTargets } from "../../whatif/apply/apply-delays.ts";
import {
  billText,
  callOf,
  callsText,
  changedSinceLines,
  changesJson,
  changesText,
  planJson,
  planText,
  retainedLines,
  revertCommand,
  serverJson,
  serverLines,
} from "../../whatif/apply/apply-text.ts";
import { CALL_FORMATS, type CallFormat } from "../../whatif/apply/delay-calls.ts";
import { delayChanges } from "../../whatif/apply/delay-changes.ts";
import { readExperimentFile } from "../../whatif/apply/experiment-file.ts";
import { readRevertFile, writeRevertFile } from "../../whatif/apply/revert-file.ts";
import { chosenDelays, DELAY_SETS, type DelaySet, readAnswer } from "../../whatif/apply/saved-answer.ts";
import { setOnServer } from "../../whatif/apply/target-server.ts";

type ApplyOptions = {
  readonly delays: DelaySet;
  readonly plan?: VendorPlan | ExperimentPlanFile;
  readonly revert?: string;
  readonly format?: CallFormat;
  readonly project?: string;
  readonly to?: string;
  readonly apiKey?: string;
  readonly controlToken?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
};

/** A plan file of `whatif experiment`. */
type ExperimentPlanFile = { readonly file: string };

const NO_TARGETS: ServerTargets = { changed: [], unchanged: [], missing: [] };

/** Sets the delays that `whatif curve` recommends, or restores the previous ones. */
export function applyCommand(): Command {
  return new Command("apply")
    .description(
      "print the calls that set the recommended delays, set them on a server, or restore the previous delays",
    )
    .argument(
      "[answer]",
      "answer of whatif curve: its JSON with --by-compute, the directory of its report, or - for stdin",
    )
    .addOption(
      new Option(
        "--delays <which>",
        "which delays to set: one for the fleet, one per compute, or whichever the answer recommends",
      )
        .choices(DELAY_SETS)
        .default("recommended" satisfies DelaySet),
    )
    .addOption(
      new Option(
        "--plan <name|file>",
        `plan of the computes (${VENDOR_PLANS.join(", ")}); delays that it does not allow are rejected (default: that of the answer). Or a plan of whatif experiment: a file that ends in .json, without an answer`,
      ).argParser(parsePlanOption),
    )
    .addOption(
      new Option(
        "--revert <file>",
        "restore the delays in this file, which an earlier run with --to wrote; without an answer",
      ).conflicts(["plan", "project"]),
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

A delay is changed only if the answer's gain for the compute is larger than its
95 % interval, or if a limit of the answer requires it. Before the first change
on a server, its current delays are written to a new file next to the answer.

Examples:
  $ standin whatif curve fleet.csv --by-compute --json > answer.json
  $ standin whatif apply answer.json
  $ standin whatif apply answer.json --format terraform > delays.tf
  $ standin whatif curve --data ./.standin --by-compute --json | standin whatif apply - --to http://127.0.0.1:4620/api/v2
  $ standin whatif apply --plan plan.json --to http://127.0.0.1:4620/api/v2
  $ standin whatif apply report/ --delays fleet --to http://127.0.0.1:4620/api/v2 --dry-run
  $ standin whatif apply --revert answer.revert.json --to http://127.0.0.1:4620/api/v2`,
    )
    .action(async (path: string | undefined, options: ApplyOptions, command: Command) => {
      const { revert, plan } = options;
      checkOptions(options, command);
      await interruptible(async (signal) => {
        if (typeof plan === "object" && path === undefined)
          return applyExperiment(plan.file, options, signal);
        if (revert !== undefined && path === undefined) return restore(revert, options, signal);
        if (revert === undefined && path !== undefined && typeof plan !== "object")
          return applyAnswer(path, plan, options, signal);
        throw new CliError(
          "give either an answer of whatif curve, or --plan with a file of whatif experiment, or --revert with a file",
          true,
        );
      });
    });
}

function checkOptions({ to, format, json, dryRun, revert, plan }: ApplyOptions, command: Command): void {
  const given = (name: string) => command.getOptionValueSource(name) === "cli";
  if (typeof plan === "object" && given("delays"))
    throw new CliError("--delays: the delays are in the file of --plan; omit it", true);
  if (revert !== undefined && given("delays"))
    throw new CliError("--delays: the delays to restore are in the file of --revert; omit it", true);
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

/** Prints the calls that apply an answer, or makes them. */
async function applyAnswer(
  path: string,
  plan: VendorPlan | undefined,
  options: ApplyOptions,
  signal: AbortSignal,
): Promise<void> {
  const answer = await readAnswer(path, signal);
  const changes = delayChanges(answer, chosenDelays(answer, options.delays), plan);
  const { to, project, format, json, dryRun = false } = options;
  if (to === undefined) {
    const targets = changes.changed.map(({ compute, delay }) => ({ compute, delay, projectId: project }));
    return json === true ? printJson(planJson(changes, targets)) : print(planText(changes, targets, format));
  }
  let revertFile: string | undefined;
  const targets =
    changes.changed.length === 0
      ? NO_TARGETS
      : await setOnServer(to, changes.changed, options, signal, (changed) => {
          revertFile = writeRevertFile(path, to, changed);
          return `To restore all of them: ${revertCommand(revertFile, to)}`;
        });
  const isSet = (compute: string) => !targets.missing.includes(compute);
  if (json === true)
    return printJson({
      ...changesJson(changes, isSet),
      ...serverJson(to, dryRun, targets),
      revert_file: revertFile ?? null,
    });
  if (dryRun && format !== undefined) return print(planText(changes, targets.changed, format));
  const lines = [
    ...serverLines(to, dryRun, targets, changes.retained.length),
    ...retainedLines(changes),
    billText(changes, isSet),
    ...(revertFile === undefined
      ? []
      : [`The delays before are in ${revertFile}. To restore them: ${revertCommand(revertFile, to)}`]),
  ];
  print(changesText(lines, dryRun, targets));
}

/** Prints the calls that set the delays of an experiment, or makes them. */
async function applyExperiment(file: string, options: ApplyOptions, signal: AbortSignal): Promise<void> {
  const delays = readExperimentFile(file);
  const { to, project, format, json, dryRun = false } = options;
  if (to === undefined) {
    const targets = delays.map((one) => ({ ...one, projectId: project }));
    return json === true
      ? printJson({ delays: "experiment", calls: targets.map(callOf) })
      : print(callsText(targets, format));
  }
  let revertFile: string | undefined;
  const targets = await setOnServer(to, delays, options, signal, (changed) => {
    revertFile = writeRevertFile(file, to, changed);
    return `To restore all of them: ${revertCommand(revertFile, to)}`;
  });
  if (json === true)
    return printJson({
      delays: "experiment",
      ...serverJson(to, dryRun, targets),
      revert_file: revertFile ?? null,
    });
  if (dryRun && format !== undefined) return print(callsText(targets.changed, format));
  const undo =
    revertFile === undefined
      ? []
      : [`The delays before are in ${revertFile}. To end the experiment: ${revertCommand(revertFile, to)}`];
  print(changesText([...serverLines(to, dryRun, targets), ...undo], dryRun, targets));
}

/** Prints the calls that restore the delays before, or makes them. */
async function restore(file: string, options: ApplyOptions, signal: AbortSignal): Promise<void> {
  const previous = readRevertFile(file);
  const delays = previous.map(({ compute, project, suspend_timeout_seconds }) => ({
    compute,
    projectId: project,
    // The default stays 0: it is set back as the default, not as its length.
    delay: delayOfSuspendTimeout(suspend_timeout_seconds, DEFAULT_SUSPEND_TIMEOUT),
  }));
  const { to, format, json, dryRun = false } = options;
  if (to === undefined)
    return json === true
      ? printJson({ delays: "previous", calls: delays.map(callOf) })
      : print(callsText(delays, format));
  const targets = await setOnServer(
    to,
    delays,
    options,
    signal,
    () => `To restore the others: ${revertCommand(file, to)}`,
  );
  if (json === true) return printJson({ delays: "previous", ...serverJson(to, dryRun, targets) });
  if (dryRun && format !== undefined) return print(callsText(targets.changed, format));
  const byCompute = new Map(previous.map((one) => [one.compute, one]));
  const lines = [...serverLines(to, dryRun, targets), ...changedSinceLines(targets, byCompute)];
  print(changesText(lines, dryRun, targets));
}

function printJson(result: object): void {
  print(`${JSON.stringify(result, null, 2)}\n`);
}

function parsePlanOption(text: string): VendorPlan | ExperimentPlanFile {
  const plan = VENDOR_PLANS.find((name) => name === text);
  if (plan !== undefined) return plan;
  if (text.endsWith(".json")) return { file: text };
  throw invalidValue(`one of ${VENDOR_PLANS.join(", ")}, or a file of whatif experiment that ends in .json`);
}

function parseProjectOption(text: string): string {
  if (/^[A-Za-z0-9][\w-]{0,99}$/.test(text)) return text;
  throw invalidValue("the id of a project, such as quiet-wind-12345678");
}
