import type { RecordedEvent } from "../platform/model/events.ts";
import type { SteppedWrite } from "./journal.ts";

// These are classes, because V8 creates a hidden class for each object literal with a getter. It holds what the getter
// refers to, here all events of the commit, until a full garbage collection.

/** A write that takes no time. */
export class WriteInOneStep implements SteppedWrite {
  readonly #write: () => void;
  #hasEnded = false;

  constructor(write: () => void) {
    this.#write = write;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isDurable(): boolean {
    return this.#hasEnded;
  }

  step(): boolean {
    if (!this.#hasEnded) this.#write();
    this.#hasEnded = true;
    return true;
  }

  durable(): undefined {
    return undefined;
  }
}

/** A commit whose write is taken in steps. */
export class CommitInSteps implements SteppedWrite {
  readonly events: readonly RecordedEvent[];
  readonly #write: SteppedWrite;
  readonly #onDurable: () => void;

  constructor(events: readonly RecordedEvent[], write: SteppedWrite, onDurable: () => void) {
    this.events = events;
    this.#write = write;
    this.#onDurable = onDurable;
  }

  get hasEnded(): boolean {
    return this.#write.hasEnded;
  }

  get isDurable(): boolean {
    return this.#write.isDurable;
  }

  step(): boolean {
    return this.#write.step();
  }

  durable(): Promise<void> | undefined {
    const durable = this.#write.durable();
    if (durable !== undefined) return durable.then(this.#onDurable);
    this.#onDurable();
    return undefined;
  }
}
