/** Lets sessions wait for the next event of their compute. */
export class ComputeChanges {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves with the next event of the compute, and whenever all computes may have changed. */
  next(endpointId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(endpointId) ?? new Set();
      waiting.add(resolve);
      this.#waiting.set(endpointId, waiting);
    });
  }

  notify(endpointId: string): void {
    const waiting = this.#waiting.get(endpointId);
    this.#waiting.delete(endpointId);
    for (const resolve of waiting ?? []) resolve();
  }

  notifyAll(): void {
    for (const endpointId of [...this.#waiting.keys()]) this.notify(endpointId);
  }
}
