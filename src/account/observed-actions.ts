import { quantileMs } from "../kernel/distribution.ts";
import { type DurationMs, SECOND, type SimTime } from "../kernel/time.ts";
import type { TimedOperation } from "./account-reader.ts";

/** With fewer observations, quantiles say little, so the figures of the profile are better. */
export const LEAST_OBSERVATIONS = 20;
/** Steps of half a percent. */
const MAX_QUANTILES = 201;
/** Instants of operations are whole seconds, so an order within one second is unknown. */
const RESOLUTION_MS = SECOND;
/** The 97.5th percentile of the standard normal distribution, for intervals of 95 %. */
const Z_95 = 1.959_964;

/** Durations and outcomes of the operations of one action. */
export type ObservedAction = {
  readonly action: string;
  /** Quantiles of evenly spaced shares, ascending; absent if there are fewer than `LEAST_OBSERVATIONS` durations. */
  readonly quantilesMs?: readonly DurationMs[];
  /** Number of durations in `sortedMs`. */
  readonly durations: number;
  /** The durations that were not omitted, ascending. */
  readonly sortedMs: readonly DurationMs[];
  /** Operations omitted because they may have waited for another operation. */
  readonly waited: number;
  /** Operations omitted because an attempt failed before. */
  readonly retried: number;
  /** Operations omitted because they were recorded after the fact. */
  readonly recorded: number;
  /** Operations that ended, whether or not their durations are omitted. */
  readonly ended: number;
  readonly failed: number;
  /** Creation of the first and of the last operation that ended. */
  readonly from: SimTime;
  readonly to: SimTime;
};

/** `operations`: by project, oldest first. */
export function observeActions(operations: Iterable<TimedOperation>): readonly ObservedAction[] {
  const byAction = new Map<string, ActionCounters>();
  let project: string | undefined;
  let busy = new BusyUntil();
  for (const operation of operations) {
    if (operation.project !== project) {
      project = operation.project;
      busy = new BusyUntil();
    }
    const mayWait = busy.mayHold(operation);
    busy.add(operation);
    if (operation.status !== "finished" && operation.status !== "failed") continue;
    const counters = byAction.get(operation.action) ?? new ActionCounters(operation);
    byAction.set(operation.action, counters);
    counters.add(operation, mayWait);
  }
  return [...byAction.values()]
    .map((counters) => counters.result())
    .toSorted((one, other) => (one.action < other.action ? -1 : 1));
}

/** Bounds of a share, by Wilson's interval of 95 %. */
export function shareInterval(
  count: number,
  total: number,
): { readonly least: number; readonly most: number } {
  const share = count / total;
  const spread = Z_95 ** 2 / total;
  const middle = share + spread / 2;
  const half = Z_95 * Math.sqrt((share * (1 - share)) / total + spread / (4 * total));
  return {
    least: Math.max(0, (middle - half) / (1 + spread)),
    most: Math.min(1, (middle + half) / (1 + spread)),
  };
}

/** Ends of the operations of a project, by compute and branch. Until then, a later operation may have to wait. */
class BusyUntil {
  readonly #endpoints = new Map<string, SimTime>();
  /** By branch: operations on the branch itself, and all operations on it or its computes. */
  readonly #branches = new Map<string, SimTime>();
  readonly #withinBranches = new Map<string, SimTime>();
  #projectItself = 0;
  #withinProject = 0;

  mayHold({ endpoint, branch, created_at }: TimedOperation): boolean {
    const until = (map: ReadonlyMap<string, SimTime>, key: string | null) =>
      key === null ? 0 : (map.get(key) ?? 0);
    const scope =
      endpoint !== null
        ? Math.max(until(this.#endpoints, endpoint), until(this.#branches, branch))
        : branch !== null
          ? until(this.#withinBranches, branch)
          : this.#withinProject;
    return Math.max(scope, this.#projectItself) > created_at;
  }

  add({ endpoint, branch, created_at, duration_ms }: TimedOperation): void {
    const until = created_at + duration_ms + RESOLUTION_MS;
    const extend = (map: Map<string, SimTime>, key: string | null) => {
      if (key !== null) map.set(key, Math.max(until, map.get(key) ?? 0));
    };
    this.#withinProject = Math.max(this.#withinProject, until);
    extend(this.#withinBranches, branch);
    if (endpoint !== null) extend(this.#endpoints, endpoint);
    else if (branch !== null) extend(this.#branches, branch);
    else this.#projectItself = Math.max(this.#projectItself, until);
  }
}

class ActionCounters {
  readonly #action: string;
  readonly #durations: number[] = [];
  #waited = 0;
  #retried = 0;
  #recorded = 0;
  #ended = 0;
  #failed = 0;
  #from: SimTime;
  #to: SimTime;

  constructor({ action, created_at }: TimedOperation) {
    this.#action = action;
    this.#from = created_at;
    this.#to = created_at;
  }

  add({ action, status, duration_ms, failures, created_at }: TimedOperation, mayWait: boolean): void {
    this.#from = Math.min(this.#from, created_at);
    this.#to = Math.max(this.#to, created_at);
    this.#ended += 1;
    if (status === "failed") this.#failed += 1;
    // A: an autosuspend is recorded when it has happened, so its duration says nothing of a suspend that is requested.
    else if (action === "suspend_compute" && duration_ms === 0) this.#recorded += 1;
    else if (failures > 0) this.#retried += 1;
    else if (mayWait) this.#waited += 1;
    else this.#durations.push(duration_ms);
  }

  result(): ObservedAction {
    const sorted = this.#durations.toSorted((one, other) => one - other);
    return {
      action: this.#action,
      ...(sorted.length < LEAST_OBSERVATIONS ? {} : { quantilesMs: quantilesOf(sorted) }),
      durations: sorted.length,
      sortedMs: sorted,
      ...{ waited: this.#waited, retried: this.#retried, recorded: this.#recorded },
      ...{ ended: this.#ended, failed: this.#failed, from: this.#from, to: this.#to },
    };
  }
}

function quantilesOf(sorted: readonly DurationMs[]): DurationMs[] {
  const count = Math.min(sorted.length, MAX_QUANTILES);
  return Array.from({ length: count }, (_, index) => Math.round(quantileMs(sorted, index / (count - 1))));
}
