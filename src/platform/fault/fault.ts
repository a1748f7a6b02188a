import type { Context } from "../core/context.ts";
import type { DurationDistribution } from "../core/distribution.ts";
import { closestMatch } from "../core/text.ts";
import type { DurationMs, SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import type { Event } from "../events.ts";
import type { OperationAction } from "../operation/operation.ts";
import { accept, type Result, refuse } from "../refusals.ts";

/** Where a fault applies: to public operations by their ids, or to actions of the platform's own operations. Neither: to all public ones. */
type FaultScope = {
  readonly operations?: readonly string[] | undefined;
  readonly actions?: readonly OperationAction[] | undefined;
  readonly match?: FaultMatch | undefined;
};

/** All that is named must be so. Of a request: what its path names, and who calls. */
type FaultMatch = {
  readonly projectId?: string | undefined;
  readonly branchId?: string | undefined;
  readonly endpointId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly method?: string | undefined;
};

/** Which of the times that a fault meets something it strikes; absent: every time. */
type FaultTiming = {
  /** Only the first so many. */
  readonly first?: number | undefined;
  /** Every so-manieth: the third, the sixth … */
  readonly every?: number | undefined;
  /** Each with this probability, from 0 to 1. */
  readonly probability?: number | undefined;
  /** When it has struck so often, it is over. */
  readonly limit?: number | undefined;
  /** Inclusive. */
  readonly fromAt?: SimTime | undefined;
  /** Exclusive. */
  readonly until?: SimTime | undefined;
};

/** What a fault does to a request. */
type RequestEffect =
  /** Answered in place of doing the work. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly code?: string | undefined;
      readonly message?: string | undefined;
      readonly retryAfterS?: number | undefined;
    }
  /** It takes effect so much later. */
  | { readonly kind: "latency"; readonly takes: DurationDistribution; readonly clock: "world" | "wall" }
  /** The connection is lost before anything is done. */
  | { readonly kind: "drop" }
  /** It is done and durable, and then the connection is lost. */
  | { readonly kind: "lose_response" }
  /** So many in a window of the world's clock, all callers together. */
  | { readonly kind: "rate_limit"; readonly requests: number; readonly perMs: DurationMs }
  /** Projects are in maintenance and cannot be changed. */
  | { readonly kind: "maintenance"; readonly forMs?: DurationMs | undefined };

/** What a fault does to an operation of the platform, decided when that is scheduled. */
type OperationEffect =
  | { readonly kind: "operation_fails"; readonly times: number; readonly ends: "finished" | "failed" }
  | {
      readonly kind: "start_slower";
      readonly by?: DurationDistribution | undefined;
      readonly factor?: number | undefined;
    }
  | { readonly kind: "start_fails"; readonly times: number };

export type FaultEffect = RequestEffect | OperationEffect;

export type FaultDefinition = {
  readonly name: string;
  readonly scope: FaultScope;
  readonly timing: FaultTiming;
  readonly effect: FaultEffect;
};

/** A fault that is set. They are asked in the order in which they were set. */
export type Fault = FaultDefinition & {
  /** Orders faults: the sequence number of the event that set it. */
  readonly number: number;
  readonly setAt: SimTime;
  /** How often it has met what it applies to: the number of its next draw is one more. */
  readonly seen: number;
  readonly hits: number;
  /** Of a rate limit: the window that is open. */
  readonly rate?: RateWindow;
};

export type RateWindow = { readonly startedAt: SimTime; readonly requests: number };

/** A request before it is done, or an operation before it is scheduled. */
export type FaultTarget =
  | {
      readonly kind: "request";
      /** Its operationId in the public document; absent for a path that is not in it. */
      readonly operation?: string | undefined;
      readonly method: string;
      /** What its path names. */
      readonly projectId?: string | undefined;
      readonly branchId?: string | undefined;
      readonly endpointId?: string | undefined;
      readonly accountId: string;
      readonly organizationId: string;
    }
  | {
      readonly kind: "operation";
      readonly operationId: string;
      readonly action: OperationAction;
      readonly projectId: string;
      readonly branchId?: string | undefined;
      readonly endpointId?: string | undefined;
    };

/** Without `keepOthers`, the faults that are not among them are removed. */
export type SetFaults = {
  readonly type: "SetFaults";
  readonly faults: readonly FaultDefinition[];
  readonly keepOthers?: true;
};
export type RemoveFault = { readonly type: "RemoveFault"; readonly name: string };

export type FaultEvent = Extract<Event, { type: "FaultSet" | "FaultRemoved" | "FaultMatched" | "FaultHit" }>;

export function decideSetFaults(
  world: World,
  { faults, keepOthers }: SetFaults,
  { now: at }: Context,
): Event[] {
  const named = new Set(faults.map(({ name }) => name));
  const others = keepOthers === true ? [] : [...world.faults.values()].filter(({ name }) => !named.has(name));
  return [
    ...others.map(({ name }): Event => ({ type: "FaultRemoved", at, fault: name })),
    ...faults.map((definition): Event => ({ type: "FaultSet", at, definition })),
  ];
}

export function decideRemoveFault(
  world: World,
  { name }: RemoveFault,
  { now: at }: Context,
): Result<Event[]> {
  const fault = findFault(world, name);
  return fault.ok ? accept([{ type: "FaultRemoved", at, fault: name }]) : fault;
}

export function findFault(world: World, name: string): Result<Fault> {
  const fault = world.faults.get(name);
  if (fault !== undefined) return accept(fault);
  const names = [...world.faults.values()].map((known) => known.name);
  const near = closestMatch(name, names);
  return refuse(
    "FAULT_NOT_FOUND",
    `there is no fault "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`,
  );
}

/** One that is set anew begins anew: its counts, its draws, and its place behind the others. */
export function evolveFault(world: World, event: FaultEvent, seq: number): void {
  if (event.type === "FaultSet") {
    world.faults.delete(event.definition.name);
    world.faults.set({ ...event.definition, number: seq, setAt: event.at, seen: 0, hits: 0 });
    return;
  }
  const fault = world.faults.get(event.fault);
  if (fault === undefined) throw new Error(`${event.type}: there is no fault ${event.fault}`);
  switch (event.type) {
    case "FaultRemoved":
      world.faults.delete(fault.name);
      return;
    case "FaultMatched":
      world.faults.set({
        ...fault,
        seen: event.number,
        ...(event.rate === undefined ? {} : { rate: event.rate }),
      });
      return;
    case "FaultHit":
      world.faults.set({ ...fault, seen: event.number, hits: fault.hits + 1 });
      return;
    default:
      event satisfies never;
  }
}

/** Whether it can still strike: one that is over meets nothing, and counts nothing. */
export function isFaultActive({ timing, effect, setAt, seen, hits }: Fault, now: SimTime): boolean {
  const { first, limit, fromAt, until } = timing;
  if (now < (fromAt ?? 0) || now >= (until ?? Number.POSITIVE_INFINITY)) return false;
  if (effect.kind === "maintenance" && now >= setAt + (effect.forMs ?? Number.POSITIVE_INFINITY))
    return false;
  return seen < (first ?? Number.POSITIVE_INFINITY) && hits < (limit ?? Number.POSITIVE_INFINITY);
}

/** Whether a fault is about this at all. */
export function faultAppliesTo({ scope, effect }: Fault, target: FaultTarget): boolean {
  if (target.kind === "operation") {
    if (!isOperationEffect(effect)) return false;
    const actions: readonly string[] | undefined =
      effect.kind === "operation_fails" ? scope.actions : ["start_compute"];
    return (actions?.includes(target.action) ?? true) && matchesTarget(scope.match, target);
  }
  if (isOperationEffect(effect) || target.operation === undefined) return false;
  // A: what reads is answered during a maintenance, and what concerns no project is not in one.
  if (effect.kind === "maintenance" && (target.method === "GET" || target.projectId === undefined))
    return false;
  if (scope.operations?.includes(target.operation) === false) return false;
  const { match } = scope;
  if (match === undefined) return true;
  return (
    matchesTarget(match, target) &&
    (match.method ?? target.method) === target.method &&
    (match.accountId ?? target.accountId) === target.accountId &&
    (match.organizationId ?? target.organizationId) === target.organizationId
  );
}

export function isOperationEffect(effect: FaultEffect): effect is OperationEffect {
  return effect.kind === "operation_fails" || effect.kind === "start_slower" || effect.kind === "start_fails";
}

/** Since when a project is in maintenance, if it is. */
export function maintenanceSince(world: World, projectId: string, now: SimTime): SimTime | undefined {
  if (world.faults.size === 0) return undefined;
  for (const fault of world.faults.values()) {
    const { effect, scope, timing, setAt } = fault;
    if (effect.kind !== "maintenance" || (scope.match?.projectId ?? projectId) !== projectId) continue;
    if (isFaultActive(fault, now)) return Math.max(setAt, timing.fromAt ?? 0);
  }
  return undefined;
}

function matchesTarget(
  match: FaultMatch | undefined,
  { projectId, branchId, endpointId }: FaultTarget,
): boolean {
  if (match === undefined) return true;
  const matches = (expected: string | undefined, actual: string | undefined) =>
    expected === undefined || expected === actual;
  return (
    matches(match.projectId, projectId) &&
    matches(match.branchId, branchId) &&
    matches(match.endpointId, endpointId)
  );
}
