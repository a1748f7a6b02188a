import { constants, promises } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { openWorlds } from "../../src/app/compose.ts";
import type { Command } from "../../src/platform/commands.ts";
import { MINUTE } from "../../src/platform/core/time.ts";
import type { World } from "../../src/platform/core/world.ts";
import type { Result } from "../../src/platform/refusals.ts";
import { DataDirectory, DEFAULT_WORLD } from "../../src/worlds/data-directory.ts";
import { answerParent } from "./answering.ts";

/** The worlds of a data directory, in service but for a socket. */
export type KeeperOptions = { readonly data: string; readonly migrations: string };

/** What something took, and for how long at most it let nobody else get a word in. */
export type Kept = { readonly elapsedMs: number; readonly pauseMs: number };

const COMMITS = 100;
const USES = 20;
const WOKEN = 1_000;
/** Until they are awake, have answered and sleep again. */
const ADVANCE_MS = 15 * MINUTE;
/** For the watch to see the loop run before and after. */
const AROUND_MS = 10;
const NAME = "kept";

const { data, migrations } = JSON.parse(process.argv[2] ?? "") as KeeperOptions;
const directory = new DataDirectory(data, migrations);
const { worlds, world } = await openWorlds(directory, {}, report);
const file = join(data, "worlds", `${DEFAULT_WORLD}.sqlite`);
const head = { name: NAME, from: DEFAULT_WORLD };

answerParent({
  copy: () => kept(copy, () => promises.rm(join(data, NAME))),
  snapshot: () => kept(takeSnapshot, () => worlds.removeSnapshot(DEFAULT_WORLD, NAME)),
  fork: () => kept(() => must(worlds.fork(head)), removeFork),
  past: () => kept(() => must(worlds.fork({ ...head, at: { seq: Math.floor(world.history().seq / 2) } })), removeFork),
  opening,
  commits: () => watched(commitOften),
  advance,
});
process.stdout.write("{}\n");

/** Something has been written since the last copy and is still in the log, as in a world that is used. */
async function kept(work: () => Promise<unknown>, undo: () => unknown): Promise<Kept> {
  await useKey();
  const took = await watched(work);
  await undo();
  return took;
}

/** The least that a copy on the disk takes. */
async function copy(): Promise<void> {
  await promises.copyFile(file, join(data, NAME), constants.COPYFILE_FICLONE);
  const copied = await promises.open(join(data, NAME), "r");
  await copied.sync();
  await copied.close();
}

async function takeSnapshot(): Promise<void> {
  await must(worlds.takeSnapshot(DEFAULT_WORLD, NAME));
}

function removeFork(): void {
  directory.removeWorld(NAME);
}

/** A fork is opened by the first who asks for it. */
async function opening(): Promise<Kept> {
  await must(worlds.fork(head));
  const took = await watched(() => must(worlds.world(NAME)));
  await must(worlds.remove(NAME));
  return took;
}

/** Commits of a decision each. */
async function commitOften(): Promise<void> {
  for (let commit = 0; commit < COMMITS; commit += 1) {
    await give((world) => [{ type: "CreateApiKey", accountId: first(world.accounts).id, name: "bench", hash: `${world.seq}` }]);
  }
}

/** Commits of thousands of events, as an advance makes them. */
async function advance(): Promise<Kept> {
  const at = world.now() + MINUTE;
  await give(({ computes }) =>
    [...computes.values()]
      .slice(0, WOKEN)
      .map(({ id }) => ({ type: "ScheduleActivity", at, activity: { endpointId: id, kind: "query", durationMs: 0 } })),
  );
  return watched(() => world.advance({ by: ADVANCE_MS }));
}

/** Commits that leave no history: the world stays the size that it is. */
async function useKey(): Promise<void> {
  for (let use = 0; use < USES; use += 1) {
    await world.turn((turn) => turn.noteKeyUse(first(turn.world.apiKeys).id, `192.0.2.${use}`));
    await world.flush();
  }
}

async function give(commands: (world: World) => readonly Command[]): Promise<void> {
  await world.turn((turn) => {
    for (const command of commands(turn.world)) ok(turn.execute(command));
  });
}

async function watched(work: () => unknown): Promise<Kept> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await sleep(AROUND_MS);
  const startedAt = performance.now();
  await work();
  const elapsedMs = performance.now() - startedAt;
  await sleep(AROUND_MS);
  delays.disable();
  return { elapsedMs, pauseMs: delays.max / 1e6 };
}

function first<T>(rows: { values(): Iterator<T> }): T {
  const { value, done } = rows.values().next();
  if (done === true) throw new Error("the world lacks what every world has");
  return value;
}

async function must<T>(asked: Result<T> | Promise<Result<T>>): Promise<T> {
  return ok(await asked);
}

function ok<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
}
