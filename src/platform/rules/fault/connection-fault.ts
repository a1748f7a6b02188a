import type { DurationMs } from "../../../kernel/time.ts";
import type { Event } from "../../model/events.ts";
import type { FaultOutcome, FaultTarget } from "../../model/fault.ts";

type EndingOutcome = Extract<FaultOutcome, { kind: "reject_connection" | "drop_connection" }>;

/** The combined effect of faults on a connection. */
export type ConnectionFaults = {
  readonly delays: readonly { readonly ms: DurationMs; readonly clock: "world" | "wall" }[];
  /** Ends the connection after the delays. */
  readonly end?: { readonly fault: string; readonly outcome: EndingOutcome };
  /** The number of queries after which it ends. */
  readonly endsAfter?: number;
};

export function connectionTarget(compute: {
  readonly id: string;
  readonly projectId: string;
  readonly branchId: string;
}): FaultTarget {
  const { id: endpointId, projectId, branchId } = compute;
  return { kind: "connection", projectId, branchId, endpointId };
}

/** `matched`: the events of the faults that a connection has matched. */
export function combineConnectionFaults(matched: readonly Event[]): ConnectionFaults {
  const hits = matched.flatMap((event) => (event.type === "FaultHit" ? [event] : []));
  const delays = hits.flatMap(({ outcome }) => (outcome.kind === "delay_connection" ? [outcome] : []));
  const [end] = hits.flatMap(({ fault, outcome }) =>
    outcome.kind === "reject_connection" || outcome.kind === "drop_connection" ? [{ fault, outcome }] : [],
  );
  const limits = hits.flatMap(({ outcome }) => (outcome.kind === "end_connection" ? [outcome.after] : []));
  return {
    delays,
    ...(end === undefined ? {} : { end }),
    ...(limits.length === 0 ? {} : { endsAfter: Math.min(...limits) }),
  };
}
