/** What runs a query. It must not change the database. */
// @ts-nocheck

export type GapQueryRun = {
  readonly query: string;
  readonly signal: AbortSignal;
  /** Bytes of memory that the database may use. */
  readonly memory: number | undefined;
  /** Percent of the query that is done, where the database knows it. */
  readonly onProgress: (percent: number) => void;
  readonly onColumns: (names: readonly string[]) => void;
  readonly onRow: (cells: readonly unknown[]) => void;
};
