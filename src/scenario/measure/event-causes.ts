import type { AccessNoun, ContentNoun, EventTypeOf, RecordedEvent } from "../../platform/model/events.ts";
import { suspendsCompute } from "../../platform/model/operation.ts";

/** The source name of activity from steps. */
export const STEP_SOURCE = "step";

/** Events that happened together, with the call of a step that caused them, and the decision that led to them. */
export type Decision = {
  readonly number: number;
  /** The call of a step, such as `step 3: POST /projects`. */
  call: string | undefined;
  readonly events: RecordedEvent[];
  /** The decision that scheduled the operation that ended here. */
  scheduledBy: Decision | undefined;
  /** The last activity of the compute that is suspended here. */
  lastActivity: RecordedEvent | undefined;
};

/** The first events of a decision explain it. */
const EVENTS_PER_DECISION = 20;

/** Causes of each event: the rest of its decision, and the decision that scheduled its operation. */
export class EventCauses {
  readonly #scheduling = new Map<string, Decision>();
  readonly #lastActivities = new Map<string, RecordedEvent>();
  #current: Decision = decision(0, undefined);
  #call: string | undefined;
  #stepOfArrival: string | undefined;

  /** The next activity belongs to this step. */
  arrivalInjected(step: string): void {
    this.#stepOfArrival = step;
  }

  /** Events from now on are caused by this call. `undefined`: by the clock. */
  callStarted(call: string | undefined): void {
    this.#call = call;
  }

  /** A change without an event, such as a response, in the current call. */
  withoutEvent(): Decision {
    return this.#current.call === this.#call ? this.#current : decision(0, this.#call);
  }

  /** An arrival was rejected, without an event. */
  rejectedArrival(source: string | undefined): Decision {
    return decision(0, this.#call ?? (source === STEP_SOURCE ? this.#stepOfArrival : undefined));
  }

  /** Adds an event and returns its decision, to which later events may be added. */
  observe(event: RecordedEvent): Decision {
    if (event.decision !== this.#current.number) this.#current = decision(event.decision, this.#call);
    const current = this.#current;
    if (current.events.length < EVENTS_PER_DECISION) current.events.push(event);
    switch (event.type) {
      case "ActivityRecorded":
        this.#lastActivities.set(event.activity.endpointId, event);
        if (event.activity.source === STEP_SOURCE) current.call ??= this.#stepOfArrival;
        return current;
      case "SpanEnded":
        this.#lastActivities.set(event.endpointId, event);
        return current;
      case "OperationScheduled": {
        const { operation } = event;
        if (operation.state.status !== "finished") this.#scheduling.set(operation.id, current);
        if (suspendsCompute(operation) && operation.cause === "autosuspend")
          current.lastActivity = this.#lastActivities.get(operation.endpointId ?? "");
        return current;
      }
      case "OperationFinished":
      case "OperationFailed":
      case "OperationCancelled":
        current.scheduledBy ??= withoutEarlier(this.#scheduling.get(event.operationId));
        this.#scheduling.delete(event.operationId);
        return current;
      default:
        event.type satisfies LeadsToNothing;
        return current;
    }
  }

  /** The world was replaced, with its operations. */
  clear(): void {
    this.#scheduling.clear();
    this.#lastActivities.clear();
  }
}

function decision(number: number, call: string | undefined): Decision {
  return { number, call, events: [], scheduledBy: undefined, lastActivity: undefined };
}

/** A chain of operations would retain every decision before it. */
function withoutEarlier(scheduling: Decision | undefined): Decision | undefined {
  return scheduling && { ...scheduling, scheduledBy: undefined };
}

/** Events that neither are work of clients nor begin or end an operation. */
type LeadsToNothing =
  | EventTypeOf<AccessNoun | ContentNoun | "world" | "project" | "branch" | "compute" | "fault">
  | "SpanBegan"
  | "OperationStarted"
  | "OperationRetried"
  | "ActivityScheduled"
  | "ActivityDropped";
