import type { SimTime } from "../kernel/time.ts";
import type { Result } from "../platform/catalog/refusal-codes.ts";
import type { BranchData } from "../platform/model/branch-data.ts";
import type { World } from "../platform/world/world.ts";
import type { Journal } from "../simulation/journal.ts";
import type { HistoryPoint } from "../simulation/replay.ts";
import type { ClockMode, ClockState } from "../simulation/world-clock.ts";
import type { AccountReport } from "./account-report.ts";
import type { MoveFiles } from "./moves/move-files.ts";
import type { SecretBox } from "./secret-box.ts";
import type { ShadowRecord } from "./shadow-record.ts";
import type { SnapshotInfo, StoredWorldInfo } from "./world-handle.ts";

/** The open history of a world. */
export type History = {
  readonly journal: Journal;
  readonly world: World;
  readonly clock?: { readonly state: ClockState; readonly now: SimTime };
  /** Unique per fork. */
  readonly historyId: string;
  /** Encrypts the stored secrets. */
  readonly secretBox: SecretBox;
  /** Size of the write-ahead log, if there is one. */
  readonly walBytes?: () => number;
  /** Makes the stored history independent of its log; absent where there is no log. */
  readonly checkpoint?: () => void;
  readonly close: () => void;
};

/** Opens the history of a world: on first use, and again after a failed commit. */
export type OpenHistory = () => History;

/** How a fork or a restored world differs from its origin. */
export type ForkSettings = {
  readonly historyId: string;
  /** The clock continues from the instant of the copy; mode and factor default to those of the origin. */
  readonly clock: { readonly mode?: ClockMode; readonly factor?: number; readonly wallNow: number };
  /** The seed for later draws; absent: the seed of the origin. */
  readonly seed?: number;
  /** Rewinds the copy to an earlier point. */
  readonly rewindTo?: HistoryPoint;
};

/** Stores worlds and their snapshots: files in a directory, or the memory of this process. */
export interface WorldStorage {
  worlds(): readonly string[];
  history(world: string): OpenHistory;
  /** Summary of a world that is not open. */
  info(world: string): StoredWorldInfo;
  /** References to the data of branches, in a world that is not open or in a snapshot. */
  branchData(world: string, snapshot?: string): readonly BranchData[];
  /** The Postgres version of each project, in a world that is not open. */
  projectVersions(world: string): readonly number[];
  /** Wall-clock time of the last write to a world; `undefined` if that is not stored. */
  writtenAt(world: string): number | undefined;
  /** Deletes a world that is not open, and its snapshots. */
  removeWorld(world: string): void;
  /** Creates a world as a copy of an open one. Refuses a point whose history or data has been deleted. */
  fork(from: string, to: string, fork: ForkSettings): Promise<Result<undefined>>;
  /** Oldest first. */
  snapshotNames(world: string): readonly string[];
  /** Summary of a snapshot that exists. */
  snapshot(world: string, snapshot: string): SnapshotInfo;
  hasSnapshot(world: string, snapshot: string): boolean;
  /** Takes a snapshot of an open world as of its last commit. */
  takeSnapshot(world: string, snapshot: string): Promise<void>;
  removeSnapshot(world: string, snapshot: string): void;
  /**
   * Replaces a world that is not open with a snapshot, and preserves it as the snapshot `previousName`.
   */
  restore(world: string, snapshot: string, previousName: string, fork: ForkSettings): Promise<void>;
  /** The record that `standin shadow` stored about a world that it has written. Absent if worlds are not in files. */
  shadowRecord?(world: string): ShadowRecord | undefined;
  /** The what-if report of the account whose past the world has, if any. Absent if worlds are not in files. */
  accountReport?(world: string): AccountReport;
  /** Absent if worlds are not in files. */
  readonly moves?: MoveFiles;
}
