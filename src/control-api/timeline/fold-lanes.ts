import type { SimTime } from "../../kernel/time.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type {
  AccessNoun,
  ContentNoun,
  EventTypeOf,
  RecordedEvent,
  WorldSettingType,
} from "../../platform/model/events.ts";
import type { Operation } from "../../platform/model/operation.ts";
import type { World } from "../../platform/world/world.ts";
import { Lane } from "./lane.ts";

/** Something that happened at one instant. */
export type TimelineMark = {
  readonly at: SimTime;
  readonly seq: number;
  readonly kind: "fault" | "restart" | "start_failed" | "suspend_failed";
  readonly endpointId?: string | undefined;
  readonly projectId?: string | undefined;
  /** The name of the fault. */
  readonly name?: string | undefined;
};

/** An operation that neither starts nor suspends a compute; those are states of its lane. */
export type TimelineOperation = Pick<Operation, "id" | "action" | "projectId" | "branchId" | "endpointId"> & {
  readonly since: SimTime;
  until?: SimTime;
  status: "running" | "finished" | "failed" | "cancelled";
};

type OpenOperation = { readonly operation: Operation; shown: TimelineOperation | undefined };

/** The lanes of all computes of a world, from its events in order. */
export class LaneFold {
  readonly lanes = new Map<string, Lane>();
  readonly marks: TimelineMark[] = [];
  readonly operations: TimelineOperation[] = [];
  /** Nothing is known of the time before; `undefined` without events. */
  beganAt: SimTime | undefined;
  readonly #open = new Map<string, OpenOperation>();

  /** Begins with a world in the middle of its history. */
  begin(world: World): void {
    this.beganAt = world.at;
    for (const compute of world.computes.values()) this.#addLane(compute, world.at);
    for (const operation of world.operations.values()) {
      this.#open.set(operation.id, { operation, shown: undefined });
      if (operation.state.status === "running") this.#start(operation.id, operation.state.startedAt);
    }
  }

  add(event: RecordedEvent): void {
    this.beganAt ??= event.at;
    switch (event.type) {
      case "ComputeCreated":
        this.#addLane(event.compute, event.at);
        return;
      case "ComputeUpdated":
      case "ComputeActivated":
      case "ComputeResized":
      case "ComputeSuspending":
      case "ComputeSuspended":
      case "ComputeStartFailed":
      case "ComputeSuspendFailed":
      case "ComputeDeleted": {
        const lane = this.lanes.get(event.endpointId);
        if (lane !== undefined) changeLane(lane, event);
        if (event.type === "ComputeStartFailed") this.#mark(event, "start_failed", event.endpointId);
        if (event.type === "ComputeSuspendFailed") this.#mark(event, "suspend_failed", event.endpointId);
        return;
      }
      case "WorldReset":
        for (const lane of this.lanes.values()) lane.enter(event.at, "deleted");
        this.#open.clear();
        return;
      case "ActivityRecorded":
        this.lanes.get(event.activity.endpointId)?.addArrivals(event.at, 1, event.waitedMs > 0 ? 1 : 0);
        return;
      case "SpanEnded":
        // How its requests were distributed within it is not recorded. The compute was active, so none waited.
        this.lanes.get(event.endpointId)?.addArrivals(event.beganAt, event.arrivals, 0);
        return;
      case "OperationScheduled": {
        const { operation } = event;
        this.#open.set(operation.id, { operation, shown: undefined });
        if (this.#isRestart(operation)) this.#mark(event, "restart", operation.endpointId);
        if (operation.state.status === "running") this.#start(operation.id, event.at);
        return;
      }
      case "OperationStarted":
        this.#start(event.operationId, event.at);
        return;
      case "OperationFinished":
        this.#end(event.operationId, event.at, "finished");
        return;
      case "OperationFailed":
        this.#end(event.operationId, event.at, "failed");
        return;
      case "OperationCancelled":
        this.#end(event.operationId, event.at, "cancelled");
        return;
      case "FaultHit":
        this.marks.push({
          at: event.at,
          seq: event.seq,
          kind: "fault",
          endpointId: event.target.endpointId,
          projectId: event.target.projectId,
          name: event.fault,
        });
        return;
      default:
        event.type satisfies IsNotDrawn;
    }
  }

  #addLane(compute: Compute, at: SimTime): void {
    const lane = new Lane(compute);
    this.lanes.set(compute.id, lane);
    const { phase } = compute;
    if (phase.state !== "active") lane.enter(at, "suspended");
    else lane.enter(at, phase.suspending ? "suspending" : "active", phase.sizeCu);
  }

  #mark(event: RecordedEvent, kind: TimelineMark["kind"], endpointId: string): void {
    const { at, seq } = event;
    this.marks.push({ at, seq, kind, endpointId, projectId: this.lanes.get(endpointId)?.projectId });
  }

  /** A start that was asked for while the compute is being suspended, or that follows an update. */
  #isRestart(operation: Operation): operation is Operation & { readonly endpointId: string } {
    const { action, cause, endpointId } = operation;
    if (action !== "start_compute" || endpointId === undefined) return false;
    const isSuspending = this.lanes.get(endpointId)?.state === "suspending";
    return cause === "restart" || (cause === "request" && isSuspending);
  }

  #start(id: string, at: SimTime): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    const { action, endpointId, projectId, branchId } = open.operation;
    if (action === "start_compute") {
      const lane = this.lanes.get(endpointId ?? "");
      if (lane?.state === "suspended") lane.enter(at, "starting");
    } else if (action !== "suspend_compute") {
      open.shown = {
        id,
        action,
        projectId,
        ...(branchId === undefined ? {} : { branchId }),
        ...(endpointId === undefined ? {} : { endpointId }),
        since: at,
        status: "running",
      };
      this.operations.push(open.shown);
    }
  }

  #end(id: string, at: SimTime, status: "finished" | "failed" | "cancelled"): void {
    const shown = this.#open.get(id)?.shown;
    this.#open.delete(id);
    if (shown === undefined) return;
    shown.until = at;
    shown.status = status;
  }
}

/** Events that change nothing that a timeline shows. */
type IsNotDrawn =
  | "SpanBegan"
  | EventTypeOf<AccessNoun | ContentNoun | "project" | "branch">
  | WorldSettingType
  | "OperationRetried"
  | "ActivityScheduled"
  | "ActivityDropped"
  | "FaultSet"
  | "FaultRemoved"
  | "FaultMatched";

type LaneChange = Extract<
  RecordedEvent,
  {
    type:
      | "ComputeUpdated"
      | "ComputeActivated"
      | "ComputeResized"
      | "ComputeSuspending"
      | "ComputeSuspended"
      | "ComputeStartFailed"
      | "ComputeSuspendFailed"
      | "ComputeDeleted";
  }
>;

function changeLane(lane: Lane, event: LaneChange): void {
  switch (event.type) {
    case "ComputeUpdated":
      if (event.changes.range !== undefined) lane.minCu = event.changes.range.minCu;
      return;
    case "ComputeActivated":
      lane.enter(event.at, "active", lane.minCu);
      return;
    case "ComputeResized":
      lane.enter(event.at, "active", event.sizeCu);
      return;
    case "ComputeSuspending":
      lane.enter(event.at, "suspending", lane.sizeCu);
      return;
    case "ComputeSuspended":
    case "ComputeStartFailed":
      lane.enter(event.at, "suspended");
      return;
    case "ComputeSuspendFailed":
      lane.enter(event.at, "active", lane.sizeCu);
      return;
    case "ComputeDeleted":
      lane.enter(event.at, "deleted");
      return;
    default:
      event satisfies never;
  }
}
