import { Command, Option } from "commander";
import type { ControlAnswer } from "../../control-api/document/answers.ts";
import { closestMatch } from "../../kernel/text.ts";
import type { ClockSetting } from "../../simulation/world-clock.ts";
import { addTargetOptions, type ControlClient, requireServer, type ServerTarget } from "../client/client.ts";
import { callRoute } from "../client/control-route.ts";
import { CliError } from "../terminal/cli-error.ts";
import { parseClockOption, parseDurationOption, parseInstantOption } from "../terminal/option-parsers.ts";
import { jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type ClockOptions = ServerTarget & { json?: boolean };

export function clockCommand(): Command {
  const clock = new Command("clock").addHelpText(
    "after",
    `
Examples:
  $ standin clock show
  $ standin clock advance 5m
  $ standin clock advance --to 2026-02-01T09:00:00Z
  $ standin clock advance --next
  $ standin clock set manual`,
  );
  clock.hook("preSubcommand", ({ args: [subcommand = "", by = ""] }) =>
    checkSubcommand(clock, subcommand, by),
  );
  addTargetOptions(
    clock
      .command("show", { isDefault: true })
      .description("show the time and mode of the clock; the default of standin clock")
      .addHelpText("after", "\nExamples:\n  $ standin clock show\n  $ standin clock show --json"),
  )
    .addOption(jsonOption())
    .action(async (options: ClockOptions) =>
      printResult(
        options,
        await callRoute((await requireServer(options)).control, "GET /clock"),
        describeClock,
      ),
    );
  addTargetOptions(
    clock
      .command("set")
      .argument("<mode>", "real, manual, or a factor such as 60x", parseClockOption)
      .description("change the mode of the clock")
      .addHelpText("after", "\nExamples:\n  $ standin clock set manual\n  $ standin clock set 60x"),
  )
    .addOption(jsonOption())
    .action(async ({ mode, factor }: ClockSetting, options: ClockOptions) => {
      const server = await requireServer(options);
      printResult(
        options,
        await callRoute(server.control, "PUT /clock", {
          body: mode === "scaled" ? { mode, factor } : { mode },
        }),
        describeClock,
      );
    });
  addTargetOptions(
    clock
      .command("advance")
      .argument(
        "[by]",
        "time to advance by, with its unit, such as 250ms, 90s, 10m, 2h or 7d",
        parseDurationOption,
      )
      .description("advance the clock and execute all work that becomes due")
      .addHelpText(
        "after",
        "\nExamples:\n  $ standin clock advance 5m\n  $ standin clock advance --to 2026-02-01T09:00:00Z\n  $ standin clock advance --next --json",
      ),
  )
    .addOption(new Option("--to <instant>", "advance to this ISO 8601 instant").argParser(parseInstantOption))
    .addOption(new Option("--next", "advance to the next due work"))
    .addOption(jsonOption())
    .action(async (by: number | undefined, options: ClockOptions & { to?: number; next?: boolean }) => {
      const targets = [
        by === undefined ? [] : [{ by: `${by}ms` }],
        options.to === undefined ? [] : [{ to: new Date(options.to).toISOString() }],
        options.next === true ? [{ next: true }] : [],
      ].flat();
      if (targets.length !== 1)
        throw new CliError("give exactly one of: a duration such as 5m, --to <instant>, --next", true);
      const server = await requireServer(options);
      const advanced = await withClockProgress(
        server,
        callRoute(server.control, "POST /clock/advance", { body: targets[0] }),
      );
      const isNothingDue = options.next === true && advanced.events.length === 0;
      printResult(options, advanced, (result) =>
        [...(isNothingDue ? ["no work is due"] : []), describeAdvance(result)].join("\n"),
      );
    });
  return clock;
}

/**
 * Reports an unknown subcommand and a negative duration, which commander would take for an argument or an
 * option.
 */
function checkSubcommand(clock: Command, subcommand: string, by: string): void {
  const subcommands = clock.commands.map((command) => command.name());
  const suggestion = closestMatch(subcommand, subcommands);
  if (!subcommand.startsWith("-") && ![...subcommands, ""].includes(subcommand))
    clock.error(
      `unknown command '${subcommand}'${suggestion === undefined ? "" : `\n(Did you mean ${suggestion}?)`}`,
    );
  if (/^-\d/.test(by))
    throw new CliError(`the clock cannot go backwards: expected a duration such as 5m, got "${by}"`, true);
}

function printResult<T>({ json }: ClockOptions, result: T, describeResult: (result: T) => string): void {
  print(`${json === true ? JSON.stringify(result) : describeResult(result)}\n`);
}

function describeClock({ now, mode, factor, next_due }: ControlAnswer<"GET /clock">): string {
  const modeText = mode === "scaled" ? `${factor}x` : mode;
  return `${now} (${modeText}), ${next_due === null ? "no work is due" : `next work due ${next_due}`}`;
}

const PROGRESS_AFTER_MS = 2_000;

/** Shows the time of the world on the terminal during a long advance. */
async function withClockProgress<T>(server: ControlClient, work: Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work;
  let isShown = false;
  const timer = setInterval(async () => {
    const health = await callRoute(server.control, "GET /health").catch(() => undefined);
    if (health === undefined) return;
    isShown = true;
    process.stderr.write(`\radvancing: ${health.now}`);
  }, PROGRESS_AFTER_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (isShown) process.stderr.write("\n");
  }
}

function describeAdvance({ now, events, next_since }: ControlAnswer<"POST /clock/advance">): string {
  const lines = events.map((event) =>
    [event.at, event.type, event.operation?.action, event.endpoint_id ?? event.operation?.endpoint_id]
      .filter(Boolean)
      .join("  "),
  );
  const more = next_since === undefined ? [] : [`(more events: GET /_sim/events?since=${next_since})`];
  return [...lines, ...more, `clock: ${now}`].join("\n");
}
