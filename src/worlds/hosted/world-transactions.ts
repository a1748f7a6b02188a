import { enableNewRulesBeforeDue } from "../enable-new-rules.ts";
import { StoreUnavailable, type Transaction } from "../world-handle.ts";
import { type Advancer, EVENTS_PER_TURN } from "./advancer.ts";
import type { DueTimer } from "./due-timer.ts";
import type { ExclusiveGate } from "./exclusive-gate.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Reports } from "./reports.ts";
import { runInBackground } from "./store-failure.ts";
import { transactionAt } from "./transaction.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

type WorldParts = {
  readonly lifecycle: WorldLifecycle;
  readonly commits: GroupCommit;
  readonly advancer: Advancer;
  readonly gate: ExclusiveGate;
  readonly reports: Reports;
  readonly dueTimer: DueTimer;
};

/** Runs the transactions of a world: first the work that is due, then that of the caller. */
export class WorldTransactions {
  readonly #parts: WorldParts;

  constructor(parts: WorldParts) {
    this.#parts = parts;
  }

  /** Waits for long work that is running. The promise, if there is one, resolves when the result is durable. */
  run<T>(work: (transaction: Transaction) => T): T | Promise<T> {
    const { lifecycle, commits, advancer, gate, reports, dueTimer } = this.#parts;
    const { running } = gate;
    if (running !== undefined) return running.then(() => this.run(work));
    const live = lifecycle.requireLive();
    const { simulation } = live;
    let result: T;
    // Due work, which runs first, may stop halfway as well.
    let mayBeHalfDone = true;
    let mustCommit = false;
    try {
      const now = live.clock.now();
      enableNewRulesBeforeDue(simulation, now);
      if (!reports.runDueUntil(simulation, now, EVENTS_PER_TURN))
        return advancer.catchUp().then(() => this.run(work));
      mayBeHalfDone = false;
      const transaction = transactionAt(live, now, {
        commit: () => commits.now(),
        onChange: () => {
          mayBeHalfDone = true;
        },
        onDurableRow: () => {
          mustCommit = true;
        },
        onLost: (error) => lifecycle.reportFailure(error),
      });
      result = work(transaction);
    } catch (bug) {
      const failure = lifecycle.asUnavailable(bug);
      if (lifecycle.live !== live) throw failure;
      if (mayBeHalfDone || failure instanceof StoreUnavailable) {
        // Nothing that waits for the commit may count as done.
        commits.fail(live, bug);
      } else {
        // The work changed nothing, so the world continues with the events of the due work before it.
        dueTimer.arm(live);
        if (simulation.hasUncommittedEvents) runInBackground(() => commits.next());
      }
      throw failure;
    }
    dueTimer.arm(lifecycle.requireLive());
    if (simulation.hasUncommittedEvents || mustCommit) return commits.next().then(() => result);
    if (simulation.hasUncommittedRows || live.requests?.isEmpty === false || live.clock.hasUnstoredStep)
      commits.schedule();
    const syncing = simulation.hasUndurableEvents ? commits.syncing : undefined;
    if (syncing !== undefined) return syncing.then(() => result);
    return result;
  }
}
