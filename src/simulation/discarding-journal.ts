import type { SimTime } from "../kernel/time.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Batch } from "./journal.ts";
import { MemoryJournal } from "./memory-journal.ts";

/**
 * Stores no events, only the current position and the rows outside history. Makes long runs much faster, for
 * a world whose past is never read. Such a world cannot be opened again.
 */
export class DiscardingJournal extends MemoryJournal {
  override readonly eventsPerCheckpoint: number = Number.POSITIVE_INFINITY;
  #seq = 0;
  #at: SimTime = 0;

  override get head(): number {
    return this.#seq;
  }

  override get oldest(): Checkpoint {
    return { ...super.oldest, seq: this.#seq, at: this.#at };
  }

  override get newestCheckpoint(): Checkpoint {
    return this.oldest;
  }

  override write(batch: Batch): void {
    const last = batch.events.at(-1);
    this.#seq = last?.seq ?? this.#seq;
    this.#at = last?.at ?? this.#at;
    super.write({ ...batch, events: [] });
  }

  override checkpointBefore(): never {
    throw new Error(`history up to event ${this.#seq} was not stored`);
  }
}
