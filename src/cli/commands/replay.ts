import { Command, Option } from "commander";
import type { Point } from "../../simulation/replay.ts";
import { addPlaceOptions, placeOf, point } from "../terminal/option-parsers.ts";

type Options = { world: string; until?: Point; json?: boolean };

/** A world as its journal alone tells it, at any point. */
export function replayCommand(): Command {
  return addPlaceOptions(new Command("replay"))
    .addOption(
      new Option("--until <point>", "an ISO 8601 instant or an event's sequence number, included (default: the head)").argParser(point),
    )
    .addOption(new Option("--json", "the whole world, as GET /_sim/state has it"))
    .addHelpText(
      "after",
      `
It only looks: a server may have the directory open. A sequence number within one decision means the whole of it.

Examples:
  $ standin replay
  $ standin replay .standin --until 2026-01-31T14:03:00Z
  $ standin replay .standin --until 4711 --json`,
    )
    .action(async (given: string | undefined, { world, until, json }: Options, command: Command) => {
      const { describeReplayed, replayWorld, stateOf } = await import("../history/open-history.ts");
      const replayed = await replayWorld(placeOf(given, command), world, until);
      process.stdout.write(`${json === true ? JSON.stringify(stateOf(replayed)) : describeReplayed(replayed)}\n`);
    });
}
