import { Command, Option } from "commander";
import { nearest } from "../../platform/core/text.ts";
import type { ClockSetting } from "../../simulation/world-clock.ts";
import { addTargetOptions, type ControlClient, requireServer, type Target } from "../client/client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { clockSetting, durationMs, instant, jsonOption } from "../terminal/option-parsers.ts";

type Clock = { readonly now: string; readonly mode: string; readonly factor: number; readonly next_due: string | null };
type Advanced = {
  readonly now: string;
  readonly events: readonly {
    readonly at: string;
    readonly type: string;
    readonly endpoint_id?: string;
    readonly operation?: { readonly action: string; readonly endpoint_id?: string };
  }[];
  readonly next_since?: number;
};
type Options = Target & { json?: boolean };

/** The clock that users hold. */
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
  clock.hook("preSubcommand", ({ args: [verb = "", by = ""] }) => refuseAtOnce(clock, verb, by));
  addTargetOptions(
    clock
      .command("show", { isDefault: true })
      .description("what time it is in the world; clock alone does it, too")
      .addHelpText("after", "\nExamples:\n  $ standin clock show\n  $ standin clock show --json"),
  )
    .addOption(jsonOption())
    .action(async (options: Options) => print(options, await (await requireServer(options)).call<Clock>("GET", "/clock"), describe));
  addTargetOptions(
    clock
      .command("set")
      .argument("<mode>", "real, manual, or a factor like 60x", clockSetting)
      .description("how the clock goes from now on")
      .addHelpText("after", "\nExamples:\n  $ standin clock set manual\n  $ standin clock set 60x"),
  )
    .addOption(jsonOption())
    .action(async ({ mode, factor }: ClockSetting, options: Options) => {
      const server = await requireServer(options);
      print(options, await server.call<Clock>("PUT", "/clock", mode === "scaled" ? { mode, factor } : { mode }), describe);
    });
  addTargetOptions(
    clock
      .command("advance")
      .argument("[by]", "for how long: 90s, 10m, 2h, 7d; a bare number is milliseconds", durationMs)
      .description("move the clock on and do what falls due")
      .addHelpText(
        "after",
        "\nExamples:\n  $ standin clock advance 5m\n  $ standin clock advance --to 2026-02-01T09:00:00Z\n  $ standin clock advance --next --json",
      ),
  )
    .addOption(new Option("--to <instant>", "up to this instant").argParser(instant))
    .addOption(new Option("--next", "up to the next due work"))
    .addOption(jsonOption())
    .action(async (by: number | undefined, options: Options & { to?: number; next?: boolean }) => {
      const targets = [
        by === undefined ? [] : [{ by }],
        options.to === undefined ? [] : [{ to: new Date(options.to).toISOString() }],
        options.next === true ? [{ next: true }] : [],
      ].flat();
      if (targets.length !== 1) throw new CliError("say one of: a duration like 5m, --to <instant>, --next", true);
      const server = await requireServer(options);
      const advanced = await withProgress(server, server.call<Advanced>("POST", "/clock/advance", targets[0]));
      print(options, advanced, describeAdvance);
    });
  return clock;
}

/** A verb that there is none of would be an argument too many of the default one, and a time that goes back an option. */
function refuseAtOnce(clock: Command, verb: string, by: string): void {
  const verbs = clock.commands.map((command) => command.name());
  const near = nearest(verb, verbs);
  if (!verb.startsWith("-") && ![...verbs, ""].includes(verb))
    clock.error(`error: unknown command '${verb}'${near === undefined ? "" : `\n(Did you mean ${near}?)`}`);
  if (/^-\d/.test(by)) throw new CliError(`the clock never goes backwards: "${by}" must be a duration like 5m`, true);
}

function print<T>({ json }: Options, answer: T, describeAnswer: (answer: T) => string): void {
  process.stdout.write(`${json === true ? JSON.stringify(answer) : describeAnswer(answer)}\n`);
}

function describe({ now, mode, factor, next_due }: Clock): string {
  const pace = mode === "scaled" ? `${factor}x` : mode;
  return `${now} (${pace}), ${next_due === null ? "nothing is due" : `next due ${next_due}`}`;
}

const PROGRESS_AFTER_MS = 2_000;

/** Says on the terminal how far a long advance has come. */
async function withProgress<T>(server: ControlClient, work: Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work;
  let shown = false;
  const timer = setInterval(async () => {
    const health = await server.call<{ now: string }>("GET", "/health").catch(() => undefined);
    if (health === undefined) return;
    shown = true;
    process.stderr.write(`\r… the clock stands at ${health.now}`);
  }, PROGRESS_AFTER_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (shown) process.stderr.write("\n");
  }
}

function describeAdvance({ now, events, next_since }: Advanced): string {
  const lines = events.map((event) =>
    [event.at, event.type, event.operation?.action, event.endpoint_id ?? event.operation?.endpoint_id].filter(Boolean).join("  "),
  );
  const more = next_since === undefined ? [] : [`… more: GET /_sim/events?since=${next_since}`];
  return [...lines, ...more, `the clock stands at ${now}`].join("\n");
}
