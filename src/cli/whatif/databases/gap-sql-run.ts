import type { ComputePart } from "../../../whatif/trace/gap-sql.ts";

/** Runs a query. Must not change the database. */
export type GapQueryRun = {
  /** The query for all computes, or for a part of them. */
  readonly queryOf: (part?: ComputePart) => string;
  /** The table of the query; not quoted. */
  readonly table: string;
  readonly signal: AbortSignal;
  /** Bytes of memory that the database may use. */
  readonly memory: number | undefined;
  /** Percent of the query that is done, where the database knows it. */
  readonly onProgress: (percent: number) => void;
  /** Before the first row, and again for each part. */
  readonly onColumns: (names: readonly string[]) => void;
  readonly onRow: (cells: readonly unknown[]) => void;
};
