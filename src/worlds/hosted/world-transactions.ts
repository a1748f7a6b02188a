import { setImmediate as nextTurn } from "node:timers/promises";
import type { SimTime } from "../../kernel/time.ts";
import type { Durability, ReadScope } from "../../simulation/undurable-rows.ts";
import { enableNewRulesBeforeDue } from "../enable-new-rules.ts";
import type { Transaction } from "../world-handle.ts";
import { EVENTS_PER_TURN } from "./advance-readers.ts";
import type { Advancer } from "./advancer.ts";
import type { DueTimer } from "./due-timer.ts";
import type { ExclusiveGate } from "./exclusive-gate.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { LiveWorld } from "./live-world.ts";
import type { ReadsInSteps } from "./reads-in-steps.ts";
import type { Reports } from "./reports.ts";
import { runInBackground } from "./store-failure.ts";
import { transactionAt } from "./transaction.ts";
import { NeedsWholeWorld } from "./world-before.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

type WorldParts = {
  readonly lifecycle: WorldLifecycle;
  readonly commits: GroupCommit;
  readonly advancer: Advancer;
  readonly gate: ExclusiveGate;
  readonly reports: Reports;
  readonly dueTimer: DueTimer;
  readonly readsInSteps: ReadsInSteps;
};

type ScopeOf = () => ReadScope | undefined;

/** Runs the transactions of a world: first the work that is due, then that of the caller. */
export class WorldTransactions {
  readonly #parts: WorldParts;

  constructor(parts: WorldParts) {
    this.#parts = parts;
  }

  /**
   * Runs work that usually executes no command. During an advance, it sees a commit of the advance: with a scope, the last one
   * that is durable, at once.
   */
  read<T>(work: (transaction: Transaction) => T, scopeOf?: ScopeOf): T | Promise<T> {
    const { advancer, gate } = this.#parts;
    if (gate.running === undefined || !advancer.pauses.areExpected) return this.run(work, scopeOf);
    advancer.expectReads();
    if (scopeOf !== undefined) {
      const seen = this.#readDurable(work);
      if (seen !== undefined) return seen.result;
    }
    const now = advancer.pauses.at;
    if (now === undefined) return advancer.pauses.next().then(() => this.read(work, scopeOf));
    try {
      const result = this.#readAt(now, work);
      // The work that is paused continues in the meantime, even if one read follows another.
      return nextTurn().then(() => result);
    } catch (error) {
      if (error instanceof NeedsWholeWorld) return this.run(work, scopeOf);
      throw this.#parts.lifecycle.asUnavailable(error);
    }
  }

  /** `undefined`: the read has to wait for a pause. */
  #readDurable<T>(work: (transaction: Transaction) => T): { readonly result: T } | undefined {
    const { advancer, lifecycle } = this.#parts;
    try {
      const { durableView } = advancer;
      return durableView && { result: durableView.read(work) };
    } catch (error) {
      if (error instanceof NeedsWholeWorld) return undefined;
      throw lifecycle.asUnavailable(error);
    }
  }

  /** Everything that has happened is durable, and no commit is in progress. */
  #readAt<T>(now: SimTime, work: (transaction: Transaction) => T): T {
    const { lifecycle, readsInSteps } = this.#parts;
    const live = lifecycle.requireLive();
    const refuseChange = () => {
      throw new NeedsWholeWorld();
    };
    const transaction = transactionAt(live, now, {
      commit: () => undefined,
      ...{ onCommand: refuseChange, onChange: refuseChange, onDurableRow: refuseChange },
      onLost: (error) => lifecycle.reportFailure(error),
      readInSteps: (stepsIn) => readsInSteps.begin(live, stepsIn),
    });
    return work(transaction);
  }

  /** Waits for long work that is running. The promise, if there is one, resolves when the result is durable. */
  run<T>(work: (transaction: Transaction) => T, scopeOf?: ScopeOf): T | Promise<T> {
    return this.#run(work, scopeOf, false);
  }

  /** The same, but does not wait until activity of clients is durable. */
  runForClient<T>(work: (transaction: Transaction) => T): T | Promise<T> {
    return this.#run(work, undefined, true);
  }

  #run<T>(
    work: (transaction: Transaction) => T,
    scopeOf: ScopeOf | undefined,
    isForClient: boolean,
  ): T | Promise<T> {
    const { lifecycle, commits, advancer, gate, reports, dueTimer, readsInSteps } = this.#parts;
    const { running } = gate;
    if (running !== undefined) return running.then(() => this.#run(work, scopeOf, isForClient));
    const live = lifecycle.requireLive();
    const { simulation } = live;
    let result: T;
    // Due work, which runs first, may stop halfway as well.
    let mayBeHalfDone = true;
    let hasCommand = false;
    let mustCommit = false;
    let mustBeDurable = !isForClient;
    let seqBefore = 0;
    let activities = 0;
    try {
      const now = live.clock.now();
      enableNewRulesBeforeDue(simulation, now);
      if (!reports.runDueUntil(simulation, now, EVENTS_PER_TURN))
        return advancer.catchUp().then(() => this.#run(work, scopeOf, isForClient));
      mayBeHalfDone = false;
      mustBeDurable ||= !commits.isDurableButActivity(live);
      seqBefore = simulation.world.seq;
      const transaction = transactionAt(live, now, {
        commit: () => commits.now(),
        onCommand: () => {
          hasCommand = true;
        },
        onChange: () => {
          mayBeHalfDone = true;
        },
        onEvents: (events) => {
          activities += events.filter(({ type }) => type === "ActivityRecorded").length;
        },
        onDurableRow: () => {
          mustCommit = true;
        },
        onLost: (error) => lifecycle.reportFailure(error),
        readInSteps: (stepsIn) => readsInSteps.begin(live, stepsIn),
      });
      result = work(transaction);
    } catch (bug) {
      const failure = lifecycle.asUnavailable(bug);
      if (lifecycle.live !== live) throw failure;
      // Nothing that waits for the commit may count as done.
      if (mayBeHalfDone) commits.fail(live, bug);
      else this.#continueAfterRead(live);
      throw failure;
    }
    dueTimer.arm(lifecycle.requireLive());
    if (mustCommit) return commits.next().then(() => result);
    if (!mustBeDurable && simulation.world.seq === seqBefore + activities) {
      if (activities > 0) commits.addActivity(live);
      else if (simulation.hasUncommittedRows) commits.schedule();
      return result;
    }
    let durability: Durability;
    try {
      durability = lifecycle.guardRead(() =>
        this.#durabilityOf(live, hasCommand || mayBeHalfDone ? undefined : scopeOf?.()),
      );
    } catch (failure) {
      this.#continueAfterRead(live);
      throw failure;
    }
    if (durability === "decided") return commits.next().then(() => result);
    if (simulation.hasUncommittedEvents) runInBackground(() => commits.next());
    else if (simulation.hasUncommittedRows || live.requests?.isEmpty === false || live.clock.hasUnstoredStep)
      commits.schedule();
    const syncing = durability === "written" ? commits.syncing : undefined;
    return syncing === undefined ? result : syncing.then(() => result);
  }

  /** Failed work that changed nothing, even if it found damage: the world continues with the due work before it. */
  #continueAfterRead(live: LiveWorld): void {
    const { commits, dueTimer } = this.#parts;
    dueTimer.arm(live);
    if (live.simulation.hasUncommittedEvents) runInBackground(() => commits.next());
  }

  #durabilityOf({ simulation }: LiveWorld, scope: ReadScope | undefined): Durability {
    if (scope !== undefined) return simulation.durabilityOf(scope);
    if (simulation.hasUncommittedEvents) return "decided";
    return simulation.hasUndurableEvents ? "written" : "durable";
  }
}
