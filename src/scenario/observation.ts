import type { RecordedEvent } from "../platform/events.ts";
import { isVisible } from "../platform/lookup.ts";
import type { SimTime } from "../platform/time.ts";
import type { World } from "../platform/world.ts";
import { computeTimeIn, countBranches, countComputes, countConnectionsIn, countProjects } from "./census.ts";
import type { ComputeState, MeasureName } from "./expectation.ts";
import type { Labels } from "./labels.ts";
import { Tally } from "./tally.ts";
import { Timeline } from "./timeline.ts";

/** Of each compute, the newest so many events are kept, to tell what led to a failure. */
const EVENTS_PER_COMPUTE = 12;
const EVENTS_OF_ALL = 40;

type Watched = {
  readonly tally: Tally;
  readonly running: Timeline;
  readonly starting: Timeline;
  activeSince: SimTime | undefined;
  startingSince: SimTime | undefined;
  readonly newest: RecordedEvent[];
};

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
  readonly #computes = new Map<string, Watched>();
  readonly #actions = new Map<string, string>();
  readonly #types = new Map<string, number>();
  readonly #newest: RecordedEvent[] = [];
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
    for (const compute of world.computes.values()) this.#watch(compute.id);
  }

  get events(): number {
    return this.#events;
  }

  /** The world is left at `now`: it is restored, or opened again. What was counted stays counted. */
  leave(now: SimTime): void {
    for (const watched of this.#computes.values()) {
      this.#stop(watched, now);
      watched.startingSince = undefined;
    }
  }

  /** Goes on with what the world is from then on. */
  enter(world: World, now: SimTime): void {
    this.#world = world;
    for (const [id, watched] of this.#computes) {
      if (world.computes.get(id)?.phase.state === "active") this.#begin(watched, now);
    }
    for (const { action, endpointId, createdAt } of world.operations.values()) {
      if (action === "start_compute" && endpointId !== undefined) this.#watch(endpointId).startingSince = createdAt;
    }
  }

  /** One event, after the world has taken it in. */
  observe(event: RecordedEvent): void {
    this.#events += 1;
    this.#types.set(event.type, (this.#types.get(event.type) ?? 0) + 1);
    if (event.type !== "OperationFinished" && event.type !== "OperationStarted") keep(this.#newest, event, EVENTS_OF_ALL);
    switch (event.type) {
      case "ActivityRecorded": {
        const watched = this.#watch(event.activity.endpointId);
        watched.tally.addActivity(event.waitedMs);
        keep(watched.newest, event, EVENTS_PER_COMPUTE);
        return;
      }
      case "ActivityDropped":
        this.#watch(event.endpointId).tally.add("refused");
        return;
      case "ComputeCreated":
        this.#watch(event.compute.id);
        return;
      case "ComputeActivated": {
        const watched = this.#watch(event.endpointId);
        watched.tally.add("starts");
        this.#begin(watched, event.at);
        keep(watched.newest, event, EVENTS_PER_COMPUTE);
        return;
      }
      case "ComputeSuspended":
      case "ComputeDeleted": {
        const watched = this.#watch(event.endpointId);
        if (event.type === "ComputeSuspended") watched.tally.add("suspends");
        this.#stop(watched, event.at);
        keep(watched.newest, event, EVENTS_PER_COMPUTE);
        return;
      }
      case "ComputeResized":
        this.#watch(event.endpointId).tally.add("resizes");
        return;
      case "OperationScheduled":
        this.#scheduled(event);
        return;
      case "OperationFinished":
      case "OperationCancelled": {
        const known = this.#actions.get(event.operationId);
        if (known === undefined) return;
        this.#actions.delete(event.operationId);
        const [action = "", of = ""] = known.split(" ");
        this.#tallyOf(of).addOperation(action, event.type === "OperationFinished" ? "finished" : "cancelled");
        // A start that never came leaves the compute as it was.
        if (action === "start_compute" && event.type === "OperationCancelled") this.#watch(of).startingSince = undefined;
        return;
      }
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
        return computeTimeIn(this.#world, now, id);
      case "wait_mean":
        return tally.meanWaitMs();
      case "wait_p50":
        return tally.waitPercentile(50);
      case "wait_p90":
        return tally.waitPercentile(90);
      case "wait_p99":
        return tally.waitPercentile(99);
      case "wait_max":
        return tally.longestWaitMs;
      case "operations":
        return tally.operations(where["action"], where["status"]);
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

  /** The newest events, of one thing or of all. */
  newest(id?: string): readonly RecordedEvent[] {
    return (id === undefined ? undefined : this.#computes.get(id)?.newest) ?? this.#newest;
  }

  /** Each compute that was ever there, in the order of its coming: shares of `columns` equal parts of the time until `end`. */
  timelines(end: SimTime, columns: number): { readonly label: string; readonly active: number[]; readonly starting: number[] }[] {
    return [...this.#computes].map(([id, watched]) => {
      if (watched.activeSince !== undefined) {
        watched.running.add(watched.activeSince, end);
        watched.tally.end(watched.activeSince, end);
        watched.tally.begin(end);
        watched.activeSince = end;
      }
      return { label: this.#labels.of(id), active: watched.running.shares(end, columns), starting: watched.starting.shares(end, columns) };
    });
  }

  #scheduled({ operation }: Extract<RecordedEvent, { type: "OperationScheduled" }>): void {
    const { id, endpointId, action, cause, state } = operation;
    const of = endpointId ?? operation.branchId ?? operation.projectId;
    if (endpointId !== undefined && action === "start_compute") {
      const watched = this.#watch(endpointId);
      if (cause === "activity") watched.tally.add("coldStarts");
      watched.startingSince ??= operation.createdAt;
    }
    if (state.status === "finished") this.#tallyOf(of).addOperation(action, "finished");
    else this.#actions.set(id, `${action} ${of}`);
  }

  #begin(watched: Watched, at: SimTime): void {
    if (watched.startingSince !== undefined) watched.starting.add(watched.startingSince, at);
    watched.startingSince = undefined;
    if (watched.activeSince !== undefined) return;
    watched.activeSince = at;
    watched.tally.begin(at);
  }

  #stop(watched: Watched, at: SimTime): void {
    if (watched.activeSince === undefined) return;
    watched.running.add(watched.activeSince, at);
    watched.tally.end(watched.activeSince, at);
    watched.activeSince = undefined;
  }

  #watch(id: string): Watched {
    let watched = this.#computes.get(id);
    if (watched === undefined) {
      const phase = this.#world.computes.get(id)?.phase;
      watched = {
        tally: this.#tallyOf(id),
        running: new Timeline(this.#start),
        starting: new Timeline(this.#start),
        activeSince: undefined,
        startingSince: undefined,
        newest: [],
      };
      this.#computes.set(id, watched);
      if (phase?.state === "active") this.#begin(watched, this.#start);
    }
    return watched;
  }

  #tallyOf(id: string): Tally {
    const known = this.#tallies.get(id);
    if (known !== undefined) return known;
    const tally = new Tally(this.#above(id));
    this.#tallies.set(id, tally);
    return tally;
  }

  #above(id: string): Tally {
    const { computes, branches, projects, accounts } = this.#world;
    const compute = computes.get(id);
    if (compute !== undefined) return this.#tallyOf(compute.branchId);
    const branch = branches.get(id);
    if (branch !== undefined) return this.#tallyOf(branch.projectId);
    const project = projects.get(id);
    if (project !== undefined && accounts.get(project.accountId) !== undefined) return this.#tallyOf(project.accountId);
    return this.#all;
  }

  #stateOf(id: string): ComputeState {
    const compute = this.#world.computes.get(id);
    if (compute === undefined || !isVisible(this.#world, compute)) return "gone";
    if (compute.phase.state === "active") return "active";
    return this.#computes.get(id)?.startingSince === undefined ? compute.phase.state : "starting";
  }

  #requests(matches: (asked: Asked) => boolean): number {
    return [...this.#asked.values()].reduce((sum, { asked, count }) => sum + (matches(asked) ? count : 0), 0);
  }
}

function keep(newest: RecordedEvent[], event: RecordedEvent, limit: number): void {
  newest.push(event);
  // Seldom, so that it costs nothing.
  if (newest.length >= 2 * limit) newest.splice(0, newest.length - limit);
}
