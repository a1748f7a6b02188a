import type { DurationMs, SimTime } from "../../kernel/time.ts";

const SLOTS = 512;
const FIRST_SLOT_MS: DurationMs = 1_000;

/**
 * How long a state lasted within each slot of time. The number of slots is fixed: when a run outgrows them,
 * pairs are merged. Memory is bounded, and the same history gives the same slots.
 */
export class OccupancyTimeline {
  readonly start: SimTime;
  slotMs = FIRST_SLOT_MS;
  readonly #occupiedMs = new Float64Array(SLOTS);

  constructor(start: SimTime) {
    this.start = start;
  }

  /** Adds a span; `from` is inclusive, `to` exclusive. */
  add(from: SimTime, to: SimTime): void {
    while (to - this.start > this.slotMs * SLOTS) this.#double();
    for (let at = Math.max(from, this.start); at < to; ) {
      const slot = Math.floor((at - this.start) / this.slotMs);
      const end = Math.min(to, this.start + (slot + 1) * this.slotMs);
      this.#occupiedMs[slot] = (this.#occupiedMs[slot] ?? 0) + end - at;
      at = end;
    }
  }

  /**
   * The occupied share of each of `columns` equal parts of [start, end): 0 to 1, rounded up to thousandths so
   * that a short span stays visible, and capped at 1 because a restored world may add the same time twice.
   */
  shares(end: SimTime, columns: number): number[] {
    const width = (end - this.start) / columns;
    const shareOf = (column: number) =>
      width <= 0 ? 0 : this.#occupiedWithin(column * width, (column + 1) * width) / width;
    return Array.from(
      { length: columns },
      (_, column) => Math.min(1_000, Math.max(0, Math.ceil(shareOf(column) * 1_000 - 1e-6))) / 1_000,
    );
  }

  #occupiedWithin(from: number, to: number): number {
    let sum = 0;
    for (let slot = Math.floor(from / this.slotMs); slot * this.slotMs < to && slot < SLOTS; slot += 1) {
      const overlap = Math.min(to, (slot + 1) * this.slotMs) - Math.max(from, slot * this.slotMs);
      sum += (this.#occupiedMs[slot] ?? 0) * (overlap / this.slotMs);
    }
    return sum;
  }

  #double(): void {
    const occupiedMs = this.#occupiedMs;
    for (let slot = 0; slot < SLOTS / 2; slot += 1)
      occupiedMs[slot] = (occupiedMs[2 * slot] ?? 0) + (occupiedMs[2 * slot + 1] ?? 0);
    occupiedMs.fill(0, SLOTS / 2);
    this.slotMs *= 2;
  }
}
