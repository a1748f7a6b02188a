import { existsSync, statfsSync } from "node:fs";
import { formatBytes } from "../volumes/format-bytes.ts";
import type { Volumes } from "../volumes/volumes.ts";

/** Limit for all volumes of a server: bytes, a share of the disk, or none. */
export type MaxData = number | { readonly share: number } | "none";

/** The default leaves a part of the disk to the worlds, and to what running computes write. */
export const DEFAULT_MAX_DATA: MaxData = { share: 0.8 };

/** Running computes may exceed the limit by this factor, so that their clients can delete rows. */
const TOLERANCE = 1.1;

/** The limit over all volumes of a server. */
export class DataLimit {
  readonly #volumes: Volumes;
  readonly #maxData: MaxData;

  constructor(volumes: Volumes, maxData: MaxData) {
    this.#volumes = volumes;
    this.#maxData = maxData;
  }

  /** Limit in bytes; undefined if unlimited. */
  get bytes(): number | undefined {
    if (this.#maxData === "none") return undefined;
    if (typeof this.#maxData === "number") return this.#maxData;
    const free = this.#freeBytes();
    return free === undefined
      ? undefined
      : Math.floor(this.#maxData.share * (this.#volumes.usage.bytes + free));
  }

  /** Why no data may be added; `undefined` if it may. */
  get problem(): string | undefined {
    const { bytes: used } = this.#volumes.usage;
    // Without data there is nothing to delete.
    if (used === 0) return undefined;
    const limit = this.bytes;
    if (limit === undefined || used < limit) return undefined;
    return `data limit exceeded: the data of branches takes ${formatBytes(used)}, and this server allows ${formatBytes(limit)} (--max-data); delete branches permanently (hard_delete=true) or worlds`;
  }

  /** Whether running computes have to stop, too. */
  get isFarExceeded(): boolean {
    const { bytes: used } = this.#volumes.usage;
    const limit = this.bytes;
    return limit !== undefined && used > 0 && used >= limit * TOLERANCE;
  }

  /** Undefined if there is no data yet, so no directory. */
  #freeBytes(): number | undefined {
    const { root } = this.#volumes;
    if (!existsSync(root)) return undefined;
    const { bavail, bsize } = statfsSync(root);
    return bavail * bsize;
  }
}
