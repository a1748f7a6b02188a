import type { SimTime } from "../../platform/core/time.ts";
import { profileOfWorld, type World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { isComputeVisible } from "../../platform/lookup.ts";
import type { Operation, OperationAction } from "../../platform/operation/operation.ts";
import type { ComputeState, MeasureName } from "../file/expectation.ts";
import type { Labels } from "../file/labels.ts";
import { ComputeMetrics, type QueuedArrival } from "./compute-metrics.ts";
import { Counters, type OperationEnd } from "./counters.ts";
import { RecentEvents } from "./recent-events.ts";
import { countBranches, countComputes, countOpenConnections, countProjects } from "./resource-counts.ts";

/** An operation that is scheduling or running. `of` is what it concerns: a compute, or a branch, or a project. */
type OngoingOperation = {
  readonly action: OperationAction;
  readonly of: string;
  readonly counters: Counters;
  status: string;
};

/** Arrivals that are not served yet, by compute. */
export type QueuedArrivals = ReadonlyMap<string, readonly QueuedArrival[]>;

/** An answer that this scenario got. */
export type AnsweredRequest = { readonly method: string; readonly status: number; readonly code: string };

/**
 * What has happened in a run, folded from the world's events as they come; what there is, the census counts in the world. The same events give the
 * same figures, wherever they come from.
 */
export class RunMetrics {
  readonly #labels: Labels;
  readonly #start: SimTime;
  readonly #worldCounters = new Counters();
  readonly #counters = new Map<string, Counters>();
  readonly #computes = new Map<string, ComputeMetrics>();
  readonly #ongoing = new Map<string, OngoingOperation>();
  readonly #eventCounts = new Map<string, number>();
  readonly #recentEvents = new RecentEvents();
  readonly #requestCounts = new Map<string, { readonly request: AnsweredRequest; count: number }>();
  #world: World;
  /** Ids of the computes that labels mean where a compute is wanted. */
  readonly #primaryComputes = new Map<string, string>();
  #events = 0;
  #errors = 0;

  constructor(world: World, labels: Labels, start: SimTime) {
    this.#world = world;
    this.#labels = labels;
    this.#start = start;
    this.enterWorld(world, start);
  }

  get events(): number {
    return this.#events;
  }

  /** The world is left at `now`: it is restored, or opened again. What was counted stays counted. */
  leaveWorld(now: SimTime): void {
    for (const computeMetrics of this.#computes.values()) computeMetrics.leaveWorld(now);
    this.#ongoing.clear();
  }

  /** Who waits for which compute now: the world itself knows only for how long. */
  queuedArrivals(): QueuedArrivals {
    return new Map(
      [...this.#computes].flatMap(([id, { waiting }]) => (waiting.length === 0 ? [] : [[id, [...waiting]]])),
    );
  }

  /** Goes on with what the world is from then on, and with those who waited when it was so. */
  enterWorld(world: World, now: SimTime, queuedArrivals: QueuedArrivals = new Map()): void {
    this.#world = world;
    for (const operation of world.operations.values()) this.#countOperation(operation);
    const starting = new Set(
      [...this.#ongoing.values()].flatMap(({ action, of }) => (action === "start_compute" ? [of] : [])),
    );
    for (const { id, accountId } of world.projects.values())
      this.#countersOf(id).parent = this.#countersOf(accountId);
    for (const compute of world.computes.values()) {
      const computeMetrics = this.#metricsOf(compute.id);
      computeMetrics.counters.parent = this.#countersOf(compute.branchId);
      computeMetrics.enterWorld(compute, queuedArrivals.get(compute.id) ?? [], starting.has(compute.id), now);
    }
  }

  /** One event, after the world has taken it in, which may be further already. */
  observe(event: RecordedEvent): void {
    const { type, at } = event;
    this.#events += 1;
    this.#eventCounts.set(type, (this.#eventCounts.get(type) ?? 0) + 1);
    if (isInformative(event)) this.#recentEvents.add(event, this.#subjectOf(event));
    switch (type) {
      case "ActivityRecorded":
        this.#metricsOf(event.activity.endpointId).arrived(event.activity, event.waitedMs);
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
        this.#metricsOf(event.endpointId).activated(profileOfWorld(this.#world), at);
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

  /** An arrival that the world refused. */
  refused(endpointId: string): void {
    this.#metricsOf(endpointId).counters.add("refused");
  }

  /** An answer that this scenario got; one that no step asked for is an error. */
  countRequest(request: AnsweredRequest, isExpected: boolean): void {
    if (request.status >= 400 && !isExpected) this.#errors += 1;
    const key = `${request.method} ${request.status} ${request.code}`;
    const known = this.#requestCounts.get(key);
    if (known === undefined) this.#requestCounts.set(key, { request, count: 1 });
    else known.count += 1;
  }

  /** What a measure is now; `of` is a label, or absent for all of the world. */
  measure(
    name: MeasureName,
    of: string | undefined,
    where: Readonly<Record<string, string | number>>,
    now: SimTime,
  ): number | ComputeState {
    const id = of === undefined ? undefined : this.idOf(name, of);
    const counters = id === undefined ? this.#worldCounters : this.#countersOf(id);
    switch (name) {
      case "state":
        return this.#stateOf(id ?? "");
      case "projects":
        return countProjects(this.#world, id);
      case "branches":
        return countBranches(this.#world, id);
      case "computes":
        return countComputes(this.#world, id);
      case "active_computes":
        return counters.active;
      case "activities":
        return counters.activities;
      case "refused":
        return counters.refused;
      case "connections":
        return countOpenConnections(this.#world, now, id);
      case "cold_starts":
        return counters.coldStarts;
      case "starts":
        return counters.starts;
      case "suspends":
        return counters.suspends;
      case "resizes":
        return counters.resizes;
      case "active_time":
        return counters.activeMs(now);
      case "compute_time":
        return counters.cuMs(now);
      case "wait_mean":
        return counters.meanWaitMs();
      case "wait_p50":
        return counters.waitPercentile(50);
      case "wait_p90":
        return counters.waitPercentile(90);
      case "wait_p99":
        return counters.waitPercentile(99);
      case "wait_max":
        return counters.longestWaitMs();
      case "operations":
        return (
          counters.operations(where["action"], where["status"]) +
          this.#countOngoing(counters, where["action"], where["status"])
        );
      case "requests":
        return this.#countRequests((request) =>
          Object.entries(where).every(
            ([key, wanted]) => String(request[key as keyof AnsweredRequest]) === String(wanted),
          ),
        );
      case "errors":
        return this.#errors + counters.refused;
      case "events":
        return where["type"] === undefined
          ? this.#events
          : (this.#eventCounts.get(String(where["type"])) ?? 0);
      default:
        return name satisfies never;
    }
  }

  /** What a label of an expectation means: a branch is its primary compute where only a compute has what is measured. */
  idOf(name: MeasureName, label: string): string | undefined {
    if (name !== "state") return this.#labels.get(label)?.id;
    let id = this.#primaryComputes.get(label);
    if (id === undefined) {
      id = this.#labels.computes(label)[0]?.id;
      if (id !== undefined) this.#primaryComputes.set(label, id);
    }
    return id;
  }

  /** The newest events, of one thing and what is in it, or of all. */
  recentEvents(id?: string): readonly RecordedEvent[] {
    if (id === undefined) return this.#recentEvents.all();
    const container = this.#countersOf(id);
    return this.#recentEvents.matching(
      (other) => other === id || this.#counters.get(other)?.isWithin(container) === true,
    );
  }

  /** Each compute that was ever there, in the order of its coming: shares of `columns` equal parts of the time until `end`. */
  timelines(
    end: SimTime,
    columns: number,
  ): { readonly label: string; readonly active: number[]; readonly starting: number[] }[] {
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

  /** Counts an operation, which may have been over at once, where it belongs. */
  #countOperation({ id, endpointId, branchId, projectId, action, state: { status } }: Operation): Counters {
    const of = endpointId ?? branchId ?? projectId;
    const counters = endpointId === undefined ? this.#countersOf(of) : this.#metricsOf(endpointId).counters;
    if (status === "finished") counters.addOperation(action, status);
    else this.#ongoing.set(id, { action, of, counters, status });
    return counters;
  }

  #countOngoing(container: Counters, action: unknown, status: unknown): number {
    let count = 0;
    for (const operation of this.#ongoing.values()) {
      const isMatch =
        (action ?? operation.action) === operation.action &&
        (status ?? operation.status) === operation.status;
      if (isMatch && operation.counters.isWithin(container)) count += 1;
    }
    return count;
  }

  #setOperationStatus(status: "running" | OperationEnd, id: string, at: SimTime): void {
    const operation = this.#ongoing.get(id);
    if (operation === undefined) return;
    const { action, of, counters } = operation;
    operation.status = status;
    if (status === "running") return;
    this.#ongoing.delete(id);
    counters.addOperation(action, status);
    // A start that never came leaves the compute as it was.
    if (action === "start_compute" && status === "cancelled") this.#metricsOf(of).startCancelled(at);
  }

  /** Computes that are somewhere else from now on, or whose project is. */
  #move(id: string, into: string, at: SimTime): void {
    const counters = this.#countersOf(id);
    const parent = this.#countersOf(into);
    for (const computeMetrics of this.#computes.values())
      if (computeMetrics.counters.isWithin(counters)) computeMetrics.pause(at);
    counters.parent = parent;
    for (const computeMetrics of this.#computes.values())
      if (computeMetrics.counters.isWithin(counters)) computeMetrics.resume(at);
  }

  #metricsOf(id: string): ComputeMetrics {
    let computeMetrics = this.#computes.get(id);
    if (computeMetrics === undefined) {
      computeMetrics = new ComputeMetrics(this.#countersOf(id), this.#start);
      this.#computes.set(id, computeMetrics);
    }
    return computeMetrics;
  }

  /** `above` is what it is in, where the world may not know that any more. */
  #countersOf(id: string, parent?: string): Counters {
    const known = this.#counters.get(id);
    if (known !== undefined) return known;
    const { computes, branches, projects } = this.#world;
    const parentId =
      parent ?? computes.get(id)?.branchId ?? branches.get(id)?.projectId ?? projects.get(id)?.accountId;
    const counters = new Counters(parentId === undefined ? this.#worldCounters : this.#countersOf(parentId));
    this.#counters.set(id, counters);
    return counters;
  }

  /** What an event is about. */
  #subjectOf(event: RecordedEvent): string | undefined {
    switch (event.type) {
      case "ActivityRecorded":
        return event.activity.endpointId;
      case "ActivityScheduled":
        return event.scheduled.activity.endpointId;
      case "OperationScheduled":
        return event.operation.endpointId ?? event.operation.branchId ?? event.operation.projectId;
      case "ProjectCreated":
        return event.project.id;
      case "BranchCreated":
        return event.branch.id;
      case "ComputeCreated":
        return event.compute.id;
      case "FaultHit":
        return event.target.endpointId ?? event.target.branchId ?? event.target.projectId;
      default:
        if ("endpointId" in event) return event.endpointId;
        if ("branchId" in event) return event.branchId;
        if ("projectId" in event) return event.projectId;
        if ("operationId" in event) return this.#ongoing.get(event.operationId)?.of;
        event.type satisfies ConcernsNoResource;
        return undefined;
    }
  }

  #stateOf(id: string): ComputeState {
    const compute = this.#world.computes.get(id);
    if (compute === undefined || !isComputeVisible(this.#world, compute)) return "gone";
    return this.#computes.get(id)?.state ?? (compute.phase.state === "init" ? "init" : "idle");
  }

  #countRequests(matches: (request: AnsweredRequest) => boolean): number {
    return [...this.#requestCounts.values()].reduce(
      (sum, { request, count }) => sum + (matches(request) ? count : 0),
      0,
    );
  }
}

const STATUS_AFTER = {
  OperationStarted: "running",
  OperationFinished: "finished",
  OperationFailed: "failed",
  OperationCancelled: "cancelled",
} as const;

/** What every operation goes through, what is recorded of one that nobody waited for, and what a fault has let pass tell nobody anything. */
function isInformative(event: RecordedEvent): boolean {
  switch (event.type) {
    case "OperationFinished":
    case "OperationStarted":
    case "FaultMatched":
      return false;
    case "OperationScheduled":
      return event.operation.state.status !== "finished";
    default:
      event.type satisfies AlwaysInformative;
      return true;
  }
}

/** Events that are counted as events, and change no other metric. */
// biome-ignore format: as a packed list
type ChangesNoMetric =
  | "WorldCreated" | "WorldConfigured" | "AccountCreated" | "AccountPlanChanged" | "ApiKeyCreated"
  | "ApiKeyRevoked" | "ProjectUpdated" | "ProjectDeleted" | "ProjectRecovered" | "ProjectRemoved"
  | "RecordCreated" | "RecordUpdated" | "RecordDeleted" | "BranchBecameReady" | "BranchUpdated"
  | "BranchSetAsDefault" | "BranchExpirationSet" | "BranchMoved" | "BranchRestored"
  | "BranchDeleted" | "BranchRecovered" | "BranchRemoved" | "RoleCreated" | "RoleDeleted"
  | "RolePasswordReset" | "DatabaseCreated" | "DatabaseUpdated" | "DatabaseDeleted"
  | "SnapshotCreated" | "SnapshotRenamed" | "SnapshotDeleted" | "BackupScheduleSet"
  | "OperationRetried" | "ActivityScheduled" | "FaultSet" | "FaultRemoved" | "FaultMatched"
  | "FaultHit";

/** Events that concern neither a project nor anything in one by its id. */
// biome-ignore format: as a packed list
type ConcernsNoResource =
  | "WorldCreated" | "WorldConfigured" | "WorldReset" | "AccountCreated" | "AccountPlanChanged"
  | "ApiKeyCreated" | "ApiKeyRevoked" | "RecordCreated" | "RecordUpdated" | "RecordDeleted"
  | "SnapshotCreated" | "SnapshotRenamed" | "SnapshotDeleted" | "FaultSet" | "FaultRemoved"
  | "FaultMatched";

/** Events that a report always lists. */
// biome-ignore format: as a packed list
type AlwaysInformative =
  | "WorldCreated" | "WorldConfigured" | "WorldReset" | "AccountCreated" | "AccountPlanChanged"
  | "ApiKeyCreated" | "ApiKeyRevoked" | "ProjectCreated" | "ProjectUpdated" | "ProjectDeleted"
  | "ProjectRecovered" | "ProjectRemoved" | "ProjectTransferred" | "RecordCreated" | "RecordUpdated"
  | "RecordDeleted" | "BranchCreated" | "BranchBecameReady" | "BranchUpdated" | "BranchSetAsDefault"
  | "BranchExpirationSet" | "BranchMoved" | "BranchRestored" | "BranchDeleted" | "BranchRecovered"
  | "BranchRemoved" | "RoleCreated" | "RoleDeleted" | "RolePasswordReset" | "DatabaseCreated"
  | "DatabaseUpdated" | "DatabaseDeleted" | "SnapshotCreated" | "SnapshotRenamed"
  | "SnapshotDeleted" | "BackupScheduleSet" | "ComputeCreated" | "ComputeUpdated" | "ComputeDeleted"
  | "ComputeActivated" | "ComputeSuspending" | "ComputeSuspended" | "ComputeResized"
  | "ComputeStartFailed" | "ComputeSuspendFailed" | "OperationRetried" | "OperationFailed"
  | "OperationCancelled" | "ActivityScheduled" | "ActivityRecorded" | "ActivityDropped" | "FaultSet"
  | "FaultRemoved" | "FaultHit";
