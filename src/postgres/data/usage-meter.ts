import type { Volumes } from "../volumes/volumes.ts";
import type { DataLimit } from "./data-limit.ts";

/** In milliseconds of wall-clock time. */
const INTERVAL_MS = 10_000;

export type UsageMeterOptions = {
  readonly volumes: Volumes;
  readonly limit: DataLimit;
  /** Ends the sessions of the engine that uses a volume, and stops it. */
  readonly stopEngineOn: (volumeId: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

/** Measures the volumes in the background, and stops the compute that has grown most if they exceed the limit by far. */
export class UsageMeter {
  readonly #options: UsageMeterOptions;
  readonly #timer: NodeJS.Timeout;
  /** Sizes of volumes when the limit was last not exceeded, in bytes. */
  readonly #allowed = new Map<string, number>();
  isMeasuring = false;

  constructor(options: UsageMeterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.measure(), INTERVAL_MS).unref();
    void this.measure();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async measure(): Promise<void> {
    if (this.isMeasuring) return;
    this.isMeasuring = true;
    try {
      await this.#measure();
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.isMeasuring = false;
    }
  }

  async #measure(): Promise<void> {
    const { volumes, limit, stopEngineOn } = this.#options;
    const { usage } = volumes;
    const stored = volumes.stored();
    await usage.measure(stored);
    if (limit.problem === undefined) {
      this.#allowed.clear();
      for (const id of stored) this.#allowed.set(id, usage.bytesOf(id));
    } else if (limit.isFarExceeded) {
      const largest = this.#largestGrowth();
      if (largest !== undefined) await stopEngineOn(largest);
    }
  }

  /** The volume with a running engine that has grown most since its last allowed size. On a tie, the first one. */
  #largestGrowth(): string | undefined {
    const { usage } = this.#options.volumes;
    const growth = (id: string) => usage.bytesOf(id) - (this.#allowed.get(id) ?? 0);
    const grown = usage.inUse().filter((id) => growth(id) > 0);
    return grown.sort((one, other) => growth(other) - growth(one))[0];
  }
}
