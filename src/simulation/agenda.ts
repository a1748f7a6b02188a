import type { DueWork } from "../platform/commands.ts";
import { FreshMap } from "../platform/core/fresh-map.ts";
import type { SimTime } from "../platform/core/time.ts";

/**
 * At one instant operations end first, then what was told ahead arrives, then sizes follow the load, and only then computes go to
 * sleep: an arrival at exactly the deadline still finds its compute awake (WHATIF: a gap equal to the delay is no cold start).
 * A quota stops what is still active then: what arrives at exactly that instant is served, and dropped with the rest.
 * Snapshots are taken of what was there at their instant; what expires goes after that, and what can no longer be recovered last.
 */
const PRIORITY: Readonly<Record<DueWork["kind"], number>> = {
  operation: 0,
  activity: 1,
  rescale: 2,
  autosuspend: 3,
  quota: 4,
  backup: 5,
  snapshotExpiration: 6,
  expiration: 7,
  branchRemoval: 8,
  projectRemoval: 9,
};

/** What comes from outside at an instant comes behind what was told ahead for it, and before all that is less urgent. */
export const ARRIVAL_PRIORITY = PRIORITY.activity;

/** A look that is planned for an instant. */
export type Planned = { readonly at: SimTime; readonly priority: number; readonly work: DueWork };

/** `order` is the object's number in the world: ties are decided by the world alone, so a rebuilt agenda decides them alike. */
type Entry = { at: SimTime; readonly priority: number; readonly work: DueWork; readonly order: number; live: boolean };

/** Due work by (time, priority, order). Deadlines may move later without notice: whoever takes an entry checks it. */
export class Agenda {
  readonly #heap: Entry[] = [];
  readonly #queued: Readonly<Record<DueWork["kind"], FreshMap<Entry>>> = {
    operation: new FreshMap(),
    activity: new FreshMap(),
    rescale: new FreshMap(),
    autosuspend: new FreshMap(),
    quota: new FreshMap(),
    backup: new FreshMap(),
    snapshotExpiration: new FreshMap(),
    expiration: new FreshMap(),
    branchRemoval: new FreshMap(),
    projectRemoval: new FreshMap(),
  };

  get size(): number {
    return this.#heap.length;
  }

  /** Whether a look is planned by then. */
  looksBy(kind: DueWork["kind"], id: string, at: SimTime): boolean {
    const planned = this.#queued[kind].get(id);
    return planned !== undefined && planned.at <= at;
  }

  /** Makes sure that `work` is looked at by `at`; where an earlier look is planned already, that one will see to it. */
  plan(work: DueWork, order: number, at: SimTime): void {
    const queued = this.#queued[work.kind];
    const planned = queued.get(work.id);
    if (planned !== undefined) {
      if (planned.at <= at) return;
      planned.live = false;
    }
    const entry: Entry = { at, priority: PRIORITY[work.kind], order, work, live: true };
    queued.set(work.id, entry);
    this.#push(entry);
  }

  /** The earliest planned look, left in place. */
  peek(): Planned | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (top.live) return top;
      this.#pop();
    }
    return undefined;
  }

  /** Takes the entry that `peek` shows. */
  take(): void {
    const top = this.#pop();
    if (top?.live) this.#queued[top.work.kind].delete(top.work.id);
  }

  /** The entry that `peek` shows is looked at again, at a later instant. */
  putOff(at: SimTime): void {
    const top = this.#heap[0];
    if (top === undefined) return;
    top.at = at;
    this.#sink(top);
  }

  clear(): void {
    this.#heap.length = 0;
    for (const queued of Object.values(this.#queued)) queued.clear();
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above] as Entry;
      if (!before(entry, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    this.#sink(last);
    return top;
  }

  /** From the top to its place. */
  #sink(entry: Entry): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && before(heap[below + 1] as Entry, heap[below] as Entry)) below += 1;
      const child = heap[below] as Entry;
      if (!before(child, entry)) break;
      heap[index] = child;
      index = below;
    }
    heap[index] = entry;
  }
}

function before(one: Entry, other: Entry): boolean {
  if (one.at !== other.at) return one.at < other.at;
  if (one.priority !== other.priority) return one.priority < other.priority;
  return one.order < other.order;
}
