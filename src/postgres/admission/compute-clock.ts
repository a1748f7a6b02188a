import { performance } from "node:perf_hooks";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import type { EngineClock } from "../engine/engine.ts";

/** How often the clock is set while there is work, in milliseconds of wall-clock time. */
const INTERVAL_MS = 20;
/**
 * On a manual clock that does not move, work of less wall-clock time takes no time for SQL. Then time continues, because
 * Postgres compares its timeouts with this clock: a deadlock would never end.
 */
const STANDING_MS = 250;

/**
 * Makes the clock of a compute's engine that of its world while sessions work. Between two transactions of all its
 * sessions, time continues for the processes of Postgres that maintain the data, from the world's instant.
 */
export class ComputeClock {
  readonly #world: Pick<WorldHandle, "peek">;
  readonly #clock: () => EngineClock | undefined;
  #isWorking = false;
  #timer: NodeJS.Timeout | undefined;
  /** The clock that work began with at an instant of the world, and since when, in wall-clock time. */
  #standing: { readonly clock: EngineClock; readonly at: number; readonly since: number } | undefined;

  /** `clock`: of the engine that runs now; `undefined` if there is none, or SQL has the machine's clock. */
  constructor(world: Pick<WorldHandle, "peek">, clock: () => EngineClock | undefined) {
    this.#world = world;
    this.#clock = clock;
  }

  /** A session begins work: it begins at the world's instant. */
  workBegins(): void {
    if (!this.#isWorking) this.#standing = undefined;
    this.#isWorking = true;
    this.#show();
  }

  /** An engine was started for the work that has begun: the time of the start is not part of the work. */
  engineStarted(): void {
    this.#standing = undefined;
    if (this.#isWorking) this.#show();
  }

  /** No session works any more. */
  workEnds(): void {
    this.#isWorking = false;
  }

  /** Before the next interval, other work may begin, and needs no change. */
  #tick(): void {
    if (this.#isWorking) {
      this.#show();
      return;
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#standing = undefined;
    this.#clock()?.runFrom(this.#world.peek().now);
  }

  #show(): void {
    const clock = this.#clock();
    if (clock === undefined) return;
    this.#timer ??= setInterval(() => {
      try {
        this.#tick();
      } catch {
        // The world was closed, and its engines are being stopped.
      }
    }, INTERVAL_MS).unref();
    const { now, factor } = this.#world.peek();
    if (factor === 1) {
      this.#standing = undefined;
      clock.runFrom(now);
      return;
    }
    if (this.#standing?.clock !== clock || this.#standing.at !== now)
      this.#standing = { clock, at: now, since: performance.now() };
    const extraMs = performance.now() - this.#standing.since - STANDING_MS;
    if (factor === 0 && extraMs >= 0) clock.runFrom(now + extraMs);
    else clock.standAt(now);
  }
}
