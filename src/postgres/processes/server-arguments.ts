/** The first version of Postgres with asynchronous reads. */
const IO_METHOD_SINCE = 18;

/** Arguments of `postgres`: settings of a server, in ascending order of precedence. */
export function serverArguments(
  values: Readonly<Record<string, string | number>>,
  version: number,
): readonly string[] {
  // Worker processes for reads cost more memory than they save time with a local disk.
  const reads = version >= IO_METHOD_SINCE ? { io_method: "sync" } : {};
  return Object.entries({ ...values, ...reads }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** The default of Postgres for both kinds of locks. */
const LOCKS_PER_TRANSACTION = 64;
const FEWEST_LOCKS_PER_TRANSACTION = 10;
/** R: `max_connections` of 1 CU. */
const CONNECTIONS_WITH_ALL_LOCKS = 450;

/**
 * Postgres allocates and writes its tables of locks when it starts, in proportion to `max_connections`: with 4,000
 * connections, 130 MB. All transactions share them, so a compute larger than 1 CU gets the locks of a compute of 1
 * CU, or at least 10 for each connection.
 */
export function lockSettings(maxConnections: number) {
  const locks = Math.max(
    FEWEST_LOCKS_PER_TRANSACTION,
    Math.min(
      LOCKS_PER_TRANSACTION,
      Math.floor((LOCKS_PER_TRANSACTION * CONNECTIONS_WITH_ALL_LOCKS) / maxConnections),
    ),
  );
  return { max_locks_per_transaction: locks, max_pred_locks_per_transaction: locks };
}
