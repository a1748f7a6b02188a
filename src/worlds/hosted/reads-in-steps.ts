import { setImmediate as nextTurn } from "node:timers/promises";
import { PastRows } from "../../kernel/past-rows.ts";
import { runToEnd } from "../../kernel/run-to-end.ts";
import type { World } from "../../platform/world/world.ts";
import { StoreUnavailable } from "../world-handle.ts";
import type { LiveWorld } from "./live-world.ts";
import { worldBefore } from "./world-before.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

/** Each of them holds the rows that change in the meantime. Another one is done at once. */
const MAX_READS = 16;
/** Number of changes of rows after which a read is completed at once, because they are kept in memory. */
const MAX_CHANGES = 500_000;

type ReadInSteps = {
  readonly live: LiveWorld;
  readonly past: PastRows;
  /** Returns whether it has ended. */
  readonly step: () => boolean;
  readonly reject: (error: unknown) => void;
};

/** Reads of much of the world as it was at an instant, in steps between which it changes. */
export class ReadsInSteps {
  readonly #lifecycle: WorldLifecycle;
  /** They take turns, so that a short one does not wait for a long one. */
  #reads: ReadInSteps[] = [];

  constructor(lifecycle: WorldLifecycle) {
    this.#lifecycle = lifecycle;
  }

  get areRunning(): boolean {
    return this.#reads.length > 0;
  }

  /** Reads the world as it is now. */
  begin<T>(live: LiveWorld, stepsIn: (world: World) => Generator<undefined, T>): Promise<T> {
    const { world } = live.simulation;
    if (this.#reads.length >= MAX_READS) return Promise.resolve(runToEnd(stepsIn(world)));
    const past = new PastRows();
    world.changes.keepRows(past);
    const steps = stepsIn(worldBefore(past, world));
    const read = new Promise<T>((resolve, reject) => {
      const step = () => {
        const { done, value } = steps.next();
        if (done === true) resolve(value);
        return done === true;
      };
      this.#reads.push({ live, past, step, reject });
    });
    if (this.#reads.length === 1) void this.#takeTurns();
    // Nobody waits for it if the transaction fails afterwards.
    read.catch(() => undefined);
    return read;
  }

  /** One step of one read in each turn of the event loop. */
  async #takeTurns(): Promise<void> {
    for (let [read] = this.#reads; read !== undefined; [read] = this.#reads) {
      await nextTurn();
      const hasEnded = this.#step(read);
      this.#reads = hasEnded ? this.#reads.slice(1) : [...this.#reads.slice(1), read];
    }
  }

  /** Returns whether the read has ended. */
  #step({ live, past, step, reject }: ReadInSteps): boolean {
    let hasEnded = true;
    try {
      this.#check(live, past);
      do hasEnded = this.#lifecycle.guardRead(step);
      while (!hasEnded && past.length > MAX_CHANGES);
    } catch (error) {
      hasEnded = true;
      reject(error);
    }
    if (hasEnded) live.simulation.world.changes.endKeeping(past);
    return hasEnded;
  }

  #check(live: LiveWorld, past: PastRows): void {
    const { name } = this.#lifecycle;
    if (this.#lifecycle.live !== live)
      throw new StoreUnavailable(`world "${name}" was closed while it was read`);
    if (past.isBroken) throw new StoreUnavailable(`world "${name}" was reset while it was read`);
  }
}
