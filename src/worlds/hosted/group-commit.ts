import { setImmediate as nextTurn } from "node:timers/promises";
import { type Deferred, deferred } from "../../kernel/deferred.ts";
import { messageOf } from "../../kernel/message-of.ts";
import type { NewRequests } from "../../simulation/request-log.ts";
import { StoreUnavailable } from "../world-handle.ts";
import { CommitFollowers } from "./commit-followers.ts";
import type { CommitInProgress, CommitObserver, Syncing } from "./commit-in-progress.ts";
import { FlushTimer } from "./flush-timer.ts";
import { HistoryUpkeep } from "./history-upkeep.ts";
import type { HostedWorldOptions, LiveWorld } from "./live-world.ts";
import { PendingActivity } from "./pending-activity.ts";
import { releasesData } from "./released-data.ts";
import { runInBackground, storeUnavailable } from "./store-failure.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

/** Rows outside history are written at most this long after they changed, in milliseconds of wall-clock time. */
const ROWS_WITHIN_MS = 1_000;

/**
 * Commits everything that was decided since the last commit at once, then notifies the subscribers. While a commit is
 * synced in the thread pool, the next one is decided, and is written afterwards (decision 0042). When a commit
 * fails, all callers that wait for it fail, and the world is dropped from memory.
 */
export class GroupCommit {
  readonly #lifecycle: WorldLifecycle;
  readonly #upkeep: HistoryUpkeep;
  readonly #onDataReleased: () => void;
  readonly followers = new CommitFollowers();
  #observer: CommitObserver = () => undefined;
  #next: Deferred | undefined;
  #syncing: Syncing | undefined;
  /** Whether a commit is between two of its steps. Another one would complete it, and be overwritten in `#syncing`. */
  #isInSteps = false;
  readonly #flushTimer = new FlushTimer(ROWS_WITHIN_MS, () => runInBackground(() => this.next()));
  readonly activity = new PendingActivity(() => runInBackground(() => this.next()));

  constructor(
    lifecycle: WorldLifecycle,
    { retention, onDataReleased }: Pick<HostedWorldOptions, "retention" | "onDataReleased">,
  ) {
    this.#lifecycle = lifecycle;
    this.#upkeep = new HistoryUpkeep({
      ...{ lifecycle, retention },
      durable: () => this.next(),
      fail: (live, error) => this.fail(live, error),
      schedule: () => this.schedule(),
    });
    this.#onDataReleased = onDataReleased ?? (() => undefined);
  }

  /** Before subscribers learn of a commit, the observer has. */
  observe(observer: CommitObserver): void {
    this.#observer = observer;
  }

  /** Resolves when everything that has happened so far is durable. */
  next(): Promise<void> {
    if (this.#next !== undefined) return this.#next.promise;
    this.#next = deferred();
    this.#commitSoon();
    return this.#next.promise;
  }

  /** Resolves when everything that was committed is durable; `undefined` if it is. */
  get syncing(): Promise<void> | undefined {
    return this.#syncing?.promise;
  }

  /** Whether somebody waits for a commit that has not begun. */
  get isRequested(): boolean {
    return this.#next !== undefined;
  }

  /** Resolves when a commit can begin without waiting for the disk; `undefined` if it can. */
  get writable(): Promise<void> | undefined {
    return this.#lifecycle.live?.simulation.journal.writable;
  }

  /** Settles when the sync or the checkpoint that is in progress ends; `undefined` if there is none. */
  get #busy(): Promise<unknown> | undefined {
    return this.#syncing?.promise.catch(() => undefined) ?? this.writable;
  }

  /** Commits at once, and waits for the sync. Throws `StoreUnavailable` when the commit fails. */
  now(): void {
    const commit = this.#begin(({ simulation, clock }, requests, onLost) => {
      const events = simulation.commit(clock.state(), clock.now(), requests, onLost);
      return { events, step: () => true, hasEnded: true, isDurable: true, durable: () => undefined };
    });
    if (commit === undefined) return;
    // This commit has made the previous one durable, or closing the file of its world has. Its subscribers are notified first.
    if (this.#syncing?.commit.write.isDurable === true) this.#finish(this.#syncing.commit);
    this.#finish(commit);
  }

  /**
   * Commits much, in steps between which other worlds get a turn. The caller makes sure that this world does not
   * change in the meantime. Rejects with `StoreUnavailable` when the commit fails.
   */
  async inSteps(): Promise<void> {
    for (let busy = this.#busy; busy !== undefined; busy = this.#busy) await busy;
    const commit = this.#beginInSteps();
    if (commit === undefined) throw new StoreUnavailable(`world "${this.#lifecycle.name}" is closed`);
    let durable: Promise<void> | undefined;
    this.#isInSteps = true;
    try {
      while (!this.#step(commit)) await nextTurn();
      durable = this.#sync(commit);
    } finally {
      this.#isInSteps = false;
      // It was requested between the steps, and waits for the sync if there is one.
      if (this.#next !== undefined) this.#commitSoon();
    }
    await durable;
  }

  #commitSoon(): void {
    setImmediate(() => {
      // A commit in the meantime has included everything that waits for this one. One in progress begins the next when
      // it ends.
      if (this.#next === undefined || this.#syncing !== undefined || this.#isInSteps) return;
      const { writable } = this;
      if (writable !== undefined) {
        void writable.then(() => this.#commitSoon());
        return;
      }
      try {
        const commit = this.#beginInSteps();
        if (commit === undefined) return;
        while (!this.#step(commit));
        runInBackground(() => this.#sync(commit));
      } catch {
        // All callers that wait for this commit have been rejected.
      }
    });
  }

  #beginInSteps(): CommitInProgress | undefined {
    return this.#begin(({ simulation, clock }, requests, onLost) =>
      simulation.beginCommit(clock.state(), clock.now(), requests, onLost),
    );
  }

  #begin(
    write: (
      live: LiveWorld,
      requests: NewRequests | undefined,
      onLost: (error: unknown) => void,
    ) => CommitInProgress["write"],
  ): CommitInProgress | undefined {
    this.#flushTimer.cancel();
    this.activity.cancelTimer();
    const { live } = this.#lifecycle;
    const waiting = this.#next;
    if (live === undefined) {
      this.#reject(new StoreUnavailable(`world "${this.#lifecycle.name}" is closed`));
      return undefined;
    }
    // During an advance, its events are ahead of the clock, and a file whose clock is before its events is damaged.
    live.clock.advanceTo(live.simulation.world.at);
    const requests = live.requests?.take();
    const onDurable = this.#observer();
    try {
      const begun = write(live, requests, (lost) => this.#lifecycle.reportLostRows(lost));
      this.#next = undefined;
      return { live, waiting, hasRequests: requests !== undefined, write: begun, onDurable };
    } catch (error) {
      this.#lifecycle.reportFailedCommit(error);
      throw this.fail(live, error);
    }
  }

  /** Takes a step; returns whether everything is written. */
  #step({ live, waiting, write }: CommitInProgress): boolean {
    const isCurrent = this.#lifecycle.live === live;
    try {
      if (!isCurrent && !write.hasEnded)
        throw new StoreUnavailable(`world "${this.#lifecycle.name}" was closed while it committed`);
      return write.step();
    } catch (error) {
      // If it is not current, the world was closed or deleted, or its failure was already reported.
      if (isCurrent) this.#lifecycle.reportFailedCommit(error);
      const failure = isCurrent ? this.fail(live, error) : this.#lifecycle.failureOf(error);
      waiting?.reject(failure);
      throw failure;
    }
  }

  /** Waits until a commit is durable, without blocking others. Rejects with `StoreUnavailable`. */
  #sync(commit: CommitInProgress): Promise<void> | undefined {
    const durable = commit.write.durable();
    if (durable === undefined) {
      this.#finish(commit);
      return undefined;
    }
    // Reads that have arrived with the end of the sync go before its answers.
    const promise = durable.then(nextTurn).then(
      // `now` may have finished it.
      () => (this.#syncing?.commit === commit ? this.#finish(commit) : undefined),
      (error: unknown) => {
        throw this.#failSync(commit, error);
      },
    );
    this.#syncing = { commit, promise };
    return promise;
  }

  /** A commit is durable. */
  #finish(commit: CommitInProgress): void {
    const { live, waiting, hasRequests, write, onDurable } = commit;
    const { events } = write;
    onDurable?.();
    this.#endSync(commit);
    if (this.#lifecycle.live === live) this.#upkeep.afterCommit(live);
    if (events.some(releasesData)) this.#onDataReleased();
    const followed = this.followers.follow(events, hasRequests);
    if (followed === undefined) waiting?.resolve();
    else void followed.then(() => waiting?.resolve());
  }

  /** It is unknown whether a commit is durable. Later decisions are only in memory. */
  #failSync(commit: CommitInProgress, error: unknown): StoreUnavailable {
    const { live, waiting } = commit;
    this.#endSync(commit);
    let failure = this.#lifecycle.failureOf(error);
    if (this.#lifecycle.live === live) {
      this.#lifecycle.reportFailedCommit(error);
      failure = this.#lifecycle.fail(live, error);
      // Nothing of them was written, so their outcome is known.
      const cause = new Error(messageOf(error), { cause: error });
      this.#reject(storeUnavailable(`world "${this.#lifecycle.name}" could not commit`, cause));
    }
    waiting?.reject(failure);
    this.#notifyOfLostActivity(live, failure);
    return failure;
  }

  #endSync(commit: CommitInProgress): void {
    if (this.#syncing?.commit !== commit) return;
    this.#syncing = undefined;
    if (this.#next !== undefined) this.#commitSoon();
  }

  /**
   * Work that applies events outside of a transaction. When an event needs stored rows that cannot be read, it is applied
   * halfway, so the world is dropped from memory.
   */
  applying<T>(live: LiveWorld, work: () => T): T {
    try {
      return work();
    } catch (error) {
      const failure = this.#lifecycle.asUnavailable(error);
      if (failure !== error) this.fail(live, error);
      throw failure;
    }
  }

  /** Drops the world from memory and rejects all callers that wait for its commit. */
  fail(live: LiveWorld, error: unknown): StoreUnavailable {
    const failure = this.#lifecycle.fail(live, error);
    this.#reject(failure);
    this.#notifyOfLostActivity(live, failure);
    return failure;
  }

  /** A failed commit may have lost that clients came or left. Subscribers end the connections of all of them. */
  #notifyOfLostActivity(live: LiveWorld, failure: StoreUnavailable): void {
    if (!this.activity.isLostWith(live)) return;
    this.#lifecycle.endClientsOnOpen();
    this.followers.notify(failure);
  }

  /** Commits soon, for changes that no answer waits for. */
  schedule(): void {
    this.#flushTimer.start();
  }

  /** Forgets pending work in the background when the world is dropped from memory. */
  stopTimers(): void {
    this.#upkeep.stop();
  }

  /** Whether a request waits for the next commit, or somebody follows the events. */
  get isInUse(): boolean {
    const commits = this.#next !== undefined || this.#syncing !== undefined;
    return commits || this.followers.size > 0;
  }

  #reject(failure: StoreUnavailable): void {
    this.#next?.reject(failure);
    this.#next = undefined;
  }
}
