import type { RecordedEvent } from "../platform/events.ts";
import { type Operation, operationAfter } from "../platform/operation.ts";
import type { Change } from "../platform/table.ts";
import type { SimTime } from "../platform/time.ts";
import type { Numbers, WorldSettings } from "../platform/world.ts";
import type { ClockState } from "./clock.ts";

/** What one commit makes durable, all of it or nothing. */
export type Batch = {
  readonly events: readonly RecordedEvent[];
  /** Changed rows in the order of the events that changed them. */
  readonly changes: readonly Change[];
  readonly settings: WorldSettings;
  readonly numbers: Readonly<Numbers>;
  readonly clock: ClockState;
  /** The latest instant that the world has reached. */
  readonly now: SimTime;
};

/** The port to history. A store stands behind it; here, the one that forgets with the process. */
export interface Journal {
  /** The tables whose rows it wants to be handed; absent where it wants all. */
  readonly tables?: readonly string[];
  /** Durable when it returns; throws, and has changed nothing, where it cannot be. */
  write(batch: Batch): void;
  /** Events with a sequence number above `since`, in order. */
  events(since: number, limit: number): RecordedEvent[];
  /** A project's operations, newest first, from below `beforeNumber` on. */
  operations(projectId: string, limit: number, beforeNumber?: number): Operation[];
  operation(id: string): Operation | undefined;
  /** Size on disk in bytes; 0 where there is none. */
  sizeBytes(): number;
}

/** Keeps events and nothing else; what was an operation is told from them when somebody asks. */
export class MemoryJournal implements Journal {
  readonly tables = [];
  readonly #events: RecordedEvent[] = [];
  readonly #operations = new Map<string, Operation>();
  /** How many events `#operations` has seen. */
  #seen = 0;

  write(batch: Batch): void {
    for (const event of batch.events) this.#events.push(event);
  }

  events(since: number, limit: number): RecordedEvent[] {
    const first = this.#events[0]?.seq ?? 1;
    const from = Math.max(0, since + 1 - first);
    return this.#events.slice(from, from + limit);
  }

  operations(projectId: string, limit: number, beforeNumber = Number.POSITIVE_INFINITY): Operation[] {
    return [...this.#fold().values()]
      .filter((operation) => operation.projectId === projectId && operation.number < beforeNumber)
      .sort((a, b) => b.number - a.number)
      .slice(0, limit);
  }

  operation(id: string): Operation | undefined {
    return this.#fold().get(id);
  }

  sizeBytes(): number {
    return 0;
  }

  #fold(): ReadonlyMap<string, Operation> {
    for (; this.#seen < this.#events.length; this.#seen += 1) {
      const event = this.#events[this.#seen];
      if (event?.type === "WorldReset") this.#operations.clear();
      if (event?.type === "OperationScheduled") this.#operations.set(event.operation.id, event.operation);
      if (event?.type === "OperationStarted" || event?.type === "OperationFinished" || event?.type === "OperationCancelled") {
        this.#operations.set(event.operationId, operationAfter(this.#operations.get(event.operationId), event));
      }
    }
    return this.#operations;
  }
}
