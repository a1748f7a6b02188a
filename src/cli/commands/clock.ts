import { Command, Option } from "commander";
import type { ControlAnswer } from "../../control-api/document/answers.ts";
import { closestMatch } from "../../kernel/text.ts";
import type { ClockSetting } from "../../simulation/world-clock.ts";
import { ControlApiError, type ControlClient, requireServer, type ServerTarget } from "../client/client.ts";
import { callRoute } from "../client/control-route.ts";
import { addTargetCommand } from "../client/target-command.ts";
import { CliError } from "../terminal/cli-error.ts";
import { parseClockOption, parseDurationOption, parseInstantOption } from "../terminal/option-parsers.ts";
import { printResult } from "../terminal/print.ts";

type ClockOptions = ServerTarget & { json?: boolean };
type AdvanceOptions = ClockOptions & { to?: number; next?: boolean };

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
  addShow(clock);
  addSet(clock);
  addAdvance(clock);
  return clock;
}

function addShow(clock: Command): void {
  addTargetCommand(clock, {
    usage: "show",
    description: "show the time and mode of the clock; the default of standin clock",
    examples: ["standin clock show", "standin clock show --json"],
    isDefault: true,
  }).action(async (options: ClockOptions) => {
    const shown = await callRoute((await requireServer(options)).control, "GET /clock");
    printResult(options, shown, describeClock(shown));
  });
}

function addSet(clock: Command): void {
  addTargetCommand(clock, {
    usage: "set",
    description: "change the mode of the clock",
    examples: ["standin clock set manual", "standin clock set 60x"],
  })
    .argument("<mode>", "real, manual, or a factor such as 60x", parseClockOption)
    .action(async ({ mode, factor }: ClockSetting, options: ClockOptions) => {
      const server = await requireServer(options);
      const set = await callRoute(server.control, "PUT /clock", {
        body: mode === "scaled" ? { mode, factor } : { mode },
      });
      printResult(options, set, describeClock(set));
    });
}

function addAdvance(clock: Command): void {
  addTargetCommand(clock, {
    usage: "advance",
    description: "advance the clock and execute all work that becomes due",
    options: [
      new Option("--to <instant>", "advance to this ISO 8601 instant").argParser(parseInstantOption),
      new Option("--next", "advance to the next due work"),
    ],
    examples: [
      "standin clock advance 5m",
      "standin clock advance --to 2026-02-01T09:00:00Z",
      "standin clock advance --next --json",
    ],
  })
    .argument(
      "[by]",
      "time to advance by, with its unit, such as 250ms, 90s, 10m, 2h or 7d",
      parseDurationOption,
    )
    .action(async (by: number | undefined, options: AdvanceOptions) => {
      const target = advanceTarget(by, options);
      const server = await requireServer(options);
      const advanced = await withClockProgress(
        server,
        callRoute(server.control, "POST /clock/advance", { body: target }).catch(nameArgument),
      );
      const isNothingDue = options.next === true && advanced.events.length === 0;
      const lines = [...(isNothingDue ? ["no work is due"] : []), describeAdvance(advanced)];
      printResult(options, advanced, lines.join("\n"));
    });
}

/** The body of the request: one of a duration, an instant, and the next due work. */
function advanceTarget(by: number | undefined, { to, next }: AdvanceOptions): object {
  const targets = [
    by === undefined ? [] : [{ by: `${by}ms` }],
    to === undefined ? [] : [{ to: new Date(to).toISOString() }],
    next === true ? [{ next: true }] : [],
  ].flat();
  const [target] = targets;
  if (target === undefined || targets.length > 1)
    throw new CliError("give exactly one of: a duration such as 5m, --to <instant>, --next", true);
  return target;
}

/** The server names the fields of the request, and a user of the command knows its argument and its option. */
function nameArgument(error: unknown): never {
  if (!(error instanceof ControlApiError)) throw error;
  const message = error.message.replace(/^by: /, "<by>: ").replace(/^to: /, "--to: ");
  throw new ControlApiError(message, error.status);
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
      `unknown command '${subcommand}'${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`,
    );
  if (/^-\d/.test(by))
    throw new CliError(`the clock cannot go backwards: expected a duration such as 5m, got "${by}"`, true);
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
