import type { Absence } from "../engine/engine.ts";

/** Postgres drops a database much faster, unless a client prevents it. */
const LONGEST_ABSENCE_MS = 10_000;

/**
 * Keeps the superuser's sessions out of the databases of clients while one is dropped: an owner may not end such a
 * session, so that `DROP DATABASE … WITH (FORCE)` would fail.
 */
export class DatabaseAbsences {
  readonly #absences = new Set<Promise<void>>();
  #visit: Promise<unknown> = Promise.resolve();

  get isBarred(): boolean {
    return this.#absences.size > 0;
  }

  begin(): Absence {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      const timer = setTimeout(() => end(), LONGEST_ABSENCE_MS).unref();
      end = () => {
        clearTimeout(timer);
        this.#absences.delete(ended);
        resolve();
      };
    });
    this.#absences.add(ended);
    return {
      begun: this.#visit.then(
        () => undefined,
        () => undefined,
      ),
      end,
    };
  }

  /** Resolves when the databases may be entered. */
  async over(): Promise<void> {
    while (this.isBarred) await Promise.all(this.#absences);
  }

  /** `work` enters a database. There is one such work at a time. */
  visit<T>(work: () => Promise<T>): Promise<T> {
    const visit = work();
    this.#visit = visit;
    return visit;
  }
}
