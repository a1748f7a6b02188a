import type { Result } from "../platform/catalog/refusal-codes.ts";
import { DEFAULT_WORLD } from "./directory-layout.ts";
import type { HostedWorld } from "./hosted-world.ts";
import { StoreUnavailable, type WorldCounts } from "./world-handle.ts";
import type { WorldStorage } from "./world-storage.ts";
import type { WorldUses } from "./world-uses.ts";

export type IdleLimits = {
  /** A world that is not used for this time is closed until its next use; 0 or absent: never. */
  readonly closeIdleAfterMs?: number;
  /** A world that is not used for this time is deleted; 0 or absent: never. */
  readonly expireAfterMs?: number;
};

export type WorldTidyingOptions = {
  readonly limits: IdleLimits;
  readonly storage: Pick<WorldStorage, "writtenAt">;
  /** Called with the name of each world that was deleted because it expired. */
  readonly onExpired?: ((world: string) => void) | undefined;
};

/** Closes worlds that are idle, and deletes worlds that have expired, and counts both. */
export class WorldTidying {
  readonly #options: WorldTidyingOptions;
  readonly #open: ReadonlyMap<string, HostedWorld>;
  readonly #uses: WorldUses;
  readonly #remove: (name: string) => Promise<Result<true>>;
  #idleClosings = 0;
  #expired = 0;

  constructor(
    options: WorldTidyingOptions,
    open: ReadonlyMap<string, HostedWorld>,
    uses: WorldUses,
    remove: (name: string) => Promise<Result<true>>,
  ) {
    this.#options = options;
    this.#open = open;
    this.#uses = uses;
    this.#remove = remove;
  }

  get counts(): Pick<WorldCounts, "idleClosings" | "expired"> {
    return { idleClosings: this.#idleClosings, expired: this.#expired };
  }

  /** The default world is exempt. */
  async tidy(names: readonly string[]): Promise<void> {
    const { closeIdleAfterMs = 0, expireAfterMs = 0 } = this.#options.limits;
    if (closeIdleAfterMs === 0 && expireAfterMs === 0) return;
    for (const name of names) {
      if (name === DEFAULT_WORLD) continue;
      const world = this.#open.get(name);
      if (world?.isInUse === true) this.#uses.begin(name)();
      const idleMs = this.#uses.idleMs(name, () => this.#options.storage.writtenAt(name));
      if (idleMs === undefined) continue;
      try {
        if (expireAfterMs > 0 && idleMs >= expireAfterMs) await this.#expire(name);
        else if (
          closeIdleAfterMs > 0 &&
          idleMs >= closeIdleAfterMs &&
          (await world?.closeUntilNextUse(() => this.#uses.isActive(name)))
        )
          this.#idleClosings += 1;
      } catch (error) {
        // The next call tries again, and the other worlds do not depend on it.
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    }
  }

  async #expire(name: string): Promise<void> {
    const removed = await this.#remove(name);
    if (!removed.ok) return;
    this.#expired += 1;
    this.#options.onExpired?.(name);
  }
}
