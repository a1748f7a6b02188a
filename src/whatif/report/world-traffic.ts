import type { Compute } from "../../platform/compute.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { END_OF_TIME, type SimTime } from "../../platform/time.ts";
import { Intake } from "../input/intake.ts";
import { JournalRows } from "../input/journal-input.ts";
import { GrowingRequests } from "./growing-requests.ts";
import { type Traffic, trafficOf } from "./traffic.ts";

/** What a replay asks of a compute. */
export type KnownCompute = Pick<Compute, "id" | "projectId" | "range" | "suspendTimeoutSeconds">;

/** Reads the traffic of a world from its events, as they come. */
export class WorldTraffic {
  readonly #computes = new Map<string, KnownCompute>();
  readonly #columns = new Map<number, GrowingRequests>();
  readonly #intake: Intake;
  readonly #rows: JournalRows;
  readonly #until: SimTime;
  #firstAt: SimTime | undefined;

  /** `until`: what comes from then on is not looked at, as if nothing of it had happened yet. */
  constructor(until: SimTime = END_OF_TIME) {
    this.#until = until;
    this.#intake = new Intake({ add: (compute, at, durationMs, source) => this.#columnOf(compute).add(at, durationMs, source) });
    this.#rows = new JournalRows(this.#intake);
  }

  add(event: RecordedEvent): void {
    this.#firstAt ??= event.at;
    if (event.type === "ActivityRecorded") {
      if (event.at < this.#until) this.#rows.take(event.seq, event);
    } else if (event.type === "ComputeCreated") this.#computes.set(event.compute.id, event.compute);
    else if (event.type === "ComputeUpdated") {
      const compute = this.#computes.get(event.endpointId);
      if (compute !== undefined) this.#computes.set(compute.id, { ...compute, ...event.changes });
    }
  }

  /** Each compute as it is in the world, and one that is deleted as it was last: its traffic stays. */
  computes(present: Iterable<KnownCompute>): readonly KnownCompute[] {
    return [...new Map([...this.#computes.values(), ...present].map((compute) => [compute.id, compute])).values()];
  }

  /** Of the time from the first event to `now`; a transaction that is still open lasts until then, or as far as one looks. Computes by their names. */
  traffic(now: SimTime): Traffic {
    this.#rows.end(Math.min(now, this.#until));
    const startAt = this.#firstAt ?? now;
    const names = this.#intake.computeNames;
    const computes = [...this.#columns].map(([number, column]) => ({ id: names[number] ?? "", requests: column.sorted() }));
    return trafficOf({
      period: { startAt, endAt: Math.max(now, this.#intake.lastAt + 1, startAt + 1) },
      computes: computes.sort((a, b) => (a.id < b.id ? -1 : 1)),
      sources: this.#intake.sourceNames,
    });
  }

  #columnOf(compute: number): GrowingRequests {
    const column = this.#columns.get(compute) ?? new GrowingRequests();
    this.#columns.set(compute, column);
    return column;
  }
}
