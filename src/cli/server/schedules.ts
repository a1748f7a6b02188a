import type { PostgresPort } from "../../app/postgres-port.ts";
import { DEFAULT_WORLD } from "../../worlds/directory-layout.ts";
import type { WorldRegistry } from "../../worlds/world-registry.ts";
import type { ScrubResult } from "../history/scrub-worlds.ts";
import type { Log } from "./log.ts";
import type { ServeOptions } from "./options/serve-options.ts";
import type { Scrubber } from "./scrubber.ts";

/** Idle worlds are looked for at least this often, in milliseconds of wall-clock time. */
const MAX_TIDY_INTERVAL_MS = 60_000;
/** An idle world is closed or deleted late by at most this part of its idle time, within that interval. */
const TIDY_PARTS = 4;

/** Unused data of branches is looked for this often, in milliseconds of wall-clock time. */
const VOLUME_REMOVAL_INTERVAL_MS = 3_600_000;

/** Takes a snapshot of the default world at an interval of wall-clock time; only the newest are retained. */
export function scheduleBackups(everyMs: number, retainCount: number, worlds: WorldRegistry, log: Log): void {
  repeat(everyMs, async () => {
    try {
      const backup = await worlds.backUp(DEFAULT_WORLD, retainCount);
      if (backup.ok && backup.value !== undefined) log.info(`took backup ${backup.value.name}`);
    } catch (error) {
      log.error(error, "backup failed; the next one is taken as scheduled");
    }
  });
}

/** Closes idle worlds and deletes expired ones. */
export function scheduleTidying(
  { closeIdle, expireWorlds }: Pick<ServeOptions, "closeIdle" | "expireWorlds">,
  worlds: WorldRegistry,
  log: Log,
): void {
  const shortest = Math.min(...[closeIdle, expireWorlds].filter((ms) => ms > 0));
  if (shortest === Number.POSITIVE_INFINITY) return;
  repeat(Math.min(MAX_TIDY_INTERVAL_MS, shortest / TIDY_PARTS), async () => {
    try {
      await worlds.tidy();
    } catch (error) {
      log.error(error, "closing of idle worlds failed; it is tried again");
    }
  });
}

/** Deletes the data of branches whose recovery period has ended. */
export function scheduleVolumeRemovals(port: PostgresPort): void {
  repeat(VOLUME_REMOVAL_INTERVAL_MS, () => port.removeLeftovers());
}

/** Verifies all worlds in a thread. */
export function scheduleScrubs(everyMs: number, scrubber: Scrubber, log: Log): void {
  repeat(everyMs, async () => {
    try {
      await scrubber.run();
    } catch (error) {
      log.error(error, "the check of the worlds failed; the next one runs as scheduled");
    }
  });
}

/** Counts and logs what a scrub found in a world. */
export function reportScrub({ world, ok, differences }: ScrubResult, worlds: WorldRegistry, log: Log): void {
  worlds.countScrub(ok);
  if (ok) return;
  const [first] = differences;
  log.error(
    new Error(`${first?.where}: ${first?.message}`),
    `the stored world ${world} does not match its journal: ${differences.length} differences; run: standin verify --world ${world}`,
  );
}

/** Runs work at an interval. It never overlaps with itself, even if it takes longer than the interval. */
function repeat(everyMs: number, work: () => Promise<void>): void {
  let isRunning = false;
  setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    await work();
    isRunning = false;
  }, everyMs).unref();
}
