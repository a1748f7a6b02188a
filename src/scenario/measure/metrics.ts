import type { SimTime } from "../../kernel/time.ts";
import type {
  AccessNoun,
  BranchChangeType,
  ContentNoun,
  EventTypeOf,
  RecordedEvent,
  WorldSettingType,
} from "../../platform/model/events.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { isComputeVisible } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import type { ComputeState, MeasureName } from "../file/expectation.ts";
import type { Labels } from "../file/labels.ts";
import { ComputeMetrics, moveComputes, type QueuedArrival } from "./compute-metrics.ts";
import { counterMeasure } from "./counter-measures.ts";
import { CounterTree } from "./counter-tree.ts";
import type { Counters, OperationEnd } from "./counters.ts";
import { OngoingOperations } from "./ongoing-operations.ts";
import { type AnsweredRequest, RequestCounts } from "./request-counts.ts";
import { countBranches, countComputes, countOpenConnections, countProjects } from "./resource-counts.ts";
import type { ComputeTimeline } from "./run-figures.ts";

/** Arrivals that are not served yet, by compute. */
export type QueuedArrivals = ReadonlyMap<string, readonly QueuedArrival[]>;

/**
 * The metrics of a run, folded from the events of the world; resource counts come from the world itself. The
 * same events give the same figures on every target.
 */
export class RunMetrics {
  readonly #labels: Labels;
  readonly #start: SimTime;
  readonly #counters = new CounterTree();
  readonly #computes = new Map<string, ComputeMetrics>();
  readonly #ongoing = new OngoingOperations();
  readonly #eventCounts = new Map<string, number>();
  readonly #requests = new RequestCounts();
  #world: World;
  /** Cache: the compute id that a label selects. */
  readonly #primaryComputes = new Map<string, string>();
  #events = 0;

  constructor(world: World, labels: Labels, start: SimTime) {
    this.#world = world;
    this.#labels = labels;
    this.#start = start;
    this.enterWorld(world, start);
  }

  get events(): number {
    return this.#events;
  }

  /** The world is left at `now`, because it is restored or reopened. Counts are retained. */
  leaveWorld(now: SimTime): void {
    for (const computeMetrics of this.#computes.values()) computeMetrics.leaveWorld(now);
    this.#ongoing.clear();
  }

  /** The waiting arrivals by compute, which the world itself does not list. */
  queuedArrivals(): QueuedArrivals {
    return new Map(
      [...this.#computes].flatMap(([id, { waiting }]) => (waiting.length === 0 ? [] : [[id, [...waiting]]])),
    );
  }

  /** Continues with a new world, and with the arrivals that wait in it. */
  enterWorld(world: World, now: SimTime, queuedArrivals: QueuedArrivals = new Map()): void {
    this.#world = world;
    for (const operation of world.operations.values()) this.#countOperation(operation);
    const starting = this.#ongoing.startingComputes();
    for (const { id, accountId } of world.projects.values())
      this.#countersOf(id).parent = this.#countersOf(accountId);
    for (const compute of world.computes.values()) {
      const computeMetrics = this.#metricsOf(compute.id);
      computeMetrics.counters.parent = this.#countersOf(compute.branchId);
      computeMetrics.enterWorld(compute, queuedArrivals.get(compute.id) ?? [], starting.has(compute.id), now);
    }
  }

  /** Counts an event. The world has applied it, and may already be ahead of it. */
  observe(event: RecordedEvent): void {
    const { type, at } = event;
    this.#events += 1;
    this.#eventCounts.set(type, (this.#eventCounts.get(type) ?? 0) + 1);
    switch (type) {
      case "ActivityRecorded":
        this.#metricsOf(event.activity.endpointId).arrived(event.activity, event.waitedMs, at);
        return;
      case "ActivityDropped":
        this.#metricsOf(event.endpointId).counters.add("refused");
        return;
      case "ProjectCreated":
        this.#countersOf(event.project.id, event.project.accountId);
        return;
      case "BranchCreated":
        this.#countersOf(event.branch.id, event.branch.projectId);
        return;
      case "ComputeCreated":
        this.#countersOf(event.compute.id, event.compute.branchId);
        this.#metricsOf(event.compute.id).range = event.compute.range;
        return;
      case "ProjectTransferred":
        this.#move(event.projectId, event.accountId, at);
        return;
      case "ComputeUpdated": {
        const { range, branchId } = event.changes;
        if (range !== undefined) this.#metricsOf(event.endpointId).range = range;
        if (branchId !== undefined) this.#move(event.endpointId, branchId, at);
        return;
      }
      case "ComputeActivated":
        this.#metricsOf(event.endpointId).activated(this.#world, at);
        return;
      case "ComputeResized":
        this.#metricsOf(event.endpointId).resized(event.sizeCu, at);
        return;
      case "ComputeSuspending":
        this.#metricsOf(event.endpointId).suspending();
        return;
      case "ComputeSuspendFailed":
        this.#metricsOf(event.endpointId).suspendFailed();
        return;
      case "ComputeSuspended":
        this.#metricsOf(event.endpointId).suspended(at);
        return;
      case "ComputeStartFailed":
      case "ComputeDeleted":
        this.#metricsOf(event.endpointId).startFailedOrDeleted(at);
        return;
      case "OperationScheduled":
        this.#operationScheduled(event.operation);
        return;
      case "OperationStarted":
      case "OperationFinished":
      case "OperationFailed":
      case "OperationCancelled":
        this.#setOperationStatus(STATUS_AFTER[type], event.operationId, at);
        return;
      case "WorldReset":
        this.leaveWorld(at);
        return;
      default: {
        event.type satisfies ChangesNoMetric;
      }
    }
  }

  /** Counts an arrival that the world rejected. */
  refused(endpointId: string): void {
    this.#metricsOf(endpointId).counters.add("refused");
  }

  /** Counts a response; an unexpected one of 400 or more is an error. */
  countRequest(request: AnsweredRequest, isExpected: boolean): void {
    this.#requests.add(request, isExpected);
  }

  /** The value of a measure at `now`; without the label `of`, for the whole world. */
  measure(
    name: MeasureName,
    of: string | undefined,
    where: Readonly<Record<string, string | number>>,
    now: SimTime,
  ): number | ComputeState {
    const id = of === undefined ? undefined : this.idOf(name, of);
    const counters = id === undefined ? this.#counters.world : this.#countersOf(id);
    switch (name) {
      case "state":
        return stateOf(this.#world, id ?? "", this.#computes);
      case "projects":
        return countProjects(this.#world, id);
      case "branches":
        return countBranches(this.#world, id);
      case "computes":
        return countComputes(this.#world, id);
      case "connections":
        return countOpenConnections(this.#world, now, id);
      case "operations":
        return (
          counters.operations(where["action"], where["status"]) +
          this.#ongoing.count(counters, where["action"], where["status"])
        );
      case "requests":
        return this.#requests.count(where);
      case "errors":
        return this.#requests.errors + counters.refused;
      case "events":
        return where["type"] === undefined
          ? this.#events
          : (this.#eventCounts.get(String(where["type"])) ?? 0);
      default:
        return counterMeasure(name, counters, now);
    }
  }

  /** The id for a label of an expectation. For `state`, a branch stands for its primary compute. */
  idOf(name: MeasureName, label: string): string | undefined {
    if (name !== "state") return this.#labels.get(label)?.id;
    let id = this.#primaryComputes.get(label);
    if (id === undefined) {
      id = this.#labels.computes(label)[0]?.id;
      if (id !== undefined) this.#primaryComputes.set(label, id);
    }
    return id;
  }

  /** Whether a compute is, or is within, the resource of an id. */
  isWithin(computeId: string, id: string): boolean {
    return computeId === id || this.#counters.isWithin(computeId, this.#countersOf(id));
  }

  /**
   * The timeline of every compute that ever existed, in order of creation, for `columns` equal parts of the
   * time until `end`.
   */
  timelines(end: SimTime, columns: number): ComputeTimeline[] {
    return [...this.#computes].map(([id, computeMetrics]) => ({
      label: this.#labels.labelOf(id),
      ...computeMetrics.timeline(end, columns),
    }));
  }

  #operationScheduled(operation: Operation): void {
    const { action, cause, createdAt, endpointId } = operation;
    const counters = this.#countOperation(operation);
    if (endpointId === undefined || action !== "start_compute") return;
    if (cause === "activity") counters.add("coldStarts");
    this.#metricsOf(endpointId).startScheduled(createdAt);
  }

  /** Counts an operation under its resource; it may already have finished. */
  #countOperation({ id, endpointId, branchId, projectId, action, state: { status } }: Operation): Counters {
    const of = endpointId ?? branchId ?? projectId;
    const counters = endpointId === undefined ? this.#countersOf(of) : this.#metricsOf(endpointId).counters;
    if (status === "finished") counters.addOperation(action, status);
    else this.#ongoing.add(id, { action, of, counters, status });
    return counters;
  }

  #setOperationStatus(status: "running" | OperationEnd, id: string, at: SimTime): void {
    const ended = this.#ongoing.setStatus(id, status);
    if (ended === undefined || status === "running") return;
    const { action, of, counters } = ended;
    counters.addOperation(action, status);
    // A cancelled start does not change the compute.
    if (action === "start_compute" && status === "cancelled") this.#metricsOf(of).startCancelled(at);
  }

  #move(id: string, into: string, at: SimTime): void {
    moveComputes([...this.#computes.values()], this.#countersOf(id), this.#countersOf(into), at);
  }

  #metricsOf(id: string): ComputeMetrics {
    let computeMetrics = this.#computes.get(id);
    if (computeMetrics === undefined) {
      computeMetrics = new ComputeMetrics(this.#countersOf(id), this.#start);
      this.#computes.set(id, computeMetrics);
    }
    return computeMetrics;
  }

  #countersOf(id: string, parent?: string): Counters {
    return this.#counters.of(id, this.#world, parent);
  }
}

const STATUS_AFTER = {
  OperationStarted: "running",
  OperationFinished: "finished",
  OperationFailed: "failed",
  OperationCancelled: "cancelled",
} as const;

function stateOf(world: World, id: string, metrics: ReadonlyMap<string, ComputeMetrics>): ComputeState {
  const compute = world.computes.get(id);
  if (compute === undefined || !isComputeVisible(world, compute)) return "gone";
  return metrics.get(id)?.state ?? (compute.phase.state === "init" ? "init" : "idle");
}

/** Events that are counted as events, and change no other metric. */
type ChangesNoMetric =
  | EventTypeOf<AccessNoun | ContentNoun | "span" | "fault">
  | WorldSettingType
  | "ProjectUpdated"
  | "ProjectDeleted"
  | "ProjectRecovered"
  | "ProjectRemoved"
  | BranchChangeType
  | "BranchDeleted"
  | "BranchRecovered"
  | "BranchRemoved"
  | "OperationRetried"
  | "ActivityScheduled";
