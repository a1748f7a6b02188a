import { Command, Option } from "commander";
import type { PointSelector } from "../../simulation/replay.ts";
import { addDataPathOptions, dataPathOf, parsePointOption } from "../terminal/option-parsers.ts";

type ReplayOptions = { world: string; until?: PointSelector; json?: boolean };

/** A world as its journal alone tells it, at any point. */
export function replayCommand(): Command {
  return addDataPathOptions(new Command("replay"))
    .addOption(
      new Option(
        "--until <point>",
        "an ISO 8601 instant or an event's sequence number, included (default: the head)",
      ).argParser(parsePointOption),
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
    .action(
      async (pathArgument: string | undefined, { world, until, json }: ReplayOptions, command: Command) => {
        const { describeReplayedWorld, replayWorld, replayedState } = await import(
          "../history/world-history.ts"
        );
        const replayed = await replayWorld(dataPathOf(pathArgument, command), world, until);
        process.stdout.write(
          `${json === true ? JSON.stringify(replayedState(replayed)) : describeReplayedWorld(replayed)}\n`,
        );
      },
    );
}
