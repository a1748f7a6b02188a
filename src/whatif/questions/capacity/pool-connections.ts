import { type DurationMs, MINUTE } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import { maxConnections, type SizeRange } from "../../../platform/catalog/sizes.ts";
import type { ComputeArrivals, Period } from "../../../traffic/recorded/trace/trace.ts";
import { WaitHistogram } from "../../replay/wait-histogram.ts";
import { DepartureQueue } from "../../sizes/departure-queue.ts";

export type DirectOutcome = {
  readonly sessions: number;
  readonly refused: number;
  /** Number of rejected requests that the SLO applies to. */
  readonly judgedRefused: number;
  /** Largest number of open connections; never above the limit. */
  readonly peak: number;
};

/** Whether a request is one of those that an SLO is about. */
export type IsJudged = (index: number) => boolean;

const ALL_JUDGED: IsJudged = () => true;

/**
 * Counts connections from arrival to end against a limit. At the limit an arrival is rejected and not retried
 * (M/G/c/c).
 */
export function directConnections(
  { at, durationMs }: ComputeArrivals,
  limit = Number.POSITIVE_INFINITY,
  isJudged = ALL_JUDGED,
): DirectOutcome {
  const openConnections = new DepartureQueue();
  let [refused, judgedRefused, peak] = [0, 0, 0];
  for (let i = 0; i < at.length; i += 1) {
    const arrival = at[i] as number;
    while (openConnections.firstAt <= arrival) openConnections.take();
    if (openConnections.size >= limit) {
      refused += 1;
      if (isJudged(i)) judgedRefused += 1;
      continue;
    }
    openConnections.add(arrival + (durationMs[i] as number));
    peak = Math.max(peak, openConnections.size);
  }
  return { sessions: at.length, refused, judgedRefused, peak };
}

/** Direct connections that clients may have to a compute of this range; `reserved` are for the platform. */
export function directLimit(profile: Profile, range: SizeRange, reserved = 0): number {
  return Math.max(0, maxConnections(profile, range) - reserved);
}

export type PoolRules = {
  /** Server connections per pool; the platform has one pool per user and database. */
  readonly poolSize: number;
  /** Server connections of all pools together. */
  readonly ceiling: number;
  /** Clients that may be connected to the pooler, waiting ones included. */
  readonly clients: number;
  readonly waitLimitMs: DurationMs;
};

/** R: a client that waits longer is disconnected. */
export const POOL_WAIT_LIMIT_MS: DurationMs = 2 * MINUTE;

export type PooledOutcome = {
  readonly sessions: number;
  /** Rejected at the limit of clients, or disconnected after waiting longer than the limit (inclusive). */
  readonly refused: number;
  /** Number of refused requests that the SLO applies to. */
  readonly judgedRefused: number;
  readonly peak: number;
  readonly waits: WaitHistogram;
};

/**
 * Simulates transactions through a pooler: first come, first served within each pool, and among the pools where the
 * ceiling is the limit. `source` selects the pool; without sources there is one pool.
 */
export function pooledConnections(
  { at, durationMs, source }: ComputeArrivals,
  rules: PoolRules,
  isJudged = ALL_JUDGED,
): PooledOutcome {
  const pools = new PoolerSimulation(rules);
  for (let i = 0; i < at.length; i += 1)
    pools.arrive(at[i] as number, durationMs[i] as number, source?.[i] ?? 0, isJudged(i));
  return pools.finish();
}

type WaitingSession = {
  readonly at: number;
  readonly durationMs: DurationMs;
  readonly isJudged: boolean;
};

class PoolerSimulation {
  readonly #rules: PoolRules;
  readonly #busy = new DepartureQueue();
  readonly #pools: { readonly waiting: WaitingSession[]; first: number; busy: number }[] = [];
  readonly #waits = new WaitHistogram();
  #sessions = 0;
  #refused = 0;
  #judgedRefused = 0;
  #peak = 0;
  #waiting = 0;

  constructor(rules: PoolRules) {
    this.#rules = rules;
  }

  arrive(at: number, durationMs: DurationMs, pool: number, isJudged: boolean): void {
    this.#freeUntil(at);
    this.#sessions += 1;
    if (this.#isFull(at)) {
      this.#refuse(isJudged);
      return;
    }
    while (this.#pools.length <= pool) this.#pools.push({ waiting: [], first: 0, busy: 0 });
    this.#pools[pool]?.waiting.push({ at, durationMs, isJudged });
    this.#waiting += 1;
    this.#dispatch(at);
  }

  finish(): PooledOutcome {
    this.#freeUntil(Number.MAX_VALUE);
    return {
      sessions: this.#sessions,
      refused: this.#refused,
      judgedRefused: this.#judgedRefused,
      peak: this.#peak,
      waits: this.#waits,
    };
  }

  #refuse(isJudged: boolean): void {
    this.#refused += 1;
    if (isJudged) this.#judgedRefused += 1;
  }

  /** Waiting sessions past the limit are removed lazily: only when the limit of clients is reached. */
  #isFull(now: number): boolean {
    const { clients } = this.#rules;
    if (this.#busy.size + this.#waiting < clients) return false;
    for (const pool of this.#pools) this.#giveUp(pool, now);
    return this.#busy.size + this.#waiting >= clients;
  }

  #freeUntil(at: number): void {
    while (this.#busy.firstAt <= at) {
      const now = this.#busy.firstAt;
      const pool = this.#pools[this.#busy.take()];
      if (pool !== undefined) pool.busy -= 1;
      this.#dispatch(now);
    }
  }

  /** Assigns free servers to waiting sessions, longest wait first. */
  #dispatch(now: number): void {
    while (this.#waiting > 0 && this.#busy.size < this.#rules.ceiling) {
      const index = this.#nextPool(now);
      const pool = this.#pools[index];
      const next = pool?.waiting[pool.first];
      if (pool === undefined || next === undefined) return;
      pool.first += 1;
      if (pool.first === pool.waiting.length) pool.first = pool.waiting.length = 0;
      pool.busy += 1;
      this.#waiting -= 1;
      this.#waits.add(now - next.at);
      this.#busy.add(now + next.durationMs, index);
      this.#peak = Math.max(this.#peak, this.#busy.size);
    }
  }

  /** The pool with a free server whose first session has waited longest; -1 if there is none. */
  #nextPool(now: number): number {
    let [best, longestWaitSince] = [-1, Number.POSITIVE_INFINITY];
    for (const [index, pool] of this.#pools.entries()) {
      if (pool.busy >= this.#rules.poolSize) continue;
      this.#giveUp(pool, now);
      const at = pool.waiting[pool.first]?.at ?? Number.POSITIVE_INFINITY;
      if (at < longestWaitSince) [best, longestWaitSince] = [index, at];
    }
    return best;
  }

  #giveUp(pool: { readonly waiting: WaitingSession[]; first: number }, now: number): void {
    for (
      let next = pool.waiting[pool.first];
      next !== undefined && now - next.at > this.#rules.waitLimitMs;
      next = pool.waiting[pool.first]
    ) {
      pool.first += 1;
      this.#refuse(next.isJudged);
      this.#waiting -= 1;
    }
  }
}

/** Traffic of one pool. `load`: mean number of running requests within the period. */
type PoolLoad = { sessions: number; busyMs: DurationMs; load: number };

export function poolLoads(
  { at, durationMs, source }: ComputeArrivals,
  { startAt, endAt }: Period,
): readonly PoolLoad[] {
  const loads = new Map<number, PoolLoad>();
  for (let i = 0; i < durationMs.length; i += 1) {
    const pool = source?.[i] ?? 0;
    const own = loads.get(pool) ?? { sessions: 0, busyMs: 0, load: 0 };
    own.sessions += 1;
    own.busyMs += durationMs[i] as number;
    own.load += Math.min(durationMs[i] as number, endAt - (at[i] as number)) / (endAt - startAt);
    loads.set(pool, own);
  }
  return [...loads.values()];
}
