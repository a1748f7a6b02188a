import { END_OF_TIME, type SimTime } from "../kernel/time.ts";
import { type HostClock, MIN_CLOCK_STEP_MS } from "./host-clock.ts";

export type ClockMode = "real" | "scaled" | "manual";

export type ClockSetting = { readonly mode: ClockMode; readonly factor: number };

/** Simulated seconds per second of wall-clock time. */
export const MAX_CLOCK_FACTOR = 1_000_000;
export const CLOCK_RULE = `must be real, manual, or a factor like 60x, up to ${MAX_CLOCK_FACTOR}x`;

/** `real`, `manual`, or a factor like `60x`; `undefined` for anything else. */
export function parseClockSetting(text: string): ClockSetting | undefined {
  if (text === "real") return { mode: "real", factor: 1 };
  if (text === "manual") return { mode: "manual", factor: 0 };
  const factor = Number(/^(\d+(?:\.\d+)?)x$/.exec(text)?.[1]);
  return factor > 0 && factor <= MAX_CLOCK_FACTOR ? { mode: "scaled", factor } : undefined;
}

/** The stored state of a clock: when wall-clock time was `wallAnchor`, simulated time was `simAnchor`. */
export type ClockState = {
  readonly mode: ClockMode;
  /** Simulated seconds per second of wall-clock time: 1 in `real`, 0 in `manual`. */
  readonly factor: number;
  readonly simAnchor: SimTime;
  readonly wallAnchor: number;
};

/**
 * A world's clock. It never goes backwards. While it is open it follows the host's monotonic clock, so that a
 * step of the host's wall clock neither moves nor stops it.
 */
export class WorldClock {
  #mode: ClockMode;
  #factor: number;
  #simAnchor: SimTime;
  /** The steady time at which simulated time was `#simAnchor`. */
  #steadyAnchor: number;
  #latest: SimTime;
  /** The host's offset in the state that was stored last. */
  #storedOffset: number | undefined;
  readonly #host: HostClock;

  /** `floor` is the latest instant that this world has reached. */
  constructor(state: ClockState, host: HostClock, floor: SimTime = state.simAnchor) {
    const now = host.now();
    this.#mode = state.mode;
    this.#factor = state.factor;
    this.#host = host;
    this.#simAnchor = state.simAnchor;
    this.#steadyAnchor = state.wallAnchor - host.wallOffset;
    this.#storedOffset = host.wallOffset;
    this.#latest = Math.max(floor, state.simAnchor);
    if (state.factor === 0) return;
    // The host's clock was set back while the world was closed: the world continues without waiting for it.
    const behindMs = (this.#latest - state.simAnchor) / state.factor - (now - state.wallAnchor);
    if (behindMs <= 0) return;
    this.#anchor(this.#latest);
    this.#storedOffset = undefined;
    if (behindMs > MIN_CLOCK_STEP_MS) host.reportStep(-Math.ceil(behindMs));
  }

  get mode(): ClockMode {
    return this.#mode;
  }

  get factor(): number {
    return this.#factor;
  }

  now(): SimTime {
    if (this.#factor === 0) return this.#latest;
    const elapsed = Math.floor((this.#host.steady() - this.#steadyAnchor) * this.#factor);
    // The clock stops at the end of time.
    const now = Math.min(END_OF_TIME, this.#simAnchor + elapsed);
    if (now > this.#latest) this.#latest = now;
    return this.#latest;
  }

  /** Moves the clock to `to`; an instant in the past has no effect. */
  advanceTo(to: SimTime): void {
    if (to <= this.now()) return;
    this.#anchor(to);
  }

  /** Continues from the current instant in another mode. */
  setMode(mode: ClockMode, factor: number): void {
    const now = this.now();
    this.#mode = mode;
    this.#factor = mode === "manual" ? 0 : mode === "real" ? 1 : factor;
    this.#anchor(now);
  }

  /** Wall-clock time until `at`, in milliseconds; `undefined` on a manual clock, which does not advance by itself. */
  wallDelayUntil(at: SimTime): number | undefined {
    return this.#factor === 0 ? undefined : Math.max(0, (at - this.now()) / this.#factor);
  }

  /** Whether the stored state is wrong after a step: after a restart, the clock would jump by it. */
  get hasUnstoredStep(): boolean {
    return this.#factor !== 0 && this.#storedOffset !== this.#host.wallOffset;
  }

  /** The state to store. A clock created from it shows the same instant or a later one. */
  state(): ClockState {
    const now = this.now();
    this.#storedOffset = this.#host.wallOffset;
    return {
      mode: this.#mode,
      factor: this.#factor,
      simAnchor: this.#factor === 0 ? now : this.#simAnchor,
      wallAnchor: this.#steadyAnchor + this.#host.wallOffset,
    };
  }

  #anchor(simAnchor: SimTime): void {
    this.#steadyAnchor = this.#host.steady();
    this.#simAnchor = simAnchor;
    this.#latest = simAnchor;
  }
}
