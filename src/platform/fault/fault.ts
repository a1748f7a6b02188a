import type { DurationDistribution } from "../core/distribution.ts";
import type { DurationMs, SimTime } from "../core/time.ts";
import type { EventBase } from "../event-base.ts";
import type { OperationAction } from "../operation/operation.ts";

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

/** What a hit comes to, with all that was drawn for it. */
export type FaultOutcome =
  | Extract<FaultEffect, { kind: "answer" | "drop" | "lose_response" }>
  | { readonly kind: "latency"; readonly ms: DurationMs; readonly clock: "world" | "wall" }
  | {
      readonly kind: "rate_limit";
      readonly requests: number;
      readonly perMs: DurationMs;
      readonly retryAfterS: number;
    }
  | { readonly kind: "maintenance"; readonly projectId: string }
  | { readonly kind: "operation_fails"; readonly times: number; readonly ends: "finished" | "failed" }
  | { readonly kind: "start_slower"; readonly byMs: DurationMs; readonly factor: number };

/** About to be done: are there faults in its way? */
type MatchFaults = { readonly type: "MatchFaults"; readonly target: FaultTarget };

export type FaultCommand = SetFaults | RemoveFault | MatchFaults;

/** One match of a fault with a target: the `number`-th since it was set, and what was drawn for it. */
type FaultMatchBase = EventBase & {
  readonly fault: string;
  readonly number: number;
  readonly target: FaultTarget;
  readonly drawn?: number;
};

export type FaultEvent =
  | (EventBase & { readonly type: "FaultSet"; readonly definition: FaultDefinition })
  | (EventBase & { readonly type: "FaultRemoved"; readonly fault: string })
  | (FaultMatchBase & { readonly type: "FaultMatched"; readonly rate?: RateWindow })
  | (FaultMatchBase & { readonly type: "FaultHit"; readonly outcome: FaultOutcome });
