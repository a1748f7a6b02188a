import { nextMonthStart } from "../../kernel/calendar.ts";
import type { IndexedHeap } from "../../kernel/indexed-heap.ts";
import type { SimTime } from "../../kernel/time.ts";
import { MONTH_OFFSET, QUOTA_OFFSET } from "./event-offsets.ts";
import { type Quotas, SharedQuota } from "./shared-quota.ts";

/**
 * The quotas of a fleet and their events on the common heap. The event of each group is at `firstNode` + group, that of
 * the month after the last group.
 */
export class QuotaEvents {
  readonly #groupOf: Int32Array;
  readonly #members: readonly (readonly number[])[];
  readonly #quota: SharedQuota;
  readonly #heap: IndexedHeap;
  readonly #firstNode: number;

  constructor(quotas: Quotas, startAt: SimTime, heap: IndexedHeap, firstNode: number) {
    this.#groupOf = quotas.groupOf;
    this.#members = membersByGroup(quotas);
    this.#quota = new SharedQuota(quotas, startAt);
    this.#heap = heap;
    this.#firstNode = firstNode;
    if (this.#members.length > 0) this.#scheduleMonth(startAt);
  }

  /** Whether the group of this compute has reached its quota. */
  isReachedFor(compute: number, now: SimTime): boolean {
    const group = this.#groupOf[compute];
    return group !== undefined && this.#quota.isReached(group, now);
  }

  /** A compute of this size becomes active; with a negative size, it is no longer active. */
  changeActiveCu(compute: number, cu: number, now: SimTime): void {
    const group = this.#groupOf[compute];
    if (group === undefined) return;
    this.#quota.changeActiveCu(group, cu, now);
    this.#scheduleGroup(group, now);
  }

  /**
   * Handles the event of a group. Returns the computes that its quota stops now, or undefined if it is not reached yet.
   */
  check(group: number, now: SimTime): readonly number[] | undefined {
    this.#heap.set(this.#firstNode + group, Number.POSITIVE_INFINITY);
    return this.#quota.isReached(group, now) ? (this.#members[group] ?? []) : undefined;
  }

  beginMonth(now: SimTime): void {
    this.#quota.reset(now);
    this.#scheduleMonth(now);
    for (const group of this.#members.keys()) this.#scheduleGroup(group, now);
  }

  #scheduleGroup(group: number, now: SimTime): void {
    this.#heap.set(this.#firstNode + group, this.#quota.dueAt(group, now) + QUOTA_OFFSET);
  }

  #scheduleMonth(now: SimTime): void {
    this.#heap.set(this.#firstNode + this.#members.length, nextMonthStart(now) + MONTH_OFFSET);
  }
}

function membersByGroup(quotas: Quotas): number[][] {
  const members: number[][] = Array.from(quotas.computeSeconds, () => []);
  for (const [compute, group] of quotas.groupOf.entries()) members[group]?.push(compute);
  return members;
}
