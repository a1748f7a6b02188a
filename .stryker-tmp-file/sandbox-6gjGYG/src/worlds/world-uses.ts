// @ts-nocheck
import type { HostClock } from "../simulation/host-clock.ts";

type Uses = { active: number; lastAt: number };

/** Which worlds are in use, and when each was last used, by the steady time of the host. */
export class WorldUses {
  readonly #hostClock: HostClock;
  readonly #uses = new Map<string, Uses>();

  constructor(hostClock: HostClock) {
    this.#hostClock = hostClock;
  }

  /** The world is in use until the returned function is called. */
  begin(name: string): () => void {
    const lastAt = this.#hostClock.steady();
    const uses = this.#uses.get(name) ?? { active: 0, lastAt };
    this.#uses.set(name, uses);
    uses.active += 1;
    return () => {
      uses.active -= 1;
      uses.lastAt = this.#hostClock.steady();
    };
  }

  isActive(name: string): boolean {
    return (this.#uses.get(name)?.active ?? 0) > 0;
  }

  /**
   * Time since the last use of a world; `undefined` while it is in use. `writtenAt` is the wall-clock time of
   * the last write to a world that this process has not used yet.
   */
  idleMs(name: string, writtenAt: () => number | undefined): number | undefined {
    const steady = this.#hostClock.steady();
    let uses = this.#uses.get(name);
    if (uses === undefined) {
      const ageMs = this.#hostClock.now() - (writtenAt() ?? this.#hostClock.now());
      // Stored, so that a later step of the host's clock does not make the world older.
      uses = { active: 0, lastAt: steady - Math.max(0, ageMs) };
      this.#uses.set(name, uses);
    }
    return uses.active > 0 ? undefined : steady - uses.lastAt;
  }

  forget(name: string): void {
    this.#uses.delete(name);
  }
}
