import type { SimTime } from "../../kernel/time.ts";

const LANE_STATES = ["starting", "active", "suspending", "suspended", "deleted"] as const;
export type LaneState = (typeof LANE_STATES)[number];

/** A stretch of time in one state; `until` is exclusive. */
export type LaneInterval = {
  readonly since: SimTime;
  readonly until: SimTime;
  readonly state: LaneState;
  /** 0 unless active or suspending. */
  readonly sizeCu: number;
};

/** Arrivals within one second. */
export type ArrivalCount = {
  readonly at: SimTime;
  readonly count: number;
  /** How many of them waited for a start. */
  readonly waiting: number;
};

const SECOND = 1_000;

/** The states of one compute in order of time, and its arrivals by the second. */
export class Lane {
  readonly endpointId: string;
  readonly projectId: string;
  readonly branchId: string;
  /** Smallest size in CU: the size after a start. */
  minCu: number;
  readonly #since: SimTime[] = [];
  readonly #states: LaneState[] = [];
  readonly #sizes: number[] = [];
  readonly #arrivalsAt: SimTime[] = [];
  readonly #arrivals: number[] = [];
  readonly #waiting: number[] = [];

  constructor(compute: { id: string; projectId: string; branchId: string; range: { minCu: number } }) {
    this.endpointId = compute.id;
    this.projectId = compute.projectId;
    this.branchId = compute.branchId;
    this.minCu = compute.range.minCu;
  }

  get state(): LaneState | undefined {
    return this.#states.at(-1);
  }

  get sizeCu(): number {
    return this.#sizes.at(-1) ?? 0;
  }

  /** The state from `at` on. Times must not decrease. */
  enter(at: SimTime, state: LaneState, sizeCu = 0): void {
    if (this.state === state && this.sizeCu === sizeCu) return;
    // A state without length, such as that of an operation of 0 ms, is not seen.
    const replaces = this.#since.at(-1) === at;
    const index = replaces ? this.#since.length - 1 : this.#since.length;
    this.#since[index] = at;
    this.#states[index] = state;
    this.#sizes[index] = sizeCu;
  }

  /** Requests that arrived at `at`, of which `waiting` waited for a start. `at` may be before earlier calls. */
  addArrivals(at: SimTime, count: number, waiting: number): void {
    if (count === 0) return;
    const second = at - (at % SECOND);
    const next = firstAbove(this.#arrivalsAt, second);
    const index = this.#arrivalsAt[next - 1] === second ? next - 1 : next;
    if (index === next) {
      this.#arrivalsAt.splice(index, 0, second);
      this.#arrivals.splice(index, 0, 0);
      this.#waiting.splice(index, 0, 0);
    }
    this.#arrivals[index] = (this.#arrivals[index] ?? 0) + count;
    this.#waiting[index] = (this.#waiting[index] ?? 0) + waiting;
  }

  /** The intervals that overlap [from, to), in order, cut to it. */
  *intervals(from: SimTime, to: SimTime): Generator<LaneInterval> {
    const first = Math.max(0, firstAbove(this.#since, from) - 1);
    for (let index = first; index < this.#since.length; index += 1) {
      const since = Math.max(from, this.#since[index] as SimTime);
      if (since >= to) return;
      const until = Math.min(to, this.#since[index + 1] ?? to);
      if (until > since)
        yield { since, until, state: this.#states[index] as LaneState, sizeCu: this.#sizes[index] as number };
    }
  }

  /** The number of intervals and of seconds with arrivals in [from, to). */
  countWithin(from: SimTime, to: SimTime): number {
    const countOf = (list: readonly SimTime[]) => firstAbove(list, to) - firstAbove(list, from);
    return countOf(this.#since) + countOf(this.#arrivalsAt);
  }

  /** The seconds with arrivals in [from, to), in order. */
  *arrivals(from: SimTime, to: SimTime): Generator<ArrivalCount> {
    const second = from - (from % SECOND);
    for (let index = firstAbove(this.#arrivalsAt, second - 1); index < this.#arrivalsAt.length; index += 1) {
      const at = this.#arrivalsAt[index] as SimTime;
      if (at >= to) return;
      yield { at, count: this.#arrivals[index] as number, waiting: this.#waiting[index] as number };
    }
  }
}

/** The index of the first value above `value` in an increasing list. */
function firstAbove(list: readonly number[], value: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
