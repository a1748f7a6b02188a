import type { RecordedEvent } from "../../platform/events.ts";
import type { SimTime } from "../../platform/time.ts";
import { Intake } from "../input/intake.ts";
import { JournalRows } from "../input/journal-input.ts";
import { GrowingRequests } from "./growing-requests.ts";
import { type Traffic, trafficOf } from "./traffic.ts";

/** Reads the traffic of a world from its events, as they come. */
export class WorldTraffic {
  readonly #columns = new Map<number, GrowingRequests>();
  readonly #intake: Intake;
  readonly #rows: JournalRows;
  #firstAt: SimTime | undefined;

  constructor() {
    this.#intake = new Intake({ add: (compute, at, durationMs, source) => this.#columnOf(compute).add(at, durationMs, source) });
    this.#rows = new JournalRows(this.#intake);
  }

  add(event: RecordedEvent): void {
    this.#firstAt ??= event.at;
    if (event.type === "ActivityRecorded") this.#rows.take(event.seq, event);
  }

  /** Of the time from the first event to `now`; a transaction that is still open lasts until then. Computes by their names. */
  traffic(now: SimTime): Traffic {
    this.#rows.end(now);
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
