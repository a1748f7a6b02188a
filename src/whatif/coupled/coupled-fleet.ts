import type { Random } from "../../kernel/random-port.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals, Period } from "../../traffic/recorded/trace/trace.ts";
import type { StartWorth } from "../gap-curve/costs.ts";
import type { ReplayOutcome } from "../replay/replay-outcome.ts";
import type { StartLatency } from "../units/start-latency.ts";
import type { Client } from "./clients.ts";
import type { Quotas } from "./shared-quota.ts";
import type { StartLimiter, StartLimits } from "./start-limiter.ts";

/**
 * Computes that are simulated on one clock because they share starts, a quota or clients. Arrays are by
 * compute.
 */
export type CoupledFleet = {
  readonly period: Period;
  /** Suspend delay; infinite for never. */
  readonly delayMs: Float64Array;
  /** Size while active. */
  readonly cu: Float64Array;
  /** Worth of cold starts; undefined: they are worth nothing. */
  readonly startWorths?: readonly StartWorth[] | undefined;
  /**
   * Deletion of each compute, infinite if it is never deleted; undefined if none is. From then on its clients send
   * nothing.
   */
  readonly deletedAt?: Float64Array | undefined;
  /** Recorded arrivals: they do not depend on what happens in the simulation. */
  readonly arrivals: readonly (ComputeArrivals | undefined)[];
  /** Clients whose next request depends on what happened to the one before. */
  readonly clients: readonly Client[];
  readonly latency: StartLatency;
  /** Latency of a start that takes a prepared compute from the pool. */
  readonly preparedLatency?: StartLatency | undefined;
  readonly starts: StartLimits;
  readonly quotas?: Quotas | undefined;
  readonly random: Random;
};

/**
 * A wait covers the queue for a start and the start itself, also where it ends after the period. Active time
 * begins with the start, not with the queue.
 */
export type CoupledOutcome = ReplayOutcome & {
  /** Requests rejected because the quota was reached. */
  refused: number;
  /** When each group reached its quota, in order of time. */
  readonly quotaReached: { readonly group: number; readonly at: SimTime }[];
  /** Arrivals, ends of starts, and suspends. */
  events: number;
  readonly limiter: Pick<StartLimiter, "mostUnderWay" | "mostQueued" | "poolHits" | "poolMisses">;
};

export type CoupledObserver = {
  /** Also reported for a compute that is queued when the period ends, after its end. */
  started(compute: number, at: SimTime, readyAt: SimTime): void;
  /**
   * Also reported for a compute that is busy when the period ends, after its end; for one that is idle then,
   * never.
   */
  suspended(compute: number, at: SimTime): void;
  /** A request was rejected because the quota was reached. */
  refused?(compute: number, at: SimTime): void;
};

/** 1 for a compute whose activity affects no other: no client waits for its end, and no quota can stop it. */
export function independentComputesIn({ delayMs, clients, quotas }: CoupledFleet): Uint8Array {
  const isIndependent = new Uint8Array(delayMs.length).fill(1);
  for (const { compute } of clients) isIndependent[compute] = 0;
  quotas?.groupOf.forEach((group, compute) => {
    if (Number.isFinite(quotas.computeSeconds[group])) isIndependent[compute] = 0;
  });
  return isIndependent;
}
