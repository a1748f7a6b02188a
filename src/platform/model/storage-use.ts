import type { DurationMs, SimTime } from "../../kernel/time.ts";

/** Bytes that a branch stores at an instant. */
export type StorageLevels = {
  /** The data of a branch without a parent. */
  readonly root: number;
  /** Data that a branch with a parent stores in addition to the data of its parent. */
  readonly child: number;
  /** Log that is retained to restore earlier instants. */
  readonly history: number;
  /** The size of the databases, including data that is stored in the parent. */
  readonly logical: number;
};

/** Storage over time, in bytes × milliseconds. The values exceed the exact integers, so sums are rounded. */
export type StorageUse = StorageLevels & {
  /** Storage is booked up to this instant. */
  readonly until: SimTime;
};

export const NO_STORAGE: StorageLevels = { root: 0, child: 0, history: 0, logical: 0 };

/** Bytes stored in all branches together, as the deprecated fields report them. */
export function storedBytes({ root, child, history }: StorageLevels): number {
  return root + child + history;
}

export function addLevels(one: StorageLevels, other: StorageLevels): StorageLevels {
  return {
    root: one.root + other.root,
    child: one.child + other.child,
    history: one.history + other.history,
    logical: one.logical + other.logical,
  };
}

export function storageUseOf(levels: StorageLevels, ms: DurationMs, until: SimTime): StorageUse {
  return {
    root: levels.root * ms,
    child: levels.child * ms,
    history: levels.history * ms,
    logical: levels.logical * ms,
    until,
  };
}

export function addStorage(one: StorageUse | undefined, other: StorageUse | undefined) {
  if (one === undefined || other === undefined) return one ?? other;
  return { ...addLevels(one, other), until: Math.max(one.until, other.until) };
}

/** `undefined` if nothing was stored in between. */
export function storageSince(
  total: StorageUse | undefined,
  before: StorageUse | undefined,
): StorageUse | undefined {
  if (total === undefined || before === undefined) return total;
  const since = {
    root: total.root - before.root,
    child: total.child - before.child,
    history: total.history - before.history,
    logical: total.logical - before.logical,
  };
  return storedBytes(since) === 0 && since.logical === 0 ? undefined : { ...since, until: total.until };
}
