import type { SimTime } from "../../kernel/time.ts";
import type { RunningEngine } from "../engine/engine.ts";
import type { FileCacheStatistics } from "../rights/extension.ts";

/** The data that the engine of a compute works on, from before its start until after its exit. */
export interface ComputeCluster {
  readonly branchId: string;
  readonly dataDirectory: string;
  /** The volume that clients write to; absent: they only read. */
  readonly volumeId?: string;
  readonly cacheStatistics: FileCacheStatistics;
  start(): Promise<RunningEngine>;
  /** After each start, before the first client. `onWritten` is called with the length of the log that clients write. */
  prepare(engine: RunningEngine, onWritten: (bytes: number) => void): Promise<void>;
  /** Whether the engine would be started otherwise now. Absent: it is never started ahead. */
  isOutdated?(): Promise<boolean>;
  /** After `prepare`, or if that was not reached. */
  release(): void;
  /** Makes the roles and databases of the engine and of the world the same. */
  syncContent(engine: RunningEngine): Promise<void>;
  /** Whether the role's password may have expired. */
  mayHaveExpired(role: string): boolean;
  /** Whether it has, also by a change that another compute of the branch has just made. */
  hasExpired(engine: RunningEngine, role: string): Promise<boolean>;
  /** Marks what the clients have committed. */
  mark(engine: RunningEngine, idleSince: () => SimTime | undefined): Promise<void>;
  /** The engine has no clients any more and is about to be stopped. */
  ending(engine: RunningEngine): Promise<void>;
  /** The engine has exited, or did not start. */
  ended(): Promise<void>;
}
