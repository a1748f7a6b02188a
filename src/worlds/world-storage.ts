import type { SimTime } from "../platform/core/time.ts";
import type { World } from "../platform/core/world.ts";
import type { Journal } from "../simulation/journal.ts";
import type { HistoryPoint } from "../simulation/replay.ts";
import type { ClockMode, ClockState } from "../simulation/world-clock.ts";
import type { SnapshotInfo, StoredWorldInfo } from "./world-handle.ts";

/** A world's history, open. */
export type History = {
  readonly journal: Journal;
  readonly world: World;
  readonly clock?: { readonly state: ClockState; readonly now: SimTime };
  /** Another one for every copy that goes its own way. */
  readonly historyId: string;
  readonly close: () => void;
};

/** How a world gets at its history: opened at the start, and again after a commit has failed. */
export type OpenHistory = () => History;

/** What makes a copy a history of its own. */
export type ForkSettings = {
  readonly historyId: string;
  /** Goes on from where the copy stands, in its own mode or another one. */
  readonly clock: { readonly mode?: ClockMode; readonly factor?: number; readonly wallNow: number };
  /** What the copy draws by from then on. */
  readonly seed?: number;
  /** Takes the copy back to an earlier point: what the world was then. */
  readonly past?: { readonly head: HistoryPoint; readonly world: World };
};

/** Where worlds and their snapshots are kept: files in a directory, or the memory of this process. */
export interface WorldStorage {
  worlds(): readonly string[];
  history(world: string): OpenHistory;
  /** Of a world that nobody has open. */
  info(world: string): StoredWorldInfo;
  /** Nobody has it open. Its snapshots go with it. */
  removeWorld(world: string): void;
  /** Makes a world out of another one that is open. */
  fork(from: string, to: string, fork: ForkSettings): Promise<void>;
  /** Oldest first. */
  snapshots(world: string): readonly SnapshotInfo[];
  hasSnapshot(world: string, snapshot: string): boolean;
  /** Keeps an open world as it is at its last commit. */
  takeSnapshot(world: string, snapshot: string): Promise<void>;
  removeSnapshot(world: string, snapshot: string): void;
  /** Puts a snapshot in the place of a world that nobody has open, and keeps the former one as the snapshot `former`. */
  restore(world: string, snapshot: string, previousName: string, fork: ForkSettings): Promise<void>;
}
