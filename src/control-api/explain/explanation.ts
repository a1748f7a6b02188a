import type { RecordedEvent } from "../../platform/model/events.ts";
import type { WorldView } from "../../worlds/world-handle.ts";
import { formatInstant, renderObject } from "../http/render-object.ts";

/** A statement about a world, and the events that prove it. */
export type Reason = {
  readonly about: "state" | "pending" | "wake" | "suspend" | "changes" | "fault";
  readonly text: string;
  readonly proof: readonly RecordedEvent[];
};

export type EventOf<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

/** Number of events searched for the cause of an object's state. */
export const MAX_EVENTS = 1_000;

export function renderExplanation({ now }: WorldView, reasons: readonly Reason[]) {
  const proofs = new Map(reasons.flatMap(({ proof }) => proof.map((event) => [event.seq, event])));
  return {
    at: formatInstant(now),
    summary: `${reasons.map(({ text }) => text).join(". ")}.`,
    reasons: reasons.map(({ about, text, proof }) => ({
      about,
      text,
      events: [...new Set(proof.map(({ seq }) => seq))],
    })),
    events: [...proofs.values()].sort((a, b) => a.seq - b.seq).map((event) => renderObject(event)),
  };
}

/** The events of the same decision, up to a limit; among them is the cause of the event. */
export function decisionOf(view: WorldView, { decision }: RecordedEvent): readonly RecordedEvent[] {
  return view.events(decision - 1, MAX_DECISION).filter((event) => event.decision === decision);
}

const MAX_DECISION = 50;

/** The direct effects of an event: the next events of the same decision, up to a limit. */
export function effectsOf(view: WorldView, { seq, decision }: RecordedEvent): readonly RecordedEvent[] {
  return view
    .events(seq, MAX_EFFECTS)
    .filter((event) => event.decision === decision && event.type !== "OperationStarted");
}

const MAX_EFFECTS = 5;

export function optional<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

export function newestEvent<Type extends RecordedEvent["type"]>(
  events: readonly RecordedEvent[],
  type: Type,
  matches: (event: EventOf<Type>) => boolean = () => true,
): EventOf<Type> | undefined {
  return events.find(
    (event): event is EventOf<Type> => event.type === type && matches(event as EventOf<Type>),
  );
}
