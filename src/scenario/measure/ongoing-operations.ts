import type { OperationAction } from "../../platform/catalog/operation-actions.ts";
import type { Counters } from "./counters.ts";

/** An operation that is scheduling or running. `of` is its compute, branch or project. */
type OngoingOperation = {
  readonly action: OperationAction;
  readonly of: string;
  readonly counters: Counters;
  status: string;
};

export class OngoingOperations {
  readonly #byId = new Map<string, OngoingOperation>();

  add(id: string, operation: OngoingOperation): void {
    this.#byId.set(id, operation);
  }

  get(id: string): OngoingOperation | undefined {
    return this.#byId.get(id);
  }

  clear(): void {
    this.#byId.clear();
  }

  /** Sets the status and returns the operation; every status but "running" ends it. */
  setStatus(id: string, status: string): OngoingOperation | undefined {
    const operation = this.#byId.get(id);
    if (operation === undefined) return undefined;
    operation.status = status;
    if (status !== "running") this.#byId.delete(id);
    return operation;
  }

  startingComputes(): ReadonlySet<string> {
    return new Set(
      [...this.#byId.values()].flatMap(({ action, of }) => (action === "start_compute" ? [of] : [])),
    );
  }

  /** Number of operations within `container`, optionally of one action or one status. */
  count(container: Counters, action: unknown, status: unknown): number {
    let count = 0;
    for (const operation of this.#byId.values()) {
      const isMatch =
        (action ?? operation.action) === operation.action &&
        (status ?? operation.status) === operation.status;
      if (isMatch && operation.counters.isWithin(container)) count += 1;
    }
    return count;
  }
}
