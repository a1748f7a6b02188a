import type { SimTime } from "../../platform/core/time.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { RecordedRequest } from "../../simulation/requests.ts";

/** A request that faults held back: the journal of requests has it where it took effect, and it was asked here. */
export type Delay = {
  /** Of the first event of its asking. */
  readonly seq: number;
  readonly at: SimTime;
  /** When it takes effect on a clock that stands but for it. */
  readonly until: SimTime;
  /** The last fault that it met. */
  readonly fault: string;
  /** `undefined` where nothing tells how it ended. */
  readonly request: RecordedRequest | undefined;
};

type Hit = Extract<RecordedEvent, { type: "FaultHit" }>;

/** The delays that these events tell of, each with its request. */
export function delaysIn(events: readonly RecordedEvent[], requests: readonly RecordedRequest[]): readonly Delay[] {
  const askings = new Map<number, Hit[]>();
  for (const event of events) if (isHit(event)) askings.set(event.decision, [...(askings.get(event.decision) ?? []), event]);
  const left = requests.filter(({ fault }) => fault !== undefined);
  return [...askings.values()].flatMap((hits) => {
    const delays = hits.flatMap(({ outcome }) => (outcome.kind === "latency" ? [outcome] : []));
    const last = hits.at(-1);
    if (last === undefined || delays.length === 0) return [];
    const { decision: seq, at, fault } = last;
    const place = left.findIndex((request) => isOf(request, last));
    const [request] = place < 0 ? [] : left.splice(place, 1);
    const heldMs = delays.reduce((sum, { clock, ms }) => sum + (clock === "world" ? ms : 0), 0);
    return [{ seq, at, until: at + heldMs, fault, request }];
  });
}

function isHit(event: RecordedEvent): event is Hit {
  return event.type === "FaultHit" && event.target.kind === "request";
}

/** Of those that overlap it may be another one's: they are not reproduced, whosever it is. */
function isOf({ seq, method, operationId, accountId, fault }: RecordedRequest, hit: Hit): boolean {
  const { target } = hit;
  if (target.kind !== "request" || seq < hit.seq || fault !== hit.fault || operationId !== target.operation) return false;
  return accountId === target.accountId && (method === "HEAD" ? "GET" : method) === target.method;
}
