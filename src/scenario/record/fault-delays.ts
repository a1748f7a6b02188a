import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";

/**
 * A request that faults delayed. The request log has it at the time it took effect; `at` is when it was sent.
 */
export type FaultDelay = {
  /** Sequence number of the first event when it was sent. */
  readonly seq: number;
  readonly at: SimTime;
  /** When it takes effect if only this delay moves the clock. */
  readonly until: SimTime;
  /** The last fault that matched it. */
  readonly fault: string;
  /** `undefined` when the log has no response for it. */
  readonly request: RequestLogEntry | undefined;
};

type FaultHitEvent = Extract<RecordedEvent, { type: "FaultHit" }>;

/** The delays in these events, each with its request. */
export function findFaultDelays(
  events: readonly RecordedEvent[],
  requests: readonly RequestLogEntry[],
): readonly FaultDelay[] {
  const hitsByDecision = new Map<number, FaultHitEvent[]>();
  for (const event of events)
    if (isRequestFaultHit(event))
      hitsByDecision.set(event.decision, [...(hitsByDecision.get(event.decision) ?? []), event]);
  const unmatched = requests.filter(({ fault }) => fault !== undefined);
  return [...hitsByDecision.values()].flatMap((hits) => {
    const delays = hits.flatMap(({ outcome }) => (outcome.kind === "latency" ? [outcome] : []));
    const last = hits.at(-1);
    if (last === undefined || delays.length === 0) return [];
    const { decision: seq, at, fault } = last;
    const index = unmatched.findIndex((request) => belongsTo(request, last));
    const [request] = index < 0 ? [] : unmatched.splice(index, 1);
    const delayMs = delays.reduce((sum, { clock, ms }) => sum + (clock === "world" ? ms : 0), 0);
    return [{ seq, at, until: at + delayMs, fault, request }];
  });
}

function isRequestFaultHit(event: RecordedEvent): event is FaultHitEvent {
  return event.type === "FaultHit" && event.target.kind === "request";
}

/** Among overlapping requests the match may be wrong, but overlapping requests are not reproduced anyway. */
function belongsTo(
  { seq, method, operationId, accountId, fault }: RequestLogEntry,
  hit: FaultHitEvent,
): boolean {
  const { target } = hit;
  if (target.kind !== "request" || seq < hit.seq || fault !== hit.fault || operationId !== target.operation)
    return false;
  return accountId === target.accountId && (method === "HEAD" ? "GET" : method) === target.method;
}
