import { END_OF_TIME, type SimTime } from "../platform/core/time.ts";

export type ClockMode = "real" | "scaled" | "manual";

export type ClockSetting = { readonly mode: ClockMode; readonly factor: number };

const MAX_FACTOR = 1_000_000;
export const CLOCK_RULE = `must be real, manual, or a factor like 60x, up to ${MAX_FACTOR}x`;

/** `real`, `manual`, or a factor like `60x`; `undefined` for anything else. */
export function parseClockSetting(text: string): ClockSetting | undefined {
  if (text === "real") return { mode: "real", factor: 1 };
  if (text === "manual") return { mode: "manual", factor: 0 };
  const factor = Number(/^(\d+(?:\.\d+)?)x$/.exec(text)?.[1]);
  return factor > 0 && factor <= MAX_FACTOR ? { mode: "scaled", factor } : undefined;
}

/** The stored state of a clock: when wall-clock time was `wallAnchor`, simulated time was `simAnchor`. */
export type ClockState = {
  readonly mode: ClockMode;
  /** Simulated seconds per second of wall-clock time: 1 in `real`, 0 in `manual`. */
  readonly factor: number;
  readonly simAnchor: SimTime;
  readonly wallAnchor: number;
};

/** Wall-clock time in milliseconds since 1970. Injected at the edge; nothing below reads the host's clock. */
export type WallClock = () => number;

/**
 * A world's clock. It never goes backwards: when the host's clock is set back, it stops until the host has
 * caught up.
 */
export class WorldClock {
  #state: ClockState;
  #latest: SimTime;
  readonly #wallClock: WallClock;

  /** `floor` is the latest instant that this world has reached. */
  constructor(state: ClockState, wallClock: WallClock, floor: SimTime = state.simAnchor) {
    this.#state = state;
    this.#wallClock = wallClock;
    this.#latest = Math.max(floor, state.simAnchor);
  }

  get mode(): ClockMode {
    return this.#state.mode;
  }

  get factor(): number {
    return this.#state.factor;
  }

  now(): SimTime {
    const { factor, simAnchor, wallAnchor } = this.#state;
    if (factor === 0) return this.#latest;
    // The clock stops at the end of time.
    const now = Math.min(END_OF_TIME, simAnchor + Math.floor((this.#wallClock() - wallAnchor) * factor));
    if (now > this.#latest) this.#latest = now;
    return this.#latest;
  }

  /** Moves the clock to `to`; an instant in the past has no effect. */
  advanceTo(to: SimTime): void {
    if (to <= this.now()) return;
    this.#anchor(to, this.#state.mode, this.#state.factor);
  }

  /** Continues from the current instant in another mode. */
  setMode(mode: ClockMode, factor: number): void {
    this.#anchor(this.now(), mode, mode === "manual" ? 0 : mode === "real" ? 1 : factor);
  }

  /**
   * Wall-clock time until `at`, in milliseconds; `undefined` on a manual clock, which never gets there by
   * itself.
   */
  wallDelayUntil(at: SimTime): number | undefined {
    const { factor } = this.#state;
    return factor === 0 ? undefined : Math.max(0, (at - this.now()) / factor);
  }

  /** The state to store. A clock created from it shows the same instant or a later one. */
  state(): ClockState {
    const now = this.now();
    const { mode, factor, simAnchor, wallAnchor } = this.#state;
    if (factor === 0) return { mode, factor, simAnchor: now, wallAnchor };
    return { mode, factor, simAnchor, wallAnchor };
  }

  #anchor(simAnchor: SimTime, mode: ClockMode, factor: number): void {
    this.#state = { mode, factor, simAnchor, wallAnchor: this.#wallClock() };
    this.#latest = simAnchor;
  }
}
