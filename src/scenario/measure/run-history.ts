import { isoInstant } from "../../kernel/calendar.ts";
import type { AccessNoun, ContentNoun, EventTypeOf, RecordedEvent } from "../../platform/model/events.ts";
import { nameOfTarget } from "../../platform/model/fault.ts";
import type { Labels } from "../file/labels.ts";
import type { FaultMark, OperationInterval } from "./run-figures.ts";

const MAX_OPERATIONS = 2_000;
const MAX_FAULTS = 500;

type Interval = { -readonly [Key in keyof OperationInterval]: OperationInterval[Key] };

/** The first operations and faults of a run, for its report; the others are counted. */
export class RunHistory {
  readonly operations: Interval[] = [];
  readonly faults: FaultMark[] = [];
  operationsLeftOut = 0;
  faultsLeftOut = 0;
  readonly #labels: Labels;
  readonly #unfinished = new Map<string, Interval>();

  constructor(labels: Labels) {
    this.#labels = labels;
  }

  observe(event: RecordedEvent): void {
    switch (event.type) {
      case "OperationScheduled": {
        const { id, action, cause, endpointId, branchId, projectId, state } = event.operation;
        if (this.operations.length === MAX_OPERATIONS) {
          this.operationsLeftOut += 1;
          return;
        }
        const of = this.#labels.labelOf(endpointId ?? branchId ?? projectId);
        const interval: Interval = { action, of, cause, from: isoInstant(event.at), status: "unfinished" };
        this.operations.push(interval);
        if (state.status === "finished") end(interval, "finished", event.at);
        else this.#unfinished.set(id, interval);
        return;
      }
      case "OperationFinished":
        this.#end(event.operationId, "finished", event.at);
        return;
      case "OperationFailed":
        this.#end(event.operationId, "failed", event.at);
        return;
      case "OperationCancelled":
        this.#end(event.operationId, "cancelled", event.at);
        return;
      case "FaultHit": {
        const { fault, outcome, target } = event;
        const of = target.endpointId ?? target.branchId ?? target.projectId;
        const action = nameOfTarget(target);
        if (this.faults.length === MAX_FAULTS) this.faultsLeftOut += 1;
        else
          this.faults.push({
            at: isoInstant(event.at),
            fault,
            effect: outcome.kind,
            target: of === undefined ? action : `${action} ${this.#labels.labelOf(of)}`,
          });
        return;
      }
      default:
        event.type satisfies IsNotDrawn;
    }
  }

  #end(id: string, status: OperationInterval["status"], at: number): void {
    const interval = this.#unfinished.get(id);
    if (interval !== undefined) end(interval, status, at);
    this.#unfinished.delete(id);
  }
}

function end(interval: Interval, status: OperationInterval["status"], at: number): void {
  interval.status = status;
  interval.to = isoInstant(at);
}

/** Events that a report of a run does not draw. */
type IsNotDrawn =
  | EventTypeOf<AccessNoun | ContentNoun | "world" | "project" | "branch" | "compute" | "activity" | "span">
  | "OperationStarted"
  | "OperationRetried"
  | "FaultSet"
  | "FaultRemoved"
  | "FaultMatched";
