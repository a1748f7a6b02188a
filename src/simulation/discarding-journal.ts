import type { SimTime } from "../platform/core/time.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { type Batch, MemoryJournal } from "./journal.ts";

/**
 * For a world whose past nobody will ask for: it knows how far history has come, and keeps what is beside it. So events are gone as soon
 * as they have been told, which makes a long run much faster; nobody can open such a world anew.
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

  override get newestCheckpoint(): number {
    return this.#seq;
  }

  override write(batch: Batch): void {
    const last = batch.events.at(-1);
    this.#seq = last?.seq ?? this.#seq;
    this.#at = last?.at ?? this.#at;
    super.write({ ...batch, events: [] });
  }

  override checkpointBefore(): never {
    throw new Error(`history up to event ${this.#seq} was not kept`);
  }
}
