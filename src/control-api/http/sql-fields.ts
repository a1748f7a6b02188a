import type { WorldHandle } from "../../worlds/world-handle.ts";

/** One statement, as a role and in a database of the branch of a compute. */
export type SqlStatement = {
  readonly endpointId: string;
  readonly role: string;
  readonly database: string;
  readonly pooled: boolean;
  /** The application name of the connection. */
  readonly source: string | undefined;
  readonly query: string;
  readonly params: readonly SqlValue[];
  /** Wall-clock time after which the statement is cancelled. */
  readonly timeoutMs: number;
};

type SqlValue = null | boolean | number | string | readonly SqlValue[] | { readonly [key: string]: SqlValue };

/** The result, or the error of Postgres with the fields that SQL over HTTP has, too. */
type SqlOutcome =
  | { readonly rows: readonly SqlValue[]; readonly command: string; readonly rowCount: number | null }
  | { readonly error: { readonly [field: string]: SqlValue } };

/** Executes a statement without a password. A sleeping compute is started; a manual clock moves on for it. */
export type RunStatement = (
  world: WorldHandle,
  statement: SqlStatement,
  signal: AbortSignal,
) => Promise<SqlOutcome>;
