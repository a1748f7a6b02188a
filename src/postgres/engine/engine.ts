/** Runs Postgres for a compute. Knows data directories and processes, but no world. */
export interface Engine {
  /** The major versions that can be run, in ascending order. */
  readonly versions: readonly number[];
  /** An empty cluster of the version that is installed instead of `version`. It never changes. */
  emptyCluster(version: number): Promise<string>;
  /** Copies a cluster into a directory that does not exist yet. */
  copyCluster(request: CopyRequest): Promise<void>;
  /** The same, but replays the copied log up to `position`, as far as the log can still be continued. */
  advanceCluster(request: AdvanceRequest): Promise<void>;
  /** Start of the log that a stopped cluster needs, in bytes. */
  logStart(base: string): number;
  /** Deletes the log of a cluster that was stopped, except the segment that it continues with. */
  dropLog(cluster: string): Promise<void>;
  /** Deletes the complete segments of a log that no cluster needs. */
  trimLog(archive: string, needed: readonly NeededLog[]): Promise<void>;
  /** Starts the cluster. Resolves when it accepts connections. */
  start(request: StartRequest): Promise<RunningEngine>;
  /**
   * Starts a copy of a running cluster as a hot standby of it. Resolves when it has replayed the log up to `until`,
   * and accepts connections that only read.
   */
  startStandby(request: StandbyRequest): Promise<RunningStandby>;
  /** Creates the view of the cache statistics in the platform's own database, if it is missing. */
  ensureExtension(engine: RunningEngine): Promise<void>;
  /** Stops a process that another server left running on this directory. Returns whether there was one. */
  stopLeftover(dataDirectory: string): Promise<boolean>;
  /** Removes the directory of the sockets. All processes must have been stopped. */
  close(): void;
}

export type CopyRequest = {
  /** A cluster that was stopped cleanly. */
  readonly base: string;
  readonly to: string;
  /** The copy is going to replay what follows the log, too, so it shares no file. */
  readonly follows?: boolean;
  /** A directory for the complete segments of the copied log; absent: the copy gets them only. */
  readonly archive?: string;
  /** The log since the base, up to a position; absent: the copy is the base itself. */
  readonly log?: {
    /** Complete segments. */
    readonly archive: string;
    /** The data directory of the cluster that writes the log. It may be in use. */
    readonly dataDirectory: string;
    readonly until: string;
  };
};

export type AdvanceRequest = Required<Pick<CopyRequest, "base" | "to" | "log">> & {
  /** Before the end of the copied log. */
  readonly position: string;
};

/** The log that follows a cluster, up to a position in bytes, which may be infinite. */
export type NeededLog = { readonly base: string; readonly until: number };

export type StartRequest = {
  readonly dataDirectory: string;
  /** Direct connections that Postgres accepts. Its own session does not count. */
  readonly maxConnections: number;
  readonly logicalReplication: boolean;
  /** Absent: the defaults. */
  readonly settings?: EngineSettings;
  /** The instant that its clock begins with, in milliseconds since 1970; absent: it has the machine's clock. */
  readonly startsAt?: number;
  /** For work of standin on a copy that no log is retained of; default: false. */
  readonly isScratch?: boolean;
  /** When workers of subscriptions connect: after `unblockSubscriptions`, or from the start on. Absent: never. */
  readonly subscriptions?: "blocked" | "connect";
};

/** Settings of Postgres that clients may replace, for a major version. */
export type EngineSettings = (version: number) => Readonly<Record<string, string>>;

export type StandbyRequest = {
  /** A copy with log. Complete segments of the primary are in the directory `wal` beside it. */
  readonly dataDirectory: string;
  /** Connections that the standby accepts, also fewer than its primary. */
  readonly maxConnections: number;
  /** The most that any primary has. */
  readonly mostConnections: number;
  /** The most worker processes that any primary has. */
  readonly mostWorkers: number;
  readonly settings: EngineSettings;
  /** In `pg_stat_replication` of the primary. */
  readonly name: string;
  readonly primary: EngineAddress;
  readonly until: string;
  readonly startsAt?: number;
  /** Writes a checkpoint of the primary, and returns a later position of its log. */
  readonly checkpoint: () => Promise<string>;
};

/** A Postgres process that accepts connections. */
export interface RunningEngine {
  /** The Unix socket or port that clients are relayed to. */
  readonly address: EngineAddress;
  readonly pid: number;
  /** Undefined if the engine has the machine's clock. */
  readonly clock: EngineClock | undefined;
  /** Time from the spawn of the process until it accepted connections, in milliseconds of wall-clock time. */
  readonly startMs: number;
  /** Resolves when the process has exited, for whatever reason, with its last log lines. */
  readonly exited: Promise<string>;
  /**
   * Runs statements as the superuser, in a database in which clients can create nothing, in the order of the calls.
   * Such a session is not a client. Throws `StatementRejected`.
   */
  query: AdminQuery;
  /**
   * Runs statements as the superuser in a database that clients write to. The statements must not call code of clients,
   * which would have the rights of the superuser. The session ends with `work`.
   */
  inDatabase<T>(database: string, work: (query: AdminQuery) => Promise<T>): Promise<T>;
  /** Ends the sessions of `inDatabase`, and opens none until the end of the absence. */
  keepOutOfDatabases(): Absence;
  /** Whether `inDatabase` waits now. */
  readonly isBarredFromDatabases: boolean;
  /** Called before each session of a client in a database: from then on, the cluster shares no file of it. */
  openToClients(database: string): Promise<void>;
  /** Lets the workers of subscriptions connect, if they were blocked at the start. */
  unblockSubscriptions(): void;
  /** Runs a script as a role of the cluster, in one transaction. Throws `ScriptError`. */
  runScript(sql: string, database: string, role: string): Promise<void>;
  /**
   * The position that the log has now. Everything that was committed before is durable when this resolves.
   */
  logPosition(): Promise<string>;
  /**
   * Processor time of all its processes so far, in milliseconds, in steps of 10 ms; `undefined` where the system
   * has no `/proc`.
   */
  cpuMs(): number | undefined;
  /** Closes all sessions and waits for the exit of the process. */
  stop(): Promise<void>;
}

/** A process that replays the log of another one, also while it has sessions. */
export interface RunningStandby extends RunningEngine {
  /** Its primary was started again, at this address. */
  follow(primary: EngineAddress): Promise<void>;
  /** Resolves when the log is replayed up to a position. Throws `TooFewConnections`. */
  replayed(lsn: string): Promise<void>;
}

/** The clock of an engine's processes. Instants are milliseconds since 1970. */
export interface EngineClock {
  /** Stops the clock at an instant. */
  standAt(at: number): void;
  /** Continues from an instant at the pace of the machine's clock. */
  runFrom(at: number): void;
}

export type Row = Readonly<Record<string, string | null>>;

/** Runs statements as the superuser, in one transaction, and returns the rows of the last one. */
export type AdminQuery = (sql: string) => Promise<readonly Row[]>;

export type EngineAddress = { readonly path: string };

/** Statements of a user failed. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
  /** Line of the statement that failed; the first line is 1. Undefined if it is unknown. */
  readonly line: number | undefined;

  constructor(message: string, line: number | undefined) {
    super(message);
    this.line = line;
  }
}

/** Postgres rejected a statement of the superuser. The message does not contain the statement. */
export class StatementRejected extends Error {
  override readonly name = "StatementRejected";
  /** The SQLSTATE. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** The superuser of every cluster. It is not a role of the platform, and no client can log in as it. */
export const SUPERUSER = "cloud_admin";

/** A group with the privileges that roles created by the platform have. */
export const PLATFORM_GROUP = "platform_superuser";

/** A database of an empty cluster, which becomes its first database. */
export const SPARE_DATABASE = "standin_spare";

/** Postgres could not be found, started or stopped. The message is for the operator. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

/** A standby does not replay the log any further: within it, the primary has more connections than the standby. */
export class TooFewConnections extends EngineError {}

/** The database of the superuser's sessions that need none in particular. Clients can create nothing in it. */
export const ADMIN_DATABASE = "postgres";

/** Databases that every cluster has. The superuser owns the spare one until a client gets it. */
export const OWN_DATABASES = ["postgres", "template0", "template1", SPARE_DATABASE] as const;

/** Whether every cluster has this role, so that no client may be it. */
export function isOwnRole(name: string): boolean {
  return name === SUPERUSER || name === PLATFORM_GROUP || name.startsWith("pg_");
}

/** Keeps sessions of the server out of the databases of clients until `end`. */
export type Absence = {
  /** Resolves when no session is open any more. */
  readonly begun: Promise<void>;
  end(): void;
};
