import type { DurationMs, SimTime } from "../../kernel/time.ts";

const SLOTS = 512;
const FIRST_SLOT_MS: DurationMs = 1_000;

/** The number of arrivals in each slot of time. When a run outgrows the slots, pairs are merged. */
export class ArrivalTimeline {
  readonly #start: SimTime;
  #slotMs = FIRST_SLOT_MS;
  readonly #counts = new Uint32Array(SLOTS);

  constructor(start: SimTime) {
    this.#start = start;
  }

  add(at: SimTime): void {
    const sinceStart = Math.max(0, at - this.#start);
    while (sinceStart >= this.#slotMs * SLOTS) this.#double();
    const slot = Math.floor(sinceStart / this.#slotMs);
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
  }

  /** The arrivals in each of `columns` equal parts until `end`. A slot counts in the part of its start. */
  counts(end: SimTime, columns: number): number[] {
    const counts = Array.from({ length: columns }, () => 0);
    const width = (end - this.#start) / columns;
    for (const [slot, count] of this.#counts.entries()) {
      if (count === 0) continue;
      const column = width <= 0 ? 0 : Math.min(columns - 1, Math.floor((slot * this.#slotMs) / width));
      counts[column] = (counts[column] ?? 0) + count;
    }
    return counts;
  }

  #double(): void {
    const counts = this.#counts;
    for (let slot = 0; slot < SLOTS / 2; slot += 1)
      counts[slot] = (counts[2 * slot] ?? 0) + (counts[2 * slot + 1] ?? 0);
    counts.fill(0, SLOTS / 2);
    this.#slotMs *= 2;
  }
}
