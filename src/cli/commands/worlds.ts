import { Command, Option } from "commander";
import type { Point } from "../../simulation/replay.ts";
import type { ClockSetting } from "../../simulation/world-clock.ts";
import { addTargetOptions, pathOf, type Target } from "../client/client.ts";
import { withControl } from "../client/control-client.ts";
import { clockSetting, integer, jsonOption, point } from "../terminal/option-parsers.ts";
import { formatTable } from "../terminal/text-table.ts";

type Options = Target & { json?: boolean };
type ForkOptions = Options & { at?: Point; clock?: ClockSetting; seed?: number };
type World = { readonly name: string; readonly api_url: string; readonly now?: string; readonly seq?: number; readonly size_bytes: number };

/** Worlds side by side, each forked from a point in another one's history. */
export function worldsCommand(): Command {
  const worlds = new Command("worlds").addHelpText(
    "after",
    `
Examples:
  $ standin worlds create pull-request-7
  $ standin worlds create yesterday --at 2026-01-31T14:03:00Z --clock manual
  $ standin worlds list
  $ standin worlds delete pull-request-7`,
  );
  addTargetOptions(
    worlds
      .command("create <name>")
      .description("fork a world: of --world, at its head or at an earlier point")
      .addHelpText("after", "\nExamples:\n  $ standin worlds create pull-request-7\n  $ standin worlds create earlier --at 4711 --seed 8"),
  )
    .addOption(
      new Option("--at <point>", "an ISO 8601 instant or an event's sequence number, included (default: the head)").argParser(point),
    )
    .addOption(new Option("--clock <mode>", "real, manual, or a factor like 60x (default: its origin's)").argParser(clockSetting))
    .addOption(
      new Option("--seed <n>", "what it draws by from now on (default: its origin's)").argParser(integer(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(jsonOption())
    .action(async (name: string, { at, clock, seed, ...options }: ForkOptions) => {
      const asked = { name, at: at && ("seq" in at ? at.seq : new Date(at.at).toISOString()), clock: clock && pace(clock), seed };
      const { world } = await withControl(options, (call) => call<{ world: World }>("POST", "/worlds", asked));
      print(options, world, `world ${world.name} stands at event ${world.seq}, ${world.now}; its API is at ${pathOf(world.name)}/api/v2`);
    });
  addTargetOptions(
    worlds.command("list").description("show all worlds").addHelpText("after", "\nExamples:\n  $ standin worlds list --json"),
  )
    .addOption(jsonOption())
    .action(async (options: Options) => {
      const answer = await withControl(options, (call) => call<{ worlds: World[] }>("GET", "/worlds"));
      const rows = answer.worlds.map((world) => [
        world.name,
        world.now ?? "",
        String(world.seq ?? ""),
        String(world.size_bytes),
        pathOf(world.name) || "/",
      ]);
      print(options, answer, formatTable(["NAME", "CLOCK", "EVENT", "BYTES", "PATH"], rows));
    });
  addTargetOptions(
    worlds
      .command("delete <name>")
      .description("delete a world and its snapshots")
      .addHelpText("after", "\nExamples:\n  $ standin worlds delete pull-request-7"),
  )
    .addOption(jsonOption())
    .action(async (name: string, options: Options) => {
      const answer = await withControl(options, (call) => call("DELETE", `/worlds/${encodeURIComponent(name)}`));
      print(options, answer, `deleted ${name}`);
    });
  return worlds;
}

function pace({ mode, factor }: ClockSetting): string {
  return mode === "scaled" ? `${factor}x` : mode;
}

function print({ json }: Options, answer: unknown, text: string): void {
  process.stdout.write(`${json === true ? JSON.stringify(answer) : text}\n`);
}
