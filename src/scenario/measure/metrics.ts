import type { SimTime } from "../../platform/core/time.ts";
import { profileOf, type World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { isVisible } from "../../platform/lookup.ts";
import type { Operation, OperationAction } from "../../platform/operation/operation.ts";
import type { ComputeState, MeasureName } from "../file/expectation.ts";
import type { Labels } from "../file/labels.ts";
import { type Waiter, WatchedCompute } from "./compute-metrics.ts";
import { type OperationEnd, Tally } from "./counters.ts";
import { RecentEvents } from "./recent-events.ts";
import { countBranches, countComputes, countConnectionsIn, countProjects } from "./resource-counts.ts";

/** An operation that is scheduling or running. `of` is what it concerns: a compute, or a branch, or a project. */
type UnderWay = { readonly action: OperationAction; readonly of: string; readonly tally: Tally; status: string };

/** Arrivals that are not served yet, by compute. */
export type Waiters = ReadonlyMap<string, readonly Waiter[]>;

/** An answer that this scenario got. */
export type Asked = { readonly method: string; readonly status: number; readonly code: string };

/**
 * What has happened in a run, folded from the world's events as they come; what there is, the census counts in the world. The same events give the
 * same figures, wherever they come from.
 */
export class Observation {
  readonly #labels: Labels;
  readonly #start: SimTime;
  readonly #all = new Tally();
  readonly #tallies = new Map<string, Tally>();
  readonly #computes = new Map<string, WatchedCompute>();
  readonly #underWay = new Map<string, UnderWay>();
  readonly #types = new Map<string, number>();
  readonly #recent = new RecentEvents();
  readonly #asked = new Map<string, { readonly asked: Asked; count: number }>();
  #world: World;
  /** Ids of the computes that labels mean where a compute is wanted. */
  readonly #primaries = new Map<string, string>();
  #events = 0;
  #errors = 0;

  constructor(world: World, labels: Labels, start: SimTime) {
    this.#world = world;
    this.#labels = labels;
    this.#start = start;
    this.enter(world, start);
  }

  get events(): number {
    return this.#events;
  }

  /** The world is left at `now`: it is restored, or opened again. What was counted stays counted. */
  leave(now: SimTime): void {
    for (const watched of this.#computes.values()) watched.leave(now);
    this.#underWay.clear();
  }

  /** Who waits for which compute now: the world itself knows only for how long. */
  waiters(): Waiters {
    return new Map([...this.#computes].flatMap(([id, { waiting }]) => (waiting.length === 0 ? [] : [[id, [...waiting]]])));
  }

  /** Goes on with what the world is from then on, and with those who waited when it was so. */
  enter(world: World, now: SimTime, waiters: Waiters = new Map()): void {
    this.#world = world;
    for (const operation of world.operations.values()) this.#count(operation);
    const starting = new Set([...this.#underWay.values()].flatMap(({ action, of }) => (action === "start_compute" ? [of] : [])));
    for (const { id, accountId } of world.projects.values()) this.#tallyOf(id).above = this.#tallyOf(accountId);
    for (const compute of world.computes.values()) {
      const watched = this.#watch(compute.id);
      watched.tally.above = this.#tallyOf(compute.branchId);
      watched.enter(compute, waiters.get(compute.id) ?? [], starting.has(compute.id), now);
    }
  }

  /** One event, after the world has taken it in, which may be further already. */
  observe(event: RecordedEvent): void {
    const { type, at } = event;
    this.#events += 1;
    this.#types.set(type, (this.#types.get(type) ?? 0) + 1);
    if (isTelling(event)) this.#recent.keep(event, this.#subjectOf(event));
    switch (type) {
      case "ActivityRecorded":
        this.#watch(event.activity.endpointId).arrived(event.activity, event.waitedMs);
        return;
      case "ActivityDropped":
        this.#watch(event.endpointId).tally.add("refused");
        return;
      case "ProjectCreated":
        this.#tallyOf(event.project.id, event.project.accountId);
        return;
      case "BranchCreated":
        this.#tallyOf(event.branch.id, event.branch.projectId);
        return;
      case "ComputeCreated":
        this.#tallyOf(event.compute.id, event.compute.branchId);
        this.#watch(event.compute.id).range = event.compute.range;
        return;
      case "ProjectTransferred":
        this.#move(event.projectId, event.accountId, at);
        return;
      case "ComputeUpdated": {
        const { range, branchId } = event.changes;
        if (range !== undefined) this.#watch(event.endpointId).range = range;
        if (branchId !== undefined) this.#move(event.endpointId, branchId, at);
        return;
      }
      case "ComputeActivated":
        this.#watch(event.endpointId).activated(profileOf(this.#world), at);
        return;
      case "ComputeResized":
        this.#watch(event.endpointId).resized(event.sizeCu, at);
        return;
      case "ComputeSuspending":
        this.#watch(event.endpointId).suspending();
        return;
      case "ComputeSuspendFailed":
        this.#watch(event.endpointId).suspendFailed();
        return;
      case "ComputeSuspended":
        this.#watch(event.endpointId).suspended(at);
        return;
      case "ComputeStartFailed":
      case "ComputeDeleted":
        this.#watch(event.endpointId).gone(at);
        return;
      case "OperationScheduled":
        this.#scheduled(event.operation);
        return;
      case "OperationStarted":
      case "OperationFinished":
      case "OperationFailed":
      case "OperationCancelled":
        this.#operationIs(STATUS_AFTER[type], event.operationId, at);
        return;
      case "WorldReset":
        this.leave(at);
        return;
    }
  }

  /** An arrival that the world refused. */
  refused(endpointId: string): void {
    this.#watch(endpointId).tally.add("refused");
  }

  /** An answer that this scenario got; one that no step asked for is an error. */
  answered(asked: Asked, isExpected: boolean): void {
    if (asked.status >= 400 && !isExpected) this.#errors += 1;
    const key = `${asked.method} ${asked.status} ${asked.code}`;
    const known = this.#asked.get(key);
    if (known === undefined) this.#asked.set(key, { asked, count: 1 });
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
    const tally = id === undefined ? this.#all : this.#tallyOf(id);
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
        return tally.active;
      case "activities":
        return tally.activities;
      case "refused":
        return tally.refused;
      case "connections":
        return countConnectionsIn(this.#world, now, id);
      case "cold_starts":
        return tally.coldStarts;
      case "starts":
        return tally.starts;
      case "suspends":
        return tally.suspends;
      case "resizes":
        return tally.resizes;
      case "active_time":
        return tally.activeMs(now);
      case "compute_time":
        return tally.cuMs(now);
      case "wait_mean":
        return tally.meanWaitMs();
      case "wait_p50":
        return tally.waitPercentile(50);
      case "wait_p90":
        return tally.waitPercentile(90);
      case "wait_p99":
        return tally.waitPercentile(99);
      case "wait_max":
        return tally.longestWaitMs();
      case "operations":
        return tally.operations(where["action"], where["status"]) + this.#countUnderWay(tally, where["action"], where["status"]);
      case "requests":
        return this.#requests((asked) =>
          Object.entries(where).every(([key, wanted]) => String(asked[key as keyof Asked]) === String(wanted)),
        );
      case "errors":
        return this.#errors + tally.refused;
      case "events":
        return where["type"] === undefined ? this.#events : (this.#types.get(String(where["type"])) ?? 0);
      default:
        return name satisfies never;
    }
  }

  /** What a label of an expectation means: a branch is its primary compute where only a compute has what is measured. */
  idOf(name: MeasureName, label: string): string | undefined {
    if (name !== "state") return this.#labels.get(label)?.id;
    let id = this.#primaries.get(label);
    if (id === undefined) {
      id = this.#labels.computes(label)[0]?.id;
      if (id !== undefined) this.#primaries.set(label, id);
    }
    return id;
  }

  /** The newest events, of one thing and what is in it, or of all. */
  newest(id?: string): readonly RecordedEvent[] {
    if (id === undefined) return this.#recent.ofAll();
    const whole = this.#tallyOf(id);
    return this.#recent.of((other) => other === id || this.#tallies.get(other)?.isWithin(whole) === true);
  }

  /** Each compute that was ever there, in the order of its coming: shares of `columns` equal parts of the time until `end`. */
  timelines(end: SimTime, columns: number): { readonly label: string; readonly active: number[]; readonly starting: number[] }[] {
    return [...this.#computes].map(([id, watched]) => ({ label: this.#labels.of(id), ...watched.timeline(end, columns) }));
  }

  #scheduled(operation: Operation): void {
    const { action, cause, createdAt, endpointId } = operation;
    const tally = this.#count(operation);
    if (endpointId === undefined || action !== "start_compute") return;
    if (cause === "activity") tally.add("coldStarts");
    this.#watch(endpointId).startScheduled(createdAt);
  }

  /** Counts an operation, which may have been over at once, where it belongs. */
  #count({ id, endpointId, branchId, projectId, action, state: { status } }: Operation): Tally {
    const of = endpointId ?? branchId ?? projectId;
    const tally = endpointId === undefined ? this.#tallyOf(of) : this.#watch(endpointId).tally;
    if (status === "finished") tally.addOperation(action, status);
    else this.#underWay.set(id, { action, of, tally, status });
    return tally;
  }

  #countUnderWay(whole: Tally, action: unknown, status: unknown): number {
    let count = 0;
    for (const operation of this.#underWay.values()) {
      const isAsked = (action ?? operation.action) === operation.action && (status ?? operation.status) === operation.status;
      if (isAsked && operation.tally.isWithin(whole)) count += 1;
    }
    return count;
  }

  #operationIs(status: "running" | OperationEnd, id: string, at: SimTime): void {
    const operation = this.#underWay.get(id);
    if (operation === undefined) return;
    const { action, of, tally } = operation;
    operation.status = status;
    if (status === "running") return;
    this.#underWay.delete(id);
    tally.addOperation(action, status);
    // A start that never came leaves the compute as it was.
    if (action === "start_compute" && status === "cancelled") this.#watch(of).startCancelled(at);
  }

  /** Computes that are somewhere else from now on, or whose project is. */
  #move(id: string, into: string, at: SimTime): void {
    const tally = this.#tallyOf(id);
    const above = this.#tallyOf(into);
    for (const watched of this.#computes.values()) if (watched.tally.isWithin(tally)) watched.pause(at);
    tally.above = above;
    for (const watched of this.#computes.values()) if (watched.tally.isWithin(tally)) watched.resume(at);
  }

  #watch(id: string): WatchedCompute {
    let watched = this.#computes.get(id);
    if (watched === undefined) {
      watched = new WatchedCompute(this.#tallyOf(id), this.#start);
      this.#computes.set(id, watched);
    }
    return watched;
  }

  /** `above` is what it is in, where the world may not know that any more. */
  #tallyOf(id: string, above?: string): Tally {
    const known = this.#tallies.get(id);
    if (known !== undefined) return known;
    const { computes, branches, projects } = this.#world;
    const place = above ?? computes.get(id)?.branchId ?? branches.get(id)?.projectId ?? projects.get(id)?.accountId;
    const tally = new Tally(place === undefined ? this.#all : this.#tallyOf(place));
    this.#tallies.set(id, tally);
    return tally;
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
        return "operationId" in event ? this.#underWay.get(event.operationId)?.of : undefined;
    }
  }

  #stateOf(id: string): ComputeState {
    const compute = this.#world.computes.get(id);
    if (compute === undefined || !isVisible(this.#world, compute)) return "gone";
    return this.#computes.get(id)?.state ?? (compute.phase.state === "init" ? "init" : "idle");
  }

  #requests(matches: (asked: Asked) => boolean): number {
    return [...this.#asked.values()].reduce((sum, { asked, count }) => sum + (matches(asked) ? count : 0), 0);
  }
}

const STATUS_AFTER = {
  OperationStarted: "running",
  OperationFinished: "finished",
  OperationFailed: "failed",
  OperationCancelled: "cancelled",
} as const;

/** What every operation goes through, what is recorded of one that nobody waited for, and what a fault has let pass tell nobody anything. */
function isTelling(event: RecordedEvent): boolean {
  switch (event.type) {
    case "OperationFinished":
    case "OperationStarted":
    case "FaultMatched":
      return false;
    case "OperationScheduled":
      return event.operation.state.status !== "finished";
    default:
      return true;
  }
}
