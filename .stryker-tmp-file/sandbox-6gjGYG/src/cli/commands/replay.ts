// @ts-nocheck
import { Command, Option } from "commander";
import type { PointSelector } from "../../simulation/replay.ts";
import { addDataPathOptions, dataPathOf, pointOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type ReplayOptions = { world: string; until?: PointSelector; json?: boolean };

export function replayCommand(): Command {
  return addDataPathOptions(new Command("replay"))
    .addOption(pointOption("--until <point>", "last point to replay, inclusive", "the current state"))
    .addOption(new Option("--json", "print the whole world as JSON, in the format of GET /_sim/state"))
    .addHelpText(
      "after",
      `
Only reads the data directory; a server may be running on it. Events of one
command are never split: if --until names one of them, all are replayed.

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
        print(
          `${json === true ? JSON.stringify(replayedState(replayed)) : describeReplayedWorld(replayed)}\n`,
        );
      },
    );
}
