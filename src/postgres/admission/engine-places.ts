import type { DataLimit } from "../data/data-limit.ts";
import { ConnectionRejected, dataLimitExceeded, engineUnavailable } from "../protocol/errors.ts";

export type EngineFigures = {
  /** Postgres processes that run. */
  readonly engines: number;
  readonly engineStarts: number;
  /** Time until the started processes accepted connections, in milliseconds of wall-clock time. */
  readonly engineStartMs: number;
};

type EnginePlacesOptions = {
  /** Postgres processes that may run at the same time. */
  readonly maxEngines: number;
  readonly dataLimit: DataLimit;
  /** Stops an engine without sessions. Resolves with whether there was one. */
  readonly stopUnusedEngine: () => Promise<boolean>;
};

/** The engines of all worlds: how many run, and whether another one may start. */
export class EnginePlaces {
  readonly #options: EnginePlacesOptions;
  #running = 0;
  #starts = 0;
  #startMs = 0;

  constructor(options: EnginePlacesOptions) {
    this.#options = options;
  }

  /** Stops engines without sessions if all places are taken. The returned function gives the place back. */
  async reserve(): Promise<() => void> {
    const { maxEngines, dataLimit, stopUnusedEngine } = this.#options;
    const { problem } = dataLimit;
    if (problem !== undefined) throw new ConnectionRejected(dataLimitExceeded(problem));
    while (this.#running >= maxEngines) {
      const stopped = await stopUnusedEngine();
      if (!stopped)
        throw new ConnectionRejected(
          engineUnavailable(
            `${maxEngines} Postgres processes are running, which is the limit (--max-engines); wait until a compute suspends`,
          ),
        );
    }
    this.#running += 1;
    let isFree = false;
    return () => {
      if (!isFree) this.#running -= 1;
      isFree = true;
    };
  }

  countStart(startMs: number): void {
    this.#starts += 1;
    this.#startMs += startMs;
  }

  figures(): EngineFigures {
    return { engines: this.#running, engineStarts: this.#starts, engineStartMs: this.#startMs };
  }
}
