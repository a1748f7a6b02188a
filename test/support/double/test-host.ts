import { type ClockStep, HostClock } from "../../../src/simulation/host-clock.ts";

/** A host whose wall clock and monotonic clock the test moves. */
export class TestHost {
  wall: number;
  monotonic = 0;
  readonly steps: ClockStep[] = [];
  /** The clock of the current process. */
  clock: HostClock;

  constructor(wall: number) {
    this.wall = wall;
    this.clock = this.#boot();
  }

  /** Time passes: both clocks move on. */
  passes(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }

  /** Somebody sets the wall clock, forward or back. */
  setsBy(ms: number): void {
    this.wall += ms;
  }

  /** A new process on the same host. */
  restart(): void {
    this.clock = this.#boot();
  }

  #boot(): HostClock {
    return new HostClock(
      () => this.wall,
      () => this.monotonic,
      (step) => this.steps.push(step),
    );
  }
}
