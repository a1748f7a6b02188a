import type { RecordedEvent } from "../../platform/events.ts";
import type { Look } from "../../worlds/world-handle.ts";
import { instant, record } from "../routes/records.ts";

/** A statement about a world, and the events that prove it. */
export type Reason = {
  readonly about: "state" | "pending" | "wake" | "suspend" | "changes" | "fault";
  readonly text: string;
  readonly proof: readonly RecordedEvent[];
};

export type EventOf<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

/** So far back is looked for what led to the present state of an object. */
export const MAX_EVENTS = 1_000;

export function render({ now }: Look, reasons: readonly Reason[]) {
  const proofs = new Map(reasons.flatMap(({ proof }) => proof.map((event) => [event.seq, event])));
  return {
    at: instant(now),
    summary: `${reasons.map(({ text }) => text).join(". ")}.`,
    reasons: reasons.map(({ about, text, proof }) => ({ about, text, events: [...new Set(proof.map(({ seq }) => seq))] })),
    events: [...proofs.values()].sort((a, b) => a.seq - b.seq).map((event) => record(event)),
  };
}

/** All that was decided together with an event, if it is near: what asked for it stands there. */
export function decisionOf(look: Look, { decision }: RecordedEvent): readonly RecordedEvent[] {
  return look.events(decision - 1, MAX_DECISION).filter((event) => event.decision === decision);
}

const MAX_DECISION = 50;

/** What came of an event in the same decision, for as long as that is next to it. */
export function effects(look: Look, { seq, decision }: RecordedEvent): readonly RecordedEvent[] {
  return look.events(seq, MAX_EFFECTS).filter((event) => event.decision === decision && event.type !== "OperationStarted");
}

const MAX_EFFECTS = 5;

export function some<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

export function newest<Type extends RecordedEvent["type"]>(
  events: readonly RecordedEvent[],
  type: Type,
  fits: (event: EventOf<Type>) => boolean = () => true,
): EventOf<Type> | undefined {
  return events.find((event): event is EventOf<Type> => event.type === type && fits(event as EventOf<Type>));
}
