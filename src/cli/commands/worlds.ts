import { Command, Option } from "commander";
import type { PointSelector } from "../../simulation/replay.ts";
import type { ClockSetting } from "../../simulation/world-clock.ts";
import { WORLD_NAME, WORLD_NAME_RULE } from "../../worlds/world-handle.ts";
import { ControlApiError, type ServerTarget, worldPath } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import type { WorldMoveOptions } from "../client/move-world.ts";
import { addTargetCommand } from "../client/target-command.ts";
import { CliError } from "../terminal/cli-error.ts";
import { integerParser, parseClockOption, parseServerUrlOption } from "../terminal/option-parsers.ts";
import { envOption, pointOption } from "../terminal/options.ts";
import { printResult } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";

type WorldsCommandOptions = ServerTarget & { json?: boolean };
type WorldForkOptions = WorldsCommandOptions & {
  at?: PointSelector;
  clock?: ClockSetting;
  seed?: number;
  ifMissing?: boolean;
};

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
  addCreate(worlds);
  addList(worlds);
  addDelete(worlds);
  addMove(worlds);
  return worlds;
}

function addCreate(worlds: Command): void {
  addTargetCommand(worlds, {
    usage: "create <name>",
    description: "fork --world into a new world, at its current state or at an earlier point",
    options: [
      pointOption("--at <point>", "point to fork at, inclusive", "the current state"),
      new Option(
        "--clock <mode>",
        "clock mode: real, manual, or a factor such as 60x (default: that of --world)",
      ).argParser(parseClockOption),
      new Option("--seed <n>", "random seed from the fork on (default: that of --world)").argParser(
        integerParser(0, Number.MAX_SAFE_INTEGER),
      ),
      new Option("--if-missing", "succeed without a change if the world exists"),
    ],
    examples: ["standin worlds create pull-request-7", "standin worlds create earlier --at 4711 --seed 8"],
  }).action(async (given: string, { at, clock, seed, ifMissing, ...options }: WorldForkOptions) => {
    const name = checkWorldName(given);
    const request = {
      from: options.world,
      at: at && ("seq" in at ? at.seq : new Date(at.at).toISOString()),
      clock: clock && formatClockSetting(clock),
      seed,
      if_exists: ifMissing === true ? "keep" : "refuse",
    };
    // By the path of the new world: a router in front of several servers knows from it which one gets the world.
    const { world, created } = await withControlApi({ ...options, world: name }, (call) =>
      callRoute(call, "PUT /world", { body: request }).catch(rethrowWithOption),
    );
    printResult(
      options,
      world,
      `${created ? "created" : "found"} world ${world.name} at event ${world.seq}, ${world.now}; API path: ${worldPath(world.name)}/api/v2`,
    );
  });
}

function addList(worlds: Command): void {
  addTargetCommand(worlds, {
    usage: "list",
    description: "list all worlds",
    examples: ["standin worlds list --json"],
  }).action(async (options: WorldsCommandOptions) => {
    const response = await withControlApi(options, (call) => callRoute(call, "GET /worlds"));
    const rows = response.worlds.map((world) => [
      world.name,
      world.now ?? "",
      String(world.seq ?? ""),
      String(world.size_bytes),
      worldPath(world.name) || "/",
    ]);
    printResult(options, response, formatTable(["NAME", "CLOCK", "EVENT", "BYTES", "PATH"], rows));
  });
}

function addDelete(worlds: Command): void {
  addTargetCommand(worlds, {
    usage: "delete <name>",
    description: "delete a world and its snapshots",
    examples: ["standin worlds delete pull-request-7"],
  }).action(async (name: string, options: WorldsCommandOptions) => {
    const response = await withControlApi(options, (call) =>
      callRoute(call, "DELETE /worlds/:name", { params: [name] }),
    );
    printResult(options, response, `deleted world ${name}`);
  });
}

function addMove(worlds: Command): void {
  addTargetCommand(worlds, {
    usage: "move <name>",
    description: "move a world to another server while it stays in service",
    options: [
      new Option("--to <url>", "URL of the other server").argParser(parseServerUrlOption),
      envOption(
        "--to-control-token <token>",
        "token for the control API of the other server (default: that of --control-token)",
      ),
      new Option("--forget", "serve the name on this server again after a move or an interrupted move"),
    ],
    notes: `Requests wait for the last step, usually less than a second. After it, this server
answers 503 with Retry-After for the world, until a world of this name is
created on it or moves back to it.`,
    examples: ["standin worlds move team-a --to http://10.0.0.2:4620", "standin worlds move team-a --forget"],
  }).action(async (name: string, options: WorldMoveOptions) => {
    const { moveWorld } = await import("../client/move-world.ts");
    const { response, text } = await moveWorld(checkWorldName(name), options);
    printResult(options, response, text);
  });
}

/** Part of a path, so it is checked before a request is sent. */
function checkWorldName(name: string): string {
  if (!WORLD_NAME.test(name))
    throw new CliError(`<name>: ${WORLD_NAME_RULE.replace(/^must be /, "expected ")}, got "${name}"`, true);
  return name;
}

/** The field `from` of the body is the option `--world`. */
function rethrowWithOption(error: unknown): never {
  if (error instanceof ControlApiError)
    throw new ControlApiError(error.message.replace(/^from: /, ""), error.status);
  throw error;
}

function formatClockSetting({ mode, factor }: ClockSetting): string {
  return mode === "scaled" ? `${factor}x` : mode;
}
