import type { SimTime } from "../../kernel/time.ts";
import type { LiveWorld } from "./live-world.ts";

/** The longest delay that a timer of Node supports. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One wall-clock timer that fires when the next work of a world is due. */
export class DueTimer {
  readonly #onDue: () => void;
  #armed: { readonly at: SimTime; readonly timer: NodeJS.Timeout } | undefined;

  constructor(onDue: () => void) {
    this.#onDue = onDue;
  }

  /** Sets the timer to the next due work; without any, or on a manual clock, clears it. */
  arm({ simulation, clock }: LiveWorld): void {
    const at = simulation.nextDue();
    if (at === this.#armed?.at) return;
    this.disarm();
    const delayMs = at === undefined ? undefined : clock.wallDelayUntil(at);
    if (at === undefined || delayMs === undefined) return;
    const timer = setTimeout(
      () => {
        this.#armed = undefined;
        this.#onDue();
      },
      Math.min(Math.ceil(delayMs), MAX_TIMER_MS),
    );
    this.#armed = { at, timer: timer.unref() };
  }

  disarm(): void {
    clearTimeout(this.#armed?.timer);
    this.#armed = undefined;
  }
}
