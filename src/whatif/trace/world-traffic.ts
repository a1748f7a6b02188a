import { END_OF_TIME, type SimTime } from "../../kernel/time.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type {
  AccessNoun,
  BranchChangeType,
  ComputeStateType,
  ContentNoun,
  EventTypeOf,
  RecordedEvent,
  WorldSettingType,
} from "../../platform/model/events.ts";
import { type JournalEvent, JournalRows } from "../../traffic/recorded/formats/journal-rows.ts";
import { Intake } from "../../traffic/recorded/rows/intake.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import type { RecordedStarts } from "../sizes/load-readings-source.ts";
import { ArrivalBuffer } from "./arrival-buffer.ts";
import { MeteredSizes, type MeteredUsage } from "./metered-sizes.ts";
import { type Traffic, trafficOf } from "./traffic.ts";

/** The properties of a compute that a replay needs. */
export type KnownCompute = Pick<
  Compute,
  "id" | "projectId" | "branchId" | "range" | "suspendTimeoutSeconds"
> & {
  /** When the compute, its branch or its project was deleted. From then on it costs nothing under any delay. */
  readonly deletedAt?: SimTime | undefined;
  /** Absent if its size is fixed, or if its creation is no longer in the history. */
  readonly starts?: RecordedStarts | undefined;
};

/** Collects the traffic of a world from its events, in order. */
export class WorldTraffic {
  readonly #computes = new Map<string, KnownCompute>();
  /** Deletions by the id of a compute, branch or project. */
  readonly #deletedAt = new Map<string, SimTime>();
  readonly #columns = new Map<number, ArrivalBuffer>();
  readonly #intake: Intake;
  readonly #rows: JournalRows;
  readonly #sizes = new MeteredSizes();
  readonly #until: SimTime;
  #firstAt: SimTime | undefined;

  /** `until` is exclusive: later events are ignored, as if they had not happened yet. */
  constructor(until: SimTime = END_OF_TIME) {
    this.#until = until;
    this.#intake = new Intake({
      add: (compute, at, durationMs, source, load) =>
        this.#columnOf(compute).add(at, durationMs, source, load),
    });
    this.#rows = new JournalRows(this.#intake);
  }

  add(event: RecordedEvent): void {
    this.#firstAt ??= event.at;
    this.#trackCompute(event);
    if (event.at >= this.#until) return;
    this.#sizes.add(event);
    if (event.type === "SpanEnded") this.#rows.take(event.seq, activityOfSpan(event));
    else if (isTrafficEvent(event)) this.#rows.take(event.seq, event);
  }

  /** The usage of these computes within a period, which ends at `now` or `until` if one of these is earlier. */
  usage(computes: Iterable<string>, { startAt, endAt }: Period, now: SimTime): MeteredUsage {
    return this.#sizes.usage(computes, { startAt, endAt: Math.min(endAt, now, this.#until) });
  }

  /** Each compute in its current state, and deleted ones in their last state: their traffic stays. */
  computes(existing: Iterable<KnownCompute>): readonly KnownCompute[] {
    const starts = this.#sizes.starts();
    const known = new Map([...this.#computes.values(), ...existing].map((compute) => [compute.id, compute]));
    return [...known.values()].map((state) => {
      const { minCu, maxCu } = state.range;
      const compute = minCu < maxCu ? { ...state, starts: starts.get(state.id) } : state;
      const deleted = [compute.id, compute.branchId, compute.projectId].map(
        (id) => this.#deletedAt.get(id) ?? END_OF_TIME,
      );
      const deletedAt = Math.min(...deleted);
      return deletedAt < this.#until && deletedAt < END_OF_TIME ? { ...compute, deletedAt } : compute;
    });
  }

  /**
   * Traffic from the first event to `now`, computes in order of their ids. An open transaction ends at `now`,
   * or at `until` if earlier.
   */
  traffic(now: SimTime): Traffic {
    this.#rows.end(Math.min(now, this.#until));
    const startAt = this.#firstAt ?? now;
    const names = this.#intake.computeNames;
    const computes = [...this.#columns].map(([number, column]) => ({
      id: names[number] ?? "",
      arrivals: column.sorted(),
    }));
    return trafficOf({
      period: { startAt, endAt: Math.max(now, this.#intake.lastAt + 1, startAt + 1) },
      computes: computes.sort((a, b) => (a.id < b.id ? -1 : 1)),
      sources: this.#intake.sourceNames,
    });
  }

  #trackCompute(event: RecordedEvent): void {
    switch (event.type) {
      case "ComputeCreated":
        this.#computes.set(event.compute.id, event.compute);
        this.#deletedAt.delete(event.compute.id);
        return;
      case "ComputeUpdated": {
        const compute = this.#computes.get(event.endpointId);
        if (compute !== undefined) this.#computes.set(compute.id, { ...compute, ...event.changes });
        return;
      }
      case "ComputeDeleted":
        this.#deletedAt.set(event.endpointId, event.at);
        return;
      // The computes of a deleted branch are unreachable, although it can be restored for some days.
      case "BranchDeleted":
        this.#deletedAt.set(event.branchId, event.at);
        return;
      case "BranchRecovered":
        this.#deletedAt.delete(event.branchId);
        return;
      case "ProjectDeleted":
        this.#deletedAt.set(event.projectId, event.at);
        return;
      case "ProjectRecovered":
        this.#deletedAt.delete(event.projectId);
        return;
      case "WorldReset":
        this.#deletedAt.clear();
        for (const id of this.#computes.keys()) this.#deletedAt.set(id, event.at);
        return;
      default:
        event.type satisfies ChangesNoCompute;
    }
  }

  #columnOf(compute: number): ArrivalBuffer {
    const column = this.#columns.get(compute) ?? new ArrivalBuffer();
    this.#columns.set(compute, column);
    return column;
  }
}

/** The source of work that arrived through Postgres connections. */
const SPAN_SOURCE = "postgres";

/** A span is one long query: how its requests were distributed within it is not recorded. */
function activityOfSpan({
  endpointId,
  beganAt,
  until,
  arrivals,
  load,
}: RecordedEvent & { type: "SpanEnded" }): JournalEvent {
  return {
    type: "ActivityRecorded",
    at: beganAt,
    activity: {
      endpointId,
      kind: "query",
      durationMs: until - beganAt,
      queries: arrivals,
      load,
      source: SPAN_SOURCE,
    },
  };
}

function isTrafficEvent(event: RecordedEvent): event is RecordedEvent & JournalEvent {
  switch (event.type) {
    case "ActivityRecorded":
    case "WorldReset":
    case "ComputeActivated":
    case "ComputeSuspending":
    case "ComputeSuspended":
    case "ComputeStartFailed":
    case "ComputeDeleted":
      return true;
    default: {
      event.type satisfies ChangesNoTraffic;
      return false;
    }
  }
}

/** Events that change neither the known settings of a compute nor whether it can be reached. */
type ChangesNoCompute =
  | EventTypeOf<AccessNoun | ContentNoun | "operation" | "activity" | "span" | "fault">
  | WorldSettingType
  | "ProjectCreated"
  | "ProjectUpdated"
  | "ProjectRemoved"
  | "ProjectTransferred"
  | "BranchCreated"
  | BranchChangeType
  | "BranchRemoved"
  | ComputeStateType;

/** Events that are not traffic and end none. */
type ChangesNoTraffic =
  | EventTypeOf<AccessNoun | ContentNoun | "project" | "branch" | "operation" | "span" | "fault">
  | WorldSettingType
  | "ComputeCreated"
  | "ComputeUpdated"
  | "ComputeResized"
  | "ComputeSuspendFailed"
  | "ActivityScheduled"
  | "ActivityDropped";
