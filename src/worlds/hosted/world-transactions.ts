import { setImmediate as nextTurn } from "node:timers/promises";
import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { World } from "../../platform/world/world.ts";
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
import { HostedTransaction, type TransactionHooks } from "./transaction.ts";
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
    const hooks: TransactionHooks = {
      commit: () => undefined,
      ...{ onCommand: refuseChange, onChange: refuseChange, onDurableRow: refuseChange },
      onLost: (error) => lifecycle.reportLostRows(error),
      readInSteps: (stepsIn) => readsInSteps.begin(live, stepsIn),
    };
    return work(new HostedTransaction(live, now, hooks));
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
    const { lifecycle, commits, advancer, gate, reports, dueTimer } = this.#parts;
    const { running } = gate;
    if (running !== undefined) return running.then(() => this.#run(work, scopeOf, isForClient));
    const live = lifecycle.requireLive();
    const { simulation } = live;
    const done = new WorkDone(this.#parts, live);
    let result: T;
    let mustBeDurable = !isForClient;
    let seqBefore = 0;
    try {
      const now = live.clock.now();
      enableNewRulesBeforeDue(simulation, now);
      if (!reports.runDueUntil(simulation, now, EVENTS_PER_TURN))
        return advancer.catchUp().then(() => this.#run(work, scopeOf, isForClient));
      done.mayBeHalf = false;
      mustBeDurable ||= !commits.activity.isAll(live);
      seqBefore = simulation.world.seq;
      result = work(new HostedTransaction(live, now, done));
    } catch (bug) {
      const failure = lifecycle.asUnavailable(bug);
      if (lifecycle.live !== live) throw failure;
      // Nothing that waits for the commit may count as done.
      if (done.mayBeHalf) commits.fail(live, bug);
      else this.#continueAfterRead(live);
      throw failure;
    }
    const { activities } = done;
    dueTimer.arm(lifecycle.requireLive());
    if (done.mustCommit) return commits.next().then(() => result);
    if (!mustBeDurable && simulation.world.seq === seqBefore + activities) {
      if (activities > 0) commits.activity.add(live);
      else if (simulation.hasUncommittedRows) commits.schedule();
      return result;
    }
    let durability: Durability;
    try {
      durability = lifecycle.guardRead(() =>
        this.#durabilityOf(live, done.hasCommand || done.mayBeHalf ? undefined : scopeOf?.()),
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

/** What the work of a transaction has done. */
class WorkDone implements TransactionHooks {
  readonly #parts: WorldParts;
  readonly #live: LiveWorld;
  /** Whether the work may have stopped halfway if it throws. Due work, which runs first, may as well. */
  mayBeHalf = true;
  hasCommand = false;
  mustCommit = false;
  /** The number of its events that are activity of clients. */
  activities = 0;

  constructor(parts: WorldParts, live: LiveWorld) {
    this.#parts = parts;
    this.#live = live;
  }

  commit(): void {
    this.#parts.commits.now();
  }

  onCommand(): void {
    this.hasCommand = true;
  }

  onChange(): void {
    this.mayBeHalf = true;
  }

  onEvents(events: readonly RecordedEvent[]): void {
    for (const { type } of events) if (type === "ActivityRecorded") this.activities += 1;
  }

  onDurableRow(): void {
    this.mustCommit = true;
  }

  onLost(error: unknown): void {
    this.#parts.lifecycle.reportLostRows(error);
  }

  readInSteps<T>(stepsIn: (world: World) => Generator<undefined, T>): Promise<T> {
    return this.#parts.readsInSteps.begin(this.#live, stepsIn);
  }
}
