import { CompactingMap } from "../kernel/compacting-map.ts";
import type { SimTime } from "../kernel/time.ts";
import type { DueWork } from "../platform/rules/commands.ts";
import { PRIORITY } from "./timer-order.ts";

/** Work that is scheduled for an instant. */
export type Timer = { readonly at: SimTime; readonly priority: number; readonly work: DueWork };

/**
 * `order` is the object's number in the world. Ties depend on the world alone, so a rebuilt queue has the
 * same order.
 */
type TimerEntry = {
  at: SimTime;
  readonly priority: number;
  readonly work: DueWork;
  readonly order: number;
  live: boolean;
};

/**
 * Due work by (time, priority, order). A deadline may move later without notice, so the caller checks each
 * entry it takes.
 */
export class TimerQueue {
  readonly #heap: TimerEntry[] = [];
  readonly #queued: Readonly<Record<DueWork["kind"], CompactingMap<TimerEntry>>> = {
    operation: new CompactingMap(),
    activity: new CompactingMap(),
    rescale: new CompactingMap(),
    autosuspend: new CompactingMap(),
    quota: new CompactingMap(),
    backup: new CompactingMap(),
    snapshotExpiration: new CompactingMap(),
    expiration: new CompactingMap(),
    branchRemoval: new CompactingMap(),
    projectRemoval: new CompactingMap(),
    apiKeyRemoval: new CompactingMap(),
  };

  get size(): number {
    return this.#heap.length;
  }

  /** Whether a timer is set for this work at or before `at`. */
  isScheduledBy(kind: DueWork["kind"], id: string, at: SimTime): boolean {
    const scheduled = this.#queued[kind].get(id);
    return scheduled !== undefined && scheduled.at <= at;
  }

  /**
   * Makes sure that a timer for `work` fires by `at`. An earlier timer stays: it reschedules the work when it
   * fires.
   */
  schedule(work: DueWork, order: number, at: SimTime): void {
    const queued = this.#queued[work.kind];
    const scheduled = queued.get(work.id);
    if (scheduled !== undefined) {
      if (scheduled.at <= at) return;
      scheduled.live = false;
    }
    const entry: TimerEntry = { at, priority: PRIORITY[work.kind], order, work, live: true };
    queued.set(work.id, entry);
    this.#push(entry);
  }

  /** The earliest timer, which stays in the queue. */
  peek(): Timer | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (top.live) return top;
      this.#pop();
    }
    return undefined;
  }

  /** Removes the timer that `peek` returns. */
  take(): void {
    const top = this.#pop();
    if (top?.live) this.#queued[top.work.kind].delete(top.work.id);
  }

  /** Moves the timer that `peek` returns to a later instant. */
  rescheduleTop(at: SimTime): void {
    const top = this.#heap[0];
    if (top === undefined) return;
    top.at = at;
    this.#sink(top);
  }

  clear(): void {
    this.#heap.length = 0;
    for (const queued of Object.values(this.#queued)) queued.clear();
  }

  #push(entry: TimerEntry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex] as TimerEntry;
      if (!before(entry, parent)) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = entry;
  }

  #pop(): TimerEntry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    this.#sink(last);
    return top;
  }

  /** Moves an entry from the top down to its place. */
  #sink(entry: TimerEntry): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      if (childIndex >= heap.length) break;
      if (
        childIndex + 1 < heap.length &&
        before(heap[childIndex + 1] as TimerEntry, heap[childIndex] as TimerEntry)
      )
        childIndex += 1;
      const child = heap[childIndex] as TimerEntry;
      if (!before(child, entry)) break;
      heap[index] = child;
      index = childIndex;
    }
    heap[index] = entry;
  }
}

function before(one: TimerEntry, other: TimerEntry): boolean {
  if (one.at !== other.at) return one.at < other.at;
  if (one.priority !== other.priority) return one.priority < other.priority;
  return one.order < other.order;
}
