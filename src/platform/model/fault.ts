import type { DurationDistribution } from "../../kernel/distribution.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { OperationAction } from "../catalog/operation-actions.ts";
import type { EventBase } from "./event-base.ts";

/**
 * Where a fault applies: public operations by id, or operations of the platform by action; by default all
 * public ones.
 */
type FaultScope = {
  readonly operations?: readonly string[] | undefined;
  readonly actions?: readonly OperationAction[] | undefined;
  readonly match?: FaultMatch | undefined;
};

/** Every given field must match. For requests: the ids in the path, and the caller. */
type FaultMatch = {
  readonly projectId?: string | undefined;
  readonly branchId?: string | undefined;
  readonly endpointId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly method?: string | undefined;
};

/** Which matches of a fault trigger it; by default every match. */
type FaultTiming = {
  /** Only the first `first` matches. */
  readonly first?: number | undefined;
  /** Every n-th match: with 3, the third, the sixth and so on. */
  readonly every?: number | undefined;
  /** The probability of each match to trigger, from 0 to 1. */
  readonly probability?: number | undefined;
  /** The fault ends after this number of triggered matches. */
  readonly limit?: number | undefined;
  /** Inclusive. */
  readonly fromAt?: SimTime | undefined;
  /** Exclusive. */
  readonly until?: SimTime | undefined;
};

/** The effect of a fault on a request. */
type RequestEffect =
  /** Answered with an error; the operation is not executed. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly code?: string | undefined;
      readonly message?: string | undefined;
      readonly retryAfterS?: number | undefined;
    }
  /** Executed after a delay. */
  | { readonly kind: "latency"; readonly takes: DurationDistribution; readonly clock: "world" | "wall" }
  /** The connection is closed before the operation is executed. */
  | { readonly kind: "drop" }
  /** The operation is executed and durable, then the connection is closed without an answer. */
  | { readonly kind: "lose_response" }
  /** At most `requests` in a window of `perMs` on the world's clock, for all callers together. */
  | { readonly kind: "rate_limit"; readonly requests: number; readonly perMs: DurationMs }
  /** Projects are in maintenance and reject changes. */
  | { readonly kind: "maintenance"; readonly forMs?: DurationMs | undefined };

/** The effect of a fault on an operation of the platform, determined when the operation is scheduled. */
type OperationEffect =
  | { readonly kind: "operation_fails"; readonly times: number; readonly ends: "finished" | "failed" }
  | {
      readonly kind: "start_slower";
      readonly by?: DurationDistribution | undefined;
      readonly factor?: number | undefined;
    }
  | { readonly kind: "start_fails"; readonly times: number };

/** The effect of a fault on a connection of a Postgres client, determined after its password was checked. */
type ConnectionEffect =
  /** Ends with an error of this SQLSTATE. */
  | { readonly kind: "reject_connection"; readonly code: string; readonly message?: string | undefined }
  | {
      readonly kind: "delay_connection";
      readonly takes: DurationDistribution;
      readonly clock: "world" | "wall";
    }
  /** Is closed without an error. */
  | { readonly kind: "drop_connection" }
  /** Ends with 57P01 instead of the query after this number of them. */
  | { readonly kind: "end_connection"; readonly after: number };

export type FaultEffect = RequestEffect | OperationEffect | ConnectionEffect;

export type FaultDefinition = {
  readonly name: string;
  readonly scope: FaultScope;
  readonly timing: FaultTiming;
  readonly effect: FaultEffect;
};

/** A fault in force. Faults are matched in the order in which they were set. */
export type Fault = FaultDefinition & {
  /** Orders faults: the sequence number of the event that set it. */
  readonly number: number;
  readonly setAt: SimTime;
  /** The number of matches so far. The next draw has the next number. */
  readonly seen: number;
  readonly hits: number;
  /** The open window of a rate limit. */
  readonly rate?: RateWindow;
};

export type RateWindow = { readonly startedAt: SimTime; readonly requests: number };

/** A request before it is executed, an operation before it is scheduled, or a connection before it is accepted. */
export type FaultTarget =
  | {
      readonly kind: "request";
      /** Its operationId in the public document; absent for a path that is not in it. */
      readonly operation?: string | undefined;
      readonly method: string;
      /** The ids in its path. */
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
    }
  | {
      readonly kind: "connection";
      readonly projectId: string;
      readonly branchId: string;
      readonly endpointId: string;
    };

/** Name of a target where its ids are shown separately. */
export function nameOfTarget(target: FaultTarget): string {
  if (target.kind === "connection") return "connection";
  return target.kind === "operation" ? target.action : (target.operation ?? target.method);
}

/** Without `keepOthers`, all other faults are removed. */
export type SetFaults = {
  readonly type: "SetFaults";
  readonly faults: readonly FaultDefinition[];
  readonly keepOthers?: true;
};
export type RemoveFault = { readonly type: "RemoveFault"; readonly name: string };

/** Whether the fault can still match. One that has ended neither matches nor counts. */
export function isFaultActive({ timing, effect, setAt, seen, hits }: Fault, now: SimTime): boolean {
  const { first, limit, fromAt, until } = timing;
  if (now < (fromAt ?? 0) || now >= (until ?? Number.POSITIVE_INFINITY)) return false;
  if (effect.kind === "maintenance" && now >= setAt + (effect.forMs ?? Number.POSITIVE_INFINITY))
    return false;
  return seen < (first ?? Number.POSITIVE_INFINITY) && hits < (limit ?? Number.POSITIVE_INFINITY);
}

/** Whether the scope of a fault includes this target. */
export function faultAppliesTo({ scope, effect }: Fault, target: FaultTarget): boolean {
  if (target.kind === "operation") {
    if (!isOperationEffect(effect)) return false;
    const actions: readonly string[] | undefined =
      effect.kind === "operation_fails" ? scope.actions : ["start_compute"];
    return (actions?.includes(target.action) ?? true) && matchesTarget(scope.match, target);
  }
  if (target.kind === "connection") return isConnectionEffect(effect) && matchesTarget(scope.match, target);
  if (isOperationEffect(effect) || isConnectionEffect(effect) || target.operation === undefined) return false;
  // A: a maintenance affects neither reads nor requests that concern no project.
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

const CONNECTION_EFFECTS: readonly FaultEffect["kind"][] = [
  "reject_connection",
  "delay_connection",
  "drop_connection",
  "end_connection",
] satisfies ConnectionEffect["kind"][];

export function isConnectionEffect(effect: FaultEffect): effect is ConnectionEffect {
  return CONNECTION_EFFECTS.includes(effect.kind);
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

/** The outcome of a triggered fault, with all drawn values. */
export type FaultOutcome =
  | Extract<
      FaultEffect,
      {
        kind:
          | "answer"
          | "drop"
          | "lose_response"
          | "reject_connection"
          | "drop_connection"
          | "end_connection";
      }
    >
  | { readonly kind: "latency"; readonly ms: DurationMs; readonly clock: "world" | "wall" }
  | { readonly kind: "delay_connection"; readonly ms: DurationMs; readonly clock: "world" | "wall" }
  | {
      readonly kind: "rate_limit";
      readonly requests: number;
      readonly perMs: DurationMs;
      readonly retryAfterS: number;
    }
  | { readonly kind: "maintenance"; readonly projectId: string }
  | { readonly kind: "operation_fails"; readonly times: number; readonly ends: "finished" | "failed" }
  | { readonly kind: "start_slower"; readonly byMs: DurationMs; readonly factor: number };

/** Matches a request or a connection against the faults in force, before it is executed or accepted. */
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
