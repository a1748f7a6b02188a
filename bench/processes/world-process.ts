import { constants, promises } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { openWorlds } from "../../src/app/open-worlds.ts";
import { MINUTE } from "../../src/kernel/time.ts";
import type { Result } from "../../src/platform/catalog/refusal-codes.ts";
import type { Command } from "../../src/platform/rules/commands.ts";
import type { World } from "../../src/platform/world/world.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import { DEFAULT_WORLD } from "../../src/worlds/directory-layout.ts";
import { handleParentRequests } from "./parent-requests.ts";
import { report } from "./report.ts";

/** Opens the worlds of a data directory without an HTTP server. */
export type WorldProcessOptions = { readonly data: string; readonly migrations: string };

/** `pauseMs`: the longest time for which the event loop was blocked. */
export type PauseMeasurement = { readonly elapsedMs: number; readonly pauseMs: number };

const COMMITS = 100;
const USES = 20;
const STARTED_COMPUTES = 1_000;
/** Covers start, query and suspend of a compute. */
const ADVANCE_MS = 15 * MINUTE;
/** The event loop delay is only measured after at least one turn of the loop. */
const SETTLING_MS = 10;
const COPY_NAME = "bench-copy";

const { data, migrations } = JSON.parse(process.argv[2] ?? "") as WorldProcessOptions;
const directory = new DataDirectory(data, migrations);
const { worlds, world } = await openWorlds(directory, {}, report);
const file = join(data, "worlds", `${DEFAULT_WORLD}.sqlite`);
const head = { name: COPY_NAME, from: DEFAULT_WORLD };

handleParentRequests({
  copy: () => measureAndUndo(copy, () => promises.rm(join(data, COPY_NAME))),
  snapshot: () => measureAndUndo(takeSnapshot, () => worlds.removeSnapshot(DEFAULT_WORLD, COPY_NAME)),
  fork: () => measureAndUndo(() => unwrapAsync(worlds.fork(head)), removeFork),
  past: () =>
    measureAndUndo(
      () => unwrapAsync(worlds.fork({ ...head, at: { seq: Math.floor(world.history().seq / 2) } })),
      removeFork,
    ),
  opening,
  commits: () => measurePauses(commitOften),
  advance,
});
process.stdout.write("{}\n");

/** Writes first, so that the write-ahead log is not empty, as in a world in use. */
async function measureAndUndo(work: () => Promise<unknown>, undo: () => unknown): Promise<PauseMeasurement> {
  await recordKeyUses();
  const measurement = await measurePauses(work);
  await undo();
  return measurement;
}

/** Plain copy of the file, durable. */
async function copy(): Promise<void> {
  await promises.copyFile(file, join(data, COPY_NAME), constants.COPYFILE_FICLONE);
  const copied = await promises.open(join(data, COPY_NAME), "r");
  await copied.sync();
  await copied.close();
}

async function takeSnapshot(): Promise<void> {
  await unwrapAsync(worlds.takeSnapshot(DEFAULT_WORLD, COPY_NAME));
}

function removeFork(): void {
  directory.removeWorld(COPY_NAME);
}

/** The first access to a fork opens it. */
async function opening(): Promise<PauseMeasurement> {
  await unwrapAsync(worlds.fork(head));
  const measurement = await measurePauses(() => unwrapAsync(worlds.world(COPY_NAME)));
  await unwrapAsync(worlds.remove(COPY_NAME));
  return measurement;
}

/** One decision per commit. */
async function commitOften(): Promise<void> {
  for (let commit = 0; commit < COMMITS; commit += 1) {
    await executeAll((world) => [
      { type: "CreateApiKey", accountId: firstRow(world.accounts).id, name: "bench", hash: `${world.seq}` },
    ]);
  }
}

/** Thousands of events per commit. */
async function advance(): Promise<PauseMeasurement> {
  const at = world.now() + MINUTE;
  await executeAll(({ computes }) =>
    [...computes.values()].slice(0, STARTED_COMPUTES).map(({ id }) => ({
      type: "ScheduleActivity",
      at,
      activity: { endpointId: id, kind: "query", durationMs: 0 },
    })),
  );
  return measurePauses(() => world.advance({ by: ADVANCE_MS }));
}

/** Commits without events, so that the history does not grow. */
async function recordKeyUses(): Promise<void> {
  for (let use = 0; use < USES; use += 1) {
    await world.transact((turn) => turn.recordKeyUse(firstRow(turn.world.apiKeys).id, `192.0.2.${use}`));
    await world.flush();
  }
}

async function executeAll(commands: (world: World) => readonly Command[]): Promise<void> {
  await world.transact((turn) => {
    for (const command of commands(turn.world)) unwrapResult(turn.execute(command));
  });
}

async function measurePauses(work: () => unknown): Promise<PauseMeasurement> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await sleep(SETTLING_MS);
  const startedAt = performance.now();
  await work();
  const elapsedMs = performance.now() - startedAt;
  await sleep(SETTLING_MS);
  delays.disable();
  return { elapsedMs, pauseMs: delays.max / 1e6 };
}

function firstRow<T>(rows: { values(): Iterator<T> }): T {
  const { value, done } = rows.values().next();
  if (done === true) throw new Error("the table is empty");
  return value;
}

async function unwrapAsync<T>(pending: Result<T> | Promise<Result<T>>): Promise<T> {
  return unwrapResult(await pending);
}

function unwrapResult<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}
