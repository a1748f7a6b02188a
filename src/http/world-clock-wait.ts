import { setTimeout as sleep } from "node:timers/promises";
import type { SimTime } from "../kernel/time.ts";
import { StoreUnavailable, type WorldHandle } from "../worlds/world-handle.ts";

/** The longest sleep between two readings of the world's clock, which others may move. */
const MAX_SLEEP_MS = 50;

/**
 * Waits until the world's clock has reached an instant. The caller itself advances a manual clock: the work
 * that is due on the way runs, and the caller continues exactly at that instant.
 */
export async function waitUntil(world: WorldHandle, until: SimTime): Promise<void> {
  while (world.now() < until) {
    if (world.isShuttingDown) throw new StoreUnavailable(`world "${world.name}" is closing`);
    const { mode, factor } = await world.clock();
    if (mode === "manual") {
      // The end of time comes first: the clock is as late as it can be.
      if ((await world.advance({ to: until })) === undefined) return;
    } else await sleep(Math.min(MAX_SLEEP_MS, Math.ceil((until - world.now()) / factor)));
  }
}
