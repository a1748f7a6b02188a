import { omitUndefined } from "../kernel/omit-undefined.ts";
import { ACCEPTED, accept, type Refusal, type Result, refuse } from "../platform/catalog/refusal-codes.ts";
import type { HostClock } from "../simulation/host-clock.ts";
import { copyUnavailable, type FailureReport } from "./hosted/store-failure.ts";
import type { HostedWorld } from "./hosted-world.ts";
import type { PendingCopies } from "./pending-copies.ts";
import type { ForkRequest } from "./world-handle.ts";
import { whileReserved } from "./world-snapshots.ts";
import type { ForkSettings, WorldStorage } from "./world-storage.ts";

type WorldForksOptions = {
  readonly storage: WorldStorage;
  readonly limits: { readonly maxWorlds: number; readonly maxWorldBytes: number };
  readonly hostClock: HostClock;
  /** Returns a new unique id. */
  readonly newId: () => string;
  readonly onFailure: FailureReport;
};

type KnownWorlds = {
  readonly world: (name: string) => Result<HostedWorld>;
  readonly names: () => readonly string[];
  /** Worlds that are being created or removed. */
  readonly changing: Set<string>;
};

/** Creates worlds as copies of others. */
export class WorldForks {
  readonly #options: WorldForksOptions;
  readonly #copies: PendingCopies;
  readonly #worlds: KnownWorlds;

  constructor(options: WorldForksOptions, copies: PendingCopies, worlds: KnownWorlds) {
    this.#options = options;
    this.#copies = copies;
    this.#worlds = worlds;
  }

  /** `created` runs while the name is still reserved. */
  async fork<T>({ name, from, at, clock, seed }: ForkRequest, created: () => T): Promise<Result<T>> {
    const { storage, onFailure } = this.#options;
    const origin = this.#worlds.world(from);
    if (!origin.ok) return prefixRefusal("from", origin);
    const room = this.checkRoom(name, from, origin.value.sizeBytes());
    if (!room.ok) return room;
    return whileReserved(this.#worlds.changing, name, async () => {
      await origin.value.flush();
      const rewindTo = at === undefined ? undefined : await origin.value.pointAt(at);
      if (rewindTo?.ok === false) return prefixRefusal("at", rewindTo);
      const settings = this.settings(omitUndefined({ clock, seed, rewindTo: rewindTo?.value }));
      const copied = this.#copies.make(() => storage.fork(from, name, settings));
      const forked = await copied.catch((error: unknown) => {
        const failure = `world "${from}" could not be forked`;
        onFailure(error, failure);
        throw copyUnavailable(from, failure, error);
      });
      if (!forked.ok) return prefixRefusal("at", forked);
      storage.moves?.marks.delete(name);
      return accept(created());
    });
  }

  /** Whether a copy of a world with this size may be created. */
  checkRoom(name: string, from: string, bytes: number): Result<undefined> {
    const { maxWorlds, maxWorldBytes } = this.#options.limits;
    const { changing } = this.#worlds;
    const names = this.#worlds.names();
    if (names.includes(name) || changing.has(name))
      return refuse("WORLD_EXISTS", `name: world "${name}" already exists`);
    if (names.length + changing.size >= maxWorlds)
      return refuse(
        "WORLDS_LIMIT_EXCEEDED",
        `this server is limited to ${maxWorlds} worlds (--max-worlds); delete one first`,
      );
    if (bytes > maxWorldBytes)
      return refuse(
        "WORLD_TOO_LARGE",
        `world "${from}" has ${bytes} bytes; the limit is ${maxWorldBytes} (--max-world-size)`,
      );
    return ACCEPTED;
  }

  /** How a copy that is made now differs from its origin. */
  settings({
    clock,
    ...rest
  }: { clock?: NonNullable<ForkRequest["clock"]> } & Pick<ForkSettings, "seed" | "rewindTo">): ForkSettings {
    const { newId, hostClock } = this.#options;
    return { historyId: newId(), clock: { ...clock, wallNow: hostClock.now() }, ...rest };
  }
}

/** The refusal with the name of the field in front of its message. */
function prefixRefusal(
  field: string,
  { refusal }: { readonly refusal: Refusal },
): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { ...refusal, message: `${field}: ${refusal.message}` } };
}
