import { setTimeout as sleep } from "node:timers/promises";
import { type Command, Option } from "commander";
import { untilInterrupted } from "../terminal/interrupt.ts";
import { integerParser } from "../terminal/option-parsers.ts";
import { print, printError } from "../terminal/print.ts";
import {
  addTargetOptions,
  ControlApiError,
  type ControlCall,
  requireServer,
  type ServerTarget,
} from "./client.ts";
import { withControlApi } from "./control-client.ts";
import { callRoute } from "./control-route.ts";

/** A numbered list of the control API that only grows, such as the journal. */
export type FollowedList<T> = {
  readonly name: string;
  /** The entries after `since`, oldest first, and the value of `since` that continues them. */
  readonly read: (
    call: ControlCall,
    since: number,
  ) => Promise<{ readonly entries: readonly T[]; readonly next: number }>;
  /** The number of the newest entry. */
  readonly head: (call: ControlCall) => Promise<number>;
  readonly describe: (entry: T) => string;
};

type FollowOptions = ServerTarget & { since?: number; follow?: boolean; json?: boolean };

const POLL_MS = 250;
const RETRY_MS = 1_000;
const UNAVAILABLE = 503;
export const ENTRIES_PER_READ = 1_000;

/** Adds the options of a command that prints a list, once or until Ctrl-C. */
export function addFollowOptions(command: Command, entries: string): Command {
  return addTargetOptions(command)
    .addOption(
      new Option(
        "--since <n>",
        `print the ${entries} after this number (default: all, with --follow only new ones)`,
      ).argParser(integerParser(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(new Option("--follow", `print new ${entries} as they occur, until Ctrl-C`))
    .addOption(new Option("--json", "print one JSON object per line"));
}

/** Prints a list of the world, and its new entries with --follow. */
export async function printList<T>(list: FollowedList<T>, options: FollowOptions): Promise<void> {
  const show = (entries: readonly T[]) =>
    print(
      entries
        .map((entry) => `${options.json === true ? JSON.stringify(entry) : list.describe(entry)}\n`)
        .join(""),
    );
  if (options.follow !== true)
    return withControlApi(
      options,
      async (call) => void (await showAll(list, call, options.since ?? 0, show)),
    );
  const server = await requireServer(options);
  const call = server.control;
  await untilInterrupted((signal) => follow(list, call, options.since, show, signal));
}

async function showAll<T>(
  list: FollowedList<T>,
  call: ControlCall,
  since: number,
  show: (entries: readonly T[]) => void,
): Promise<number> {
  for (let from = since; ; ) {
    const { entries, next } = await list.read(call, from);
    if (entries.length === 0) return from;
    show(entries);
    from = next;
  }
}

/**
 * A restore replaces the history, and its numbers begin again at those of the snapshot. The list then continues
 * at the head of the new history.
 */
async function follow<T>(
  list: FollowedList<T>,
  call: ControlCall,
  since: number | undefined,
  show: (entries: readonly T[]) => void,
  signal: AbortSignal,
): Promise<void> {
  let history = await historyOf(call);
  let from = since ?? (await list.head(call));
  for (;;) {
    signal.throwIfAborted();
    const read = await readOrWait(list, call, from, signal);
    if (read === undefined) continue;
    const { entries, next, current } = read;
    if (current === history) {
      show(entries);
      from = next;
      if (entries.length > 0) continue;
    } else {
      history = current;
      from = await list.head(call);
      printError(`standin: the world was restored; following its new ${list.name} after number ${from}\n`);
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Reads the next entries. Returns nothing, after a pause, while a restore replaces the world. */
async function readOrWait<T>(
  list: FollowedList<T>,
  call: ControlCall,
  from: number,
  signal: AbortSignal,
): Promise<{ readonly entries: readonly T[]; readonly next: number; readonly current: string } | undefined> {
  try {
    const { entries, next } = await list.read(call, from);
    // Read after the entries: those of another history are dropped.
    return { entries, next, current: await historyOf(call) };
  } catch (error) {
    if (!(error instanceof ControlApiError) || error.status !== UNAVAILABLE) throw error;
    printError(`standin: ${error.message}; trying again\n`);
    await sleep(RETRY_MS, undefined, { signal });
    return undefined;
  }
}

async function historyOf(call: ControlCall): Promise<string> {
  const { history } = await callRoute(call, "GET /health/ready");
  return history.id;
}
