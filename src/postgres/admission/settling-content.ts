/**
 * How long an answer waits until the engine and the world have the roles and databases of each other, in wall-clock time. A
 * client may hold a lock on them, or the world may advance for long.
 */
const MAX_WAIT_MS = 2_000;

/** Roles and databases on their way from SQL to the world, and from the API to the engine of one compute. */
export class SettlingContent {
  readonly #pending = new Set<Promise<void>>();

  /** Resolves when `work` ends, or has taken too long. `work` never rejects. */
  add(work: Promise<void>): Promise<void> {
    const limited = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, MAX_WAIT_MS);
      void work.then(() => {
        clearTimeout(timer);
        resolve();
      });
    }).then(() => void this.#pending.delete(limited));
    this.#pending.add(limited);
    return limited;
  }

  /** Resolves when what is pending now has settled; `undefined` if nothing is. */
  settled(): Promise<void> | undefined {
    if (this.#pending.size === 0) return undefined;
    return Promise.all(this.#pending).then(() => undefined);
  }
}
