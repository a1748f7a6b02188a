import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { OPERATION_ACTIONS, type OperationAction } from "../../platform/catalog/operation-actions.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { WaitCounts } from "./wait-counts.ts";

const OPERATION_ENDS = [
  "finished",
  "failed",
  "cancelled",
] as const satisfies readonly Operation["state"]["status"][];
export type OperationEnd = (typeof OPERATION_ENDS)[number];

/** Counters of a compute, a branch, a project, an account, or the world. Counts propagate to the parents. */
export class Counters {
  #parent: Counters | undefined;
  readonly #children = new Set<Counters>();
  activities = 0;
  refused = 0;
  coldStarts = 0;
  starts = 0;
  suspends = 0;
  resizes = 0;
  /** Number of active computes. */
  active = 0;
  #waitedMs: DurationMs = 0;
  /** Total CU of the active computes. */
  #sizeCu = 0;
  /** The two time integrals cover the time up to this instant. */
  #integratedUntil: SimTime = 0;
  #activeMs: DurationMs = 0;
  #cuMs = 0;
  /** Waits counted here; after the first query, also those of all children. */
  #waits: WaitCounts | undefined;
  /** Finished operations by action and end. */
  readonly #operations: number[] = new Array<number>(OPERATION_ACTIONS.length * OPERATION_ENDS.length).fill(
    0,
  );

  constructor(parent?: Counters) {
    this.#parent = parent;
    if (parent !== undefined) parent.#children.add(this);
  }

  /** Changes when a compute or a project moves. Earlier counts stay with the old parent. */
  get parent(): Counters | undefined {
    return this.#parent;
  }

  set parent(parent: Counters | undefined) {
    if (parent === this.#parent) return;
    // Both sides collect their waits now; a later collection would move the waits of this node to the new
    // parent.
    for (const side of [this.#parent, parent]) {
      for (let counters = side; counters !== undefined; counters = counters.#parent) counters.#collectWaits();
    }
    if (this.#parent !== undefined) this.#parent.#children.delete(this);
    this.#parent = parent;
    if (parent !== undefined) parent.#children.add(this);
  }

  isWithin(other: Counters): boolean {
    for (let counters: Counters | undefined = this; counters !== undefined; counters = counters.#parent)
      if (counters === other) return true;
    return false;
  }

  addArrival(waitedMs: DurationMs): void {
    for (let counters: Counters | undefined = this; counters !== undefined; counters = counters.#parent) {
      counters.activities += 1;
      counters.#waitedMs += waitedMs;
    }
    if (waitedMs === 0) return;
    this.#collectWaits();
    for (let counters: Counters | undefined = this; counters !== undefined; counters = counters.#parent)
      counters.#waits?.add(waitedMs);
  }

  /** Moves a counted arrival to the rejected ones and removes its wait. */
  refuseArrival(waitedMs: DurationMs): void {
    for (let counters: Counters | undefined = this; counters !== undefined; counters = counters.#parent) {
      counters.activities -= 1;
      counters.refused += 1;
      counters.#waitedMs -= waitedMs;
      if (waitedMs > 0) counters.#waits?.remove(waitedMs);
    }
  }

  add(counter: "refused" | "coldStarts" | "starts" | "suspends" | "resizes"): void {
    for (let counters: Counters | undefined = this; counters !== undefined; counters = counters.#parent)
      counters[counter] += 1;
  }

  /** Changes the number of active computes and their total CU from `at` on. */
  changeActive(at: SimTime, computes: -1 | 0 | 1, sizeCu: number): void {
    for (let counters: Counters | undefined = this; counters !== undefined; counters = counters.#parent) {
      counters.#activeMs = counters.activeMs(at);
      counters.#cuMs = counters.cuMs(at);
      counters.#integratedUntil = at;
      counters.active += computes;
      counters.#sizeCu += sizeCu;
    }
  }

  activeMs(now: SimTime): DurationMs {
    return this.#activeMs + this.active * (now - this.#integratedUntil);
  }

  /** In CU-milliseconds. */
  cuMs(now: SimTime): number {
    return this.#cuMs + this.#sizeCu * (now - this.#integratedUntil);
  }

  addOperation(action: OperationAction, end: OperationEnd): void {
    const index = OPERATION_ACTIONS.indexOf(action) * OPERATION_ENDS.length + OPERATION_ENDS.indexOf(end);
    for (let counters: Counters | undefined = this; counters !== undefined; counters = counters.#parent) {
      counters.#operations[index] = (counters.#operations[index] ?? 0) + 1;
    }
  }

  /** Number of finished operations, optionally of one action or one end. */
  operations(action: unknown, end: unknown): number {
    let sum = 0;
    for (const [index, count] of this.#operations.entries()) {
      const isAction =
        action === undefined || OPERATION_ACTIONS[Math.floor(index / OPERATION_ENDS.length)] === action;
      if (isAction && (end === undefined || OPERATION_ENDS[index % OPERATION_ENDS.length] === end))
        sum += count;
    }
    return sum;
  }

  meanWaitMs(): number {
    return this.activities === 0 ? 0 : this.#waitedMs / this.activities;
  }

  longestWaitMs(): DurationMs {
    return this.#collectWaits().longest;
  }

  /** By nearest rank over all arrivals, including those that did not wait. */
  waitPercentile(percent: number): DurationMs {
    const rank = Math.ceil((percent / 100) * this.activities);
    return this.#collectWaits().nthLongest(this.activities - rank);
  }

  #collectWaits(): WaitCounts {
    if (this.#waits === undefined) {
      this.#waits = new WaitCounts();
      for (const child of this.#children) child.#addWaitsTo(this.#waits);
    }
    return this.#waits;
  }

  #addWaitsTo(all: WaitCounts): void {
    if (this.#waits !== undefined) all.addAll(this.#waits);
    else for (const child of this.#children) child.#addWaitsTo(all);
  }
}
