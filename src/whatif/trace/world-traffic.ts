import type { Compute } from "../../platform/compute/compute.ts";
import { END_OF_TIME, type SimTime } from "../../platform/core/time.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { type JournalEvent, JournalRows } from "../../recordings/formats/journal-rows.ts";
import { Intake } from "../../recordings/rows/intake.ts";
import { ArrivalBuffer } from "./arrival-buffer.ts";
import { type Traffic, trafficOf } from "./known-traffic.ts";

/** What a replay asks of a compute. */
export type KnownCompute = Pick<
  Compute,
  "id" | "projectId" | "branchId" | "range" | "suspendTimeoutSeconds"
> & {
  /** When it, its branch or its project was deleted: it costs nothing from then on, under any delay. */
  readonly deletedAt?: SimTime | undefined;
};

/** Reads the traffic of a world from its events, as they come. */
export class WorldTraffic {
  readonly #computes = new Map<string, KnownCompute>();
  /** Computes, branches and projects, by their ids. */
  readonly #deletedAt = new Map<string, SimTime>();
  readonly #columns = new Map<number, ArrivalBuffer>();
  readonly #intake: Intake;
  readonly #rows: JournalRows;
  readonly #until: SimTime;
  #firstAt: SimTime | undefined;

  /** `until`: what comes from then on is not looked at, as if nothing of it had happened yet. */
  constructor(until: SimTime = END_OF_TIME) {
    this.#until = until;
    this.#intake = new Intake({
      add: (compute, at, durationMs, source) => this.#columnOf(compute).add(at, durationMs, source),
    });
    this.#rows = new JournalRows(this.#intake);
  }

  add(event: RecordedEvent): void {
    this.#firstAt ??= event.at;
    this.#trackCompute(event);
    if (event.at < this.#until && isTrafficEvent(event)) this.#rows.take(event.seq, event);
  }

  /** Each compute as it is in the world, and one that is deleted as it was last: its traffic stays. */
  computes(existing: Iterable<KnownCompute>): readonly KnownCompute[] {
    const known = new Map([...this.#computes.values(), ...existing].map((compute) => [compute.id, compute]));
    return [...known.values()].map((compute) => {
      const deleted = [compute.id, compute.branchId, compute.projectId].map(
        (id) => this.#deletedAt.get(id) ?? END_OF_TIME,
      );
      const deletedAt = Math.min(...deleted);
      return deletedAt < this.#until && deletedAt < END_OF_TIME ? { ...compute, deletedAt } : compute;
    });
  }

  /** Of the time from the first event to `now`; a transaction that is still open lasts until then, or as far as one looks. Computes by their names. */
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
      // Nobody reaches the computes of what is deleted, though it can be recovered for some days.
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

/** Events that neither change what is known of a compute nor whether it can be reached. */
// biome-ignore format: as a packed list
type ChangesNoCompute =
  | "WorldCreated" | "WorldConfigured" | "AccountCreated" | "AccountPlanChanged" | "ApiKeyCreated"
  | "ApiKeyRevoked" | "ProjectCreated" | "ProjectUpdated" | "ProjectRemoved" | "ProjectTransferred"
  | "RecordCreated" | "RecordUpdated" | "RecordDeleted" | "BranchCreated" | "BranchBecameReady"
  | "BranchUpdated" | "BranchSetAsDefault" | "BranchExpirationSet" | "BranchMoved"
  | "BranchRestored" | "BranchRemoved" | "RoleCreated" | "RoleDeleted" | "RolePasswordReset"
  | "DatabaseCreated" | "DatabaseUpdated" | "DatabaseDeleted" | "SnapshotCreated"
  | "SnapshotRenamed" | "SnapshotDeleted" | "BackupScheduleSet" | "ComputeActivated"
  | "ComputeSuspending" | "ComputeSuspended" | "ComputeResized" | "ComputeStartFailed"
  | "ComputeSuspendFailed" | "OperationScheduled" | "OperationStarted" | "OperationFinished"
  | "OperationRetried" | "OperationFailed" | "OperationCancelled" | "ActivityScheduled"
  | "ActivityRecorded" | "ActivityDropped" | "FaultSet" | "FaultRemoved" | "FaultMatched"
  | "FaultHit";

/** Events that neither are traffic nor end any. */
// biome-ignore format: as a packed list
type ChangesNoTraffic =
  | "WorldCreated" | "WorldConfigured" | "AccountCreated" | "AccountPlanChanged" | "ApiKeyCreated"
  | "ApiKeyRevoked" | "ProjectCreated" | "ProjectUpdated" | "ProjectDeleted" | "ProjectRecovered"
  | "ProjectRemoved" | "ProjectTransferred" | "RecordCreated" | "RecordUpdated" | "RecordDeleted"
  | "BranchCreated" | "BranchBecameReady" | "BranchUpdated" | "BranchSetAsDefault"
  | "BranchExpirationSet" | "BranchMoved" | "BranchRestored" | "BranchDeleted" | "BranchRecovered"
  | "BranchRemoved" | "RoleCreated" | "RoleDeleted" | "RolePasswordReset" | "DatabaseCreated"
  | "DatabaseUpdated" | "DatabaseDeleted" | "SnapshotCreated" | "SnapshotRenamed"
  | "SnapshotDeleted" | "BackupScheduleSet" | "ComputeCreated" | "ComputeUpdated" | "ComputeResized"
  | "ComputeSuspendFailed" | "OperationScheduled" | "OperationStarted" | "OperationFinished"
  | "OperationRetried" | "OperationFailed" | "OperationCancelled" | "ActivityScheduled"
  | "ActivityDropped" | "FaultSet" | "FaultRemoved" | "FaultMatched" | "FaultHit";
