/** Disk space of the data of branches and its limit, for all worlds of the server, in bytes. */
export type DataUsage = {
  readonly volumes: number;
  readonly bytes: number;
  /** Bytes of volumes that no world needs any more. */
  readonly waitingBytes: number;
  /** Undefined if unlimited. */
  readonly limitBytes: number | undefined;
};

/** Figures of the port for Postgres clients, for all worlds of the server. */
export type PostgresFigures = {
  readonly connections: number;
  /** Connections that the server has ended with an error, by SQLSTATE. */
  readonly errors: ReadonlyMap<string, number>;
  /** Postgres processes that run. */
  readonly engines: number;
  readonly engineStarts: number;
  /** Time until the started processes accepted connections, in milliseconds of wall-clock time. */
  readonly engineStartMs: number;
};
