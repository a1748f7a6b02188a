import type { DurationMs, SimTime } from "../../kernel/time.ts";

/** Storage of the snapshots of a project's branches over time. */
export type SnapshotUse = {
  /** Charged bytes × milliseconds. These exceed the exact integers, so sums are rounded. */
  readonly byteMs: number;
  /** Storage is booked up to this instant. */
  readonly until: SimTime;
};

export function snapshotUseOf(bytes: number, ms: DurationMs, until: SimTime): SnapshotUse {
  return { byteMs: bytes * ms, until };
}

export function addSnapshotUse(one: SnapshotUse | undefined, other: SnapshotUse | undefined) {
  if (one === undefined || other === undefined) return one ?? other;
  return { byteMs: one.byteMs + other.byteMs, until: Math.max(one.until, other.until) };
}

/** `undefined` if nothing was stored in between. */
export function snapshotUseSince(
  total: SnapshotUse | undefined,
  before: SnapshotUse | undefined,
): SnapshotUse | undefined {
  if (total === undefined || before === undefined) return total;
  const byteMs = total.byteMs - before.byteMs;
  return byteMs === 0 ? undefined : { byteMs, until: total.until };
}
