/** A point in history: an ISO 8601 instant, or the sequence number of an event. */
export type HistoryPoint = string | number;

export type StandinEvent = {
  readonly seq: number;
  /** The instant of the event, ISO 8601. */
  readonly at: string;
  readonly type: string;
  /** Sequence number of the first event of the same decision. */
  readonly decision: number;
  readonly [property: string]: unknown;
};

/** Activity of a client on a compute; see docs/reference/control-api.md. */
export type StandinActivity = {
  readonly endpoint_id: string;
  readonly at?: string;
  readonly kind?: "query" | "transaction" | "connect" | "disconnect";
  readonly duration_ms?: number;
  readonly queries?: number;
  readonly connection_id?: string;
  readonly database?: string;
  readonly pooled?: boolean;
  readonly source?: string;
  readonly load?: number;
  readonly blocks?: { readonly hits?: number; readonly misses?: number; readonly writes?: number };
};

export type ActivityOutcome = {
  readonly endpoint_id: string;
  readonly outcome: "served" | "waits" | "scheduled" | "refused";
  readonly woke?: boolean;
  readonly waited_ms?: number;
  readonly connection_id?: string;
  /** Why the activity was refused. */
  readonly code?: string;
  readonly message?: string;
};

export type ConnectionUriOptions = {
  /** The id or name of a branch, or the id of a compute. Default: the default branch of the only project. */
  readonly branch?: string;
  /** Whether the URI names the pooled host. Default: false. */
  readonly pooled?: boolean;
  /** Default: the owner of the database. */
  readonly role?: string;
  /** Default: the first database of the branch. */
  readonly database?: string;
};

export type StandinSnapshot = {
  readonly name: string;
  readonly now: string;
  readonly seq: number;
  readonly history_id: string;
};

export type ForkOptions = {
  readonly name?: string;
  /** The last point of the origin's history that the fork shares. Default: the newest event. */
  readonly at?: HistoryPoint;
  readonly clock?: string;
  /** Seed of everything that the fork draws (default: the seed of the origin). */
  readonly seed?: number;
};

export type Invariants = {
  readonly ok: boolean;
  readonly checked: number;
  readonly violations: readonly { readonly invariant: string; readonly message: string }[];
};

export type Explanation = {
  readonly at: string;
  /** The explanation in sentences. */
  readonly summary: string;
  readonly reasons: readonly {
    readonly about: string;
    readonly text: string;
    readonly events: readonly number[];
  }[];
  readonly events: readonly StandinEvent[];
};

/** A statement of a Postgres client. Values of parameters, rows and data of COPY are not stored. */
export type StandinStatement = {
  /** Instant of the world's clock at which it ended. */
  readonly at: string;
  /** Id of the compute. */
  readonly endpoint: string;
  readonly database: string;
  readonly role: string;
  /** Text that the client sent, without passwords, cut after 4 KiB. */
  readonly text: string;
  /** The number of parameters. */
  readonly parameters: number;
  readonly outcome:
    | { /** The command tag of Postgres, such as `INSERT 0 1`. */ readonly done: string }
    | { readonly failed: { readonly code: string; readonly message: string } }
    | { /** Why it has no answer. */ readonly lost: string };
};

/** A fault, with the fields of the control API; see docs/reference/faults.md. */
export type StandinFault = {
  readonly on?: {
    /** Ids of operations of the imitated API, or `*`. */
    readonly operation?: string | readonly string[];
    /** Actions of the platform, such as `start_compute`, or `*`. */
    readonly action?: string | readonly string[];
    readonly match?: {
      readonly project_id?: string;
      readonly branch_id?: string;
      readonly endpoint_id?: string;
      readonly account_id?: string;
      readonly org_id?: string;
      readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    };
  };
  readonly when?: {
    readonly first?: number;
    readonly every?: number;
    readonly probability?: number;
    readonly limit?: number;
    readonly from?: string;
    readonly until?: string;
  };
  /** The name of an effect, such as `drop`, or one with its settings, such as `{ answer: { status: 503 } }`. */
  readonly effect: string | { readonly [effect: string]: unknown };
};

/** A fault in force. */
export type StandinFaultInForce = StandinFault & {
  readonly name: string;
  /** The number of requests or operations that it matched, and on which it took effect. */
  readonly seen: number;
  readonly hits: number;
  readonly set_at: string;
};

/** A request to the imitated API. */
export type StandinRequest = {
  readonly number: number;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly operation_id: string | null;
  /** `null`: a fault closed the connection. */
  readonly status: number | null;
  readonly code?: string;
  readonly body?: unknown;
  readonly answered?: unknown;
  /** The fault that took effect. */
  readonly fault?: string;
};

export type RequestFilter = {
  readonly method?: string;
  readonly operation_id?: string;
  /** A status like 423, a class like `4xx`, or `none` for a lost connection. */
  readonly status?: number | string;
  /** A part of the path. */
  readonly path?: string;
  readonly fault?: string;
};

export type StandinEndpoint = {
  readonly endpoint_id: string;
  readonly project_id: string;
  readonly branch_id: string;
  readonly current_state: "init" | "active" | "idle";
  readonly pending_state: "active" | "idle" | null;
  readonly [property: string]: unknown;
};

export type StandinOperation = {
  readonly id: string;
  readonly action: string;
  readonly status: string;
  readonly [property: string]: unknown;
};

export type WaitCondition =
  | { readonly endpoint_id: string; readonly state: "init" | "active" | "idle" }
  /** Waits until the operation ends. */
  | { readonly operation_id: string }
  /** Waits until all operations of the project have ended. */
  | { readonly project_id: string };

/**
 * A world in this process, for tests. Methods reject with a `StandinError` if the control API refuses the
 * call.
 */
export interface Standin {
  /** Base URL of the imitated API. Without a socket, it works only with `fetch` of this object. */
  readonly url: string;
  /** Base URL of the control API. */
  readonly controlUrl: string;
  /** A key of the first account. */
  readonly apiKey: string;
  /**
   * Like the global `fetch`, but in this process. A path such as `/api/v2/projects` or `/_sim/clock` is one of
   * this world; `/w/<name>/…` names another world. Adds `apiKey` to API calls without a key.
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /**
   * Advances the clock by a duration like `5m`, to an instant, or to the next due work. Returns the events on
   * the way.
   */
  advance(
    target: string | { readonly to: string } | { readonly next: true },
  ): Promise<{ readonly now: string; readonly events: StandinEvent[] }>;
  /** Reports one activity, or many at once. */
  activity(activity: StandinActivity): Promise<ActivityOutcome>;
  activity(activities: readonly StandinActivity[]): Promise<ActivityOutcome[]>;
  /** The instant of the world's clock, ISO 8601. */
  now(): Promise<string>;
  /**
   * Waits for a condition. A manual clock is advanced from one due work to the next until the condition holds.
   * Rejects with `TIMED_OUT` after `timeout` of wall-clock time (default: `30s`), with `NOTHING_DUE` if a manual
   * clock has no more due work.
   */
  wait(until: WaitCondition, options?: { readonly timeout?: string }): Promise<{ readonly now: string }>;
  readonly faults: {
    /** Sets a fault; one with the same name is replaced. */
    add(name: string, fault: StandinFault): Promise<StandinFaultInForce>;
    list(): Promise<StandinFaultInForce[]>;
    /** Removes one fault, or all. */
    clear(name?: string): Promise<void>;
  };
  readonly requests: {
    /** The requests to the imitated API, oldest first. */
    list(filter?: RequestFilter): Promise<StandinRequest[]>;
  };
  readonly statements: {
    /**
     * The newest statements of Postgres clients, and of SQL over HTTP, in the order in which they ended. Empty without
     * the option `postgres: true`.
     */
    list(): Promise<StandinStatement[]>;
  };
  readonly endpoints: {
    list(): Promise<StandinEndpoint[]>;
    /** Starts a compute, through the imitated API. Returns the operations that this schedules. */
    start(endpointId: string): Promise<StandinOperation[]>;
    suspend(endpointId: string): Promise<StandinOperation[]>;
    /** Reports one activity of a compute (default: a query). */
    activity(endpointId: string, activity?: Omit<StandinActivity, "endpoint_id">): Promise<ActivityOutcome>;
  };
  /**
   * A connection URI for any Postgres client, with `sslmode=disable`. Requires the option `postgres: true`.
   * Rejects with `BAD_REQUEST` if there is no such branch, role or database.
   */
  connectionUri(options?: ConnectionUriOptions): Promise<string>;
  snapshot(name: string): Promise<StandinSnapshot>;
  /** Restores a snapshot. Returns the name of a new snapshot of the state before. */
  restore(name: string): Promise<string>;
  /**
   * A separate world from a point of this world's history. Ends with its own `close` or with the `close` of
   * this world.
   */
  fork(options?: ForkOptions): Promise<Standin>;
  /** All events after the sequence number `since`. */
  events(since?: number): Promise<StandinEvent[]>;
  state(): Promise<Record<string, unknown>>;
  /** Why a compute or an operation is in its state, now or at a point in history. */
  explain(id: string, at?: HistoryPoint): Promise<Explanation>;
  invariants(): Promise<Invariants>;
  close(): Promise<void>;
}

/**
 * An error answer of the control API, with its code: `POINT_NOT_REACHED`, `SNAPSHOT_EXISTS`, `BAD_REQUEST` …
 */
export class StandinError extends Error {
  override readonly name: string = "StandinError";
  readonly code: string;
  readonly status: number;
  constructor(code: string, message: string, status: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}
