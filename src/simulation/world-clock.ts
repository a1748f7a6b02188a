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

/** What has to be stored of a clock: at the wall's `wallAnchor` the world's clock stood at `simAnchor`. */
export type ClockState = {
  readonly mode: ClockMode;
  /** Simulated seconds in a second of the wall: 1 in `real`, 0 in `manual`. */
  readonly factor: number;
  readonly simAnchor: SimTime;
  readonly wallAnchor: number;
};

/** The wall's clock, in milliseconds since 1970: handed in at the edge, read nowhere else. */
export type WallClock = () => number;

/**
 * A world's clock. It never goes backwards: where the host's clock is set back, it stands still until the host has caught up.
 */
export class WorldClock {
  #state: ClockState;
  #latest: SimTime;
  readonly #wallClock: WallClock;

  /** `floor` is the latest instant that this world is known to have reached. */
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
    // At the end of time it stands still.
    const now = Math.min(END_OF_TIME, simAnchor + Math.floor((this.#wallClock() - wallAnchor) * factor));
    if (now > this.#latest) this.#latest = now;
    return this.#latest;
  }

  /** Moves on to `to`; an instant that is over already leaves the clock where it is. */
  advanceTo(to: SimTime): void {
    if (to <= this.now()) return;
    this.#anchor(to, this.#state.mode, this.#state.factor);
  }

  /** Goes on from the present instant in another way. */
  setMode(mode: ClockMode, factor: number): void {
    this.#anchor(this.now(), mode, mode === "manual" ? 0 : mode === "real" ? 1 : factor);
  }

  /** How long the wall has to wait until `at`, in milliseconds; `undefined` where waiting does not help. */
  wallDelayUntil(at: SimTime): number | undefined {
    const { factor } = this.#state;
    return factor === 0 ? undefined : Math.max(0, (at - this.now()) / factor);
  }

  /** For the store: a clock made from it with the same wall shows the same instant, or a later one. */
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
