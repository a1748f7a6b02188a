import { type Batch, OutcomeUnknown } from "../../../src/simulation/journal.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import type { Double } from "../double/double.ts";

/** Number of injected failures of each kind. */
export type InjectedFailures = { failed: number; unknown: number; undecided: number };

/** One write of this number fails, and half of those with an unknown outcome. */
const WRITES_PER_FAILURE = 4;

/** A journal in memory whose writes fail at random, as those of a file do when the disk fails. */
export class FaultyJournal extends MemoryJournal {
  readonly injected: InjectedFailures = { failed: 0, unknown: 0, undecided: 0 };
  readonly #next: () => number;
  #isHealthy = true;
  #failuresToUndo = 0;

  constructor(seed: number) {
    super();
    this.#next = randomFrom(seed).stream("faulty journal", 1);
  }

  /** Writes fail from now on. */
  breakDown(): void {
    this.#isHealthy = false;
  }

  heal(): void {
    this.#isHealthy = true;
    this.#failuresToUndo = 0;
  }

  override write(batch: Batch): void {
    const draw = this.#next() % (2 * WRITES_PER_FAILURE);
    if (this.#isHealthy || draw > 1) {
      super.write(batch);
      return;
    }
    if (draw === 0) {
      this.injected.failed += 1;
      throw new Error("no space left on device");
    }
    this.injected.unknown += 1;
    this.#failuresToUndo = this.#next() % 3;
    throw new OutcomeUnknown("disk I/O error");
  }

  override settleFailedWrite(): void {
    if (this.#failuresToUndo === 0) return;
    this.#failuresToUndo -= 1;
    this.injected.undecided += 1;
    throw new Error("disk I/O error");
  }
}

const MAX_RETRIES = 50;

/** A double whose client repeats each request that the store failed, until it succeeds. */
export function retryingDouble(double: Double): Double {
  const retry =
    <A extends unknown[], R extends { readonly status: number }>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      for (let attempt = 1; ; attempt += 1) {
        const answer = await call(...args);
        if (answer.status !== 503 || attempt === MAX_RETRIES) return answer;
      }
    };
  const retrying: Double = {
    ...double,
    api: retry(double.api),
    sim: retry(double.sim),
    advance: (by) => retrying.sim("POST", "/clock/advance", { by }),
  };
  return retrying;
}
