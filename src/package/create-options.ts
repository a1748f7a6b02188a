/** Options of a stand-in. The defaults are fixed, so a new world is the same every time. */
export type StandinOptions = {
  /** Decides every id and every duration. Default for a new world: 1. */
  readonly seed?: number;
  /** `manual`, `real`, or a factor like `60x`. Default for a new world: `manual`. */
  readonly clock?: string;
  /** The instant at which the clock starts, ISO 8601. Default for a new world: 2026-01-01T00:00:00Z. */
  readonly startAt?: string;
  /**
   * Use the platform's numbers of this year, or the path of a profile file, such as `standin account calibrate` writes. A
   * file also gives the plan and the limits, unless they are stated here.
   */
  readonly profile?: "2024" | "2026" | (string & {});
  /** Plan of accounts that are created without one. */
  readonly plan?: "paid" | "free";
  /** Whether operations take time. */
  readonly operations?: "timed" | "immediate";
  /**
   * What an operation locks: what it works on, the same but with branches of one parent created in parallel, or
   * its whole project.
   */
  readonly locks?: "narrow" | "parallel-branches" | "project";
  /**
   * Whether the duration of an operation is drawn from a distribution, by the seed, or always the same. Default
   * for a new world: `varied`.
   */
  readonly durations?: "varied" | "constant";
  /**
   * Where recordings of clients contradict the reference, answer as one or the other. Default for a new world:
   * `reference`.
   */
  readonly answers?: "reference" | "recorded";
  /**
   * Time that a suspended compute needs to start: `3s`, `1s..5s` or `3s~0.5`. `profile` restores the
   * profile's value.
   */
  readonly startDelay?: string;
  /**
   * Override limits of the plan: projects per account, the others per project. `plan` restores the plan's
   * limit.
   */
  readonly limits?: {
    readonly projects?: number | "plan";
    readonly branches?: number | "plan";
    readonly endpoints?: number | "plan";
    readonly snapshots?: number | "plan";
  };
  /** The domain of the host names of computes. */
  readonly hostDomain?: string;
  /** An API key that is valid from the start. Default: a new key. */
  readonly apiKey?: string;
  /** Answer 429 above the rate limits of the platform. Default: false. */
  readonly rateLimit?: boolean;
  /** A directory for the files of the worlds. Default: in memory, until the process ends. */
  readonly data?: string;
  /** A port of 127.0.0.1; 0 for a free one; `false` for no socket, only `fetch`. Default: 0. */
  readonly port?: number | false;
  /** Open a free port of 127.0.0.1 for Postgres clients, which requires a Postgres. Default: false. */
  readonly postgres?: boolean | StandinPostgresOptions;
};

export type StandinPostgresOptions = {
  /** The directory of the programs `postgres` and `initdb`. Default: as of `standin serve`. */
  readonly engineBin?: string;
  /**
   * For projects whose version is not installed. `exact`: their clients are rejected. `nearest`: the next newer one
   * runs, else the newest. Default: `exact`.
   */
  readonly engineVersion?: "exact" | "nearest";
  /** `world`: `now()` in SQL is the world's clock, which needs Linux and the library libfaketime. Default: `machine`. */
  readonly sqlClock?: "machine" | "world";
};
