import type { SimTime } from "../../kernel/time.ts";
import type { BranchData } from "./branch-data.ts";

/** Describes the stored data of a branch. */
export type DataDescription = {
  /** The major version of Postgres that wrote the data. */
  readonly pgVersion: number;
  /** The latest instant whose data is known to be stored. */
  readonly asOf: SimTime;
  /** Whether nothing was written after `asOf`. */
  readonly isExact: boolean;
  /** Bytes on disk; 0 if the branch only refers to the data of another branch. */
  readonly sizeBytes: number;
  /** Number of positions that are known by their instant, since `since`. */
  readonly points: number;
  /** Absent: since the volume exists. */
  readonly since?: SimTime;
};

/**
 * The instant at which the log of a branch had reached a position, from the marks of its volume; `undefined` if the
 * branch has no log there.
 */
export type FindWritten = (row: BranchData, lsn: string, now: SimTime) => SimTime | undefined;

/** The major version of Postgres that runs for the data of a branch; `undefined` if nothing is stored. */
export type FindDataVersion = (row: BranchData) => number | undefined;

/** `undefined` if nothing is stored. */
export type DescribeBranchData = (row: BranchData) => Promise<DataDescription | undefined>;
