import { CompactingMap } from "../kernel/compacting-map.ts";
import type { SimTime } from "../kernel/time.ts";
import type { DueWork } from "../platform/rules/commands.ts";
import { PRIORITY } from "./timer-order.ts";

/** Work that is scheduled for an instant. */
export type Timer = { readonly at: SimTime; readonly priority: number; readonly work: DueWork };

type TimerEntry = {
  at: SimTime;
  readonly priority: number;
  readonly work: DueWork;
  live: boolean;
};

/** Numbers of objects are below it, so a priority and a number make one number that orders both. */
const NUMBERS_PER_PRIORITY = 2 ** 48;
const FIRST_CAPACITY = 64;

/**
 * Due work by (time, priority, order). `order` is the object's number in the world: ties depend on the world alone, so
 * a rebuilt queue has the same order. A deadline may move later without notice, so the caller checks each entry it takes.
 */
export class TimerQueue {
  /** A heap. What is compared is in arrays of numbers, so that a comparison reads no object. */
  readonly #heap: TimerEntry[] = [];
  /** By position in the heap: the instant, and the priority with the order. */
  #ats = new Float64Array(FIRST_CAPACITY);
  #ranks = new Float64Array(FIRST_CAPACITY);
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
    const priority = PRIORITY[work.kind];
    const entry: TimerEntry = { at, priority, work, live: true };
    queued.set(work.id, entry);
    this.#push(entry, at, NUMBERS_PER_PRIORITY * priority + order);
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
    this.#sink(top, at, this.#ranks[0] as number);
  }

  clear(): void {
    this.#heap.length = 0;
    for (const queued of Object.values(this.#queued)) queued.clear();
  }

  #push(entry: TimerEntry, at: SimTime, rank: number): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    if (index === this.#ats.length) this.#grow();
    const [ats, ranks] = [this.#ats, this.#ranks];
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const parentAt = ats[parent] as number;
      if (parentAt < at || (parentAt === at && (ranks[parent] as number) <= rank)) break;
      this.#move(parent, index);
      index = parent;
    }
    heap[index] = entry;
    ats[index] = at;
    ranks[index] = rank;
  }

  #pop(): TimerEntry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    this.#sink(last, this.#ats[heap.length] as number, this.#ranks[heap.length] as number);
    return top;
  }

  /** Moves an entry from the top down to its place. */
  #sink(entry: TimerEntry, at: SimTime, rank: number): void {
    const [heap, ats, ranks] = [this.#heap, this.#ats, this.#ranks];
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(ats, ranks, child + 1, child)) child += 1;
      const childAt = ats[child] as number;
      if (at < childAt || (at === childAt && rank <= (ranks[child] as number))) break;
      this.#move(child, index);
      index = child;
    }
    heap[index] = entry;
    ats[index] = at;
    ranks[index] = rank;
  }

  #move(from: number, to: number): void {
    this.#heap[to] = this.#heap[from] as TimerEntry;
    this.#ats[to] = this.#ats[from] as number;
    this.#ranks[to] = this.#ranks[from] as number;
  }

  #grow(): void {
    const [ats, ranks] = [this.#ats, this.#ranks];
    this.#ats = new Float64Array(2 * ats.length);
    this.#ats.set(ats);
    this.#ranks = new Float64Array(2 * ranks.length);
    this.#ranks.set(ranks);
  }
}

function isBefore(ats: Float64Array, ranks: Float64Array, one: number, other: number): boolean {
  const [at, otherAt] = [ats[one] as number, ats[other] as number];
  return at < otherAt || (at === otherAt && (ranks[one] as number) < (ranks[other] as number));
}
