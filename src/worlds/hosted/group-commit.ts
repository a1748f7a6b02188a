import { setImmediate as nextTurn } from "node:timers/promises";
import { takeCheckpoint } from "../../simulation/checkpoint.ts";
import type { Batch, SteppedWrite } from "../../simulation/journal.ts";
import type { NewRequests } from "../../simulation/request-log.ts";
import {
  applyRetention,
  isCheckpointDue,
  nextCheckpoint,
  nextTruncation,
  type Retention,
} from "../retention.ts";
import { type EventListener, StoreUnavailable } from "../world-handle.ts";
import type { HostedWorldOptions, LiveWorld } from "./live-world.ts";
import { releasesData } from "./released-data.ts";
import { runInBackground } from "./store-failure.ts";
import { deleteUnneededSecrets } from "./unneeded-secrets.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

/**
 * Rows outside history are written at most this long after they changed, in milliseconds of wall-clock time.
 */
const FLUSH_EVERY_MS = 1_000;
/** After this time without a commit the log is moved into the file, so that its loss would lose nothing. */
const IDLE_MS = 2_000;
/** Takes a few milliseconds. */
const LEDGERS_READ_PER_COMMIT = 300;

type Deferred = {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

type CommitInProgress = {
  readonly live: LiveWorld;
  /** Callers that wait for this commit. */
  readonly waiting: Deferred | undefined;
  readonly hasRequests: boolean;
  readonly write: SteppedWrite & Pick<Batch, "events">;
};

/**
 * Commits everything that one turn of the event loop decided at once, then notifies the subscribers. When a
 * commit fails, all callers that wait for it fail, and the world is dropped from memory.
 */
export class GroupCommit {
  readonly #lifecycle: WorldLifecycle;
  readonly #retention: Retention;
  readonly #onDataReleased: () => void;
  readonly #listeners = new Set<EventListener>();
  readonly #requestListeners = new Set<() => void>();
  #next: Deferred | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(
    lifecycle: WorldLifecycle,
    { retention, onDataReleased }: Pick<HostedWorldOptions, "retention" | "onDataReleased">,
  ) {
    this.#lifecycle = lifecycle;
    this.#retention = retention;
    this.#onDataReleased = onDataReleased ?? (() => undefined);
  }

  /** Resolves when everything that has happened so far is durable. */
  next(): Promise<void> {
    if (this.#next !== undefined) return this.#next.promise;
    const next = deferred();
    this.#next = next;
    setImmediate(() => {
      // A commit in the meantime has included everything that waits for this one.
      if (this.#next !== next) return;
      try {
        this.now();
      } catch {
        // All callers that wait for this commit have been rejected.
      }
    });
    return next.promise;
  }

  /** Commits at once. Throws `StoreUnavailable` when the commit fails. */
  now(): void {
    const commit = this.#begin(({ simulation, clock }, requests, onLost) => {
      const events = simulation.commit(clock.state(), clock.now(), requests, onLost);
      return { events, step: () => true, hasEnded: true };
    });
    if (commit !== undefined) this.#finish(commit);
  }

  /**
   * Commits much, in steps between which other worlds get a turn. The caller makes sure that this world does not
   * change meanwhile. Rejects with `StoreUnavailable` when the commit fails.
   */
  async inSteps(): Promise<void> {
    const commit = this.#begin(({ simulation, clock }, requests, onLost) =>
      simulation.beginCommit(clock.state(), clock.now(), requests, onLost),
    );
    if (commit === undefined) throw new StoreUnavailable(`world "${this.#lifecycle.name}" is closed`);
    while (!this.#step(commit)) await nextTurn();
    this.#finish(commit);
  }

  #begin(
    write: (
      live: LiveWorld,
      requests: NewRequests | undefined,
      onLost: (error: unknown) => void,
    ) => CommitInProgress["write"],
  ): CommitInProgress | undefined {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const { live } = this.#lifecycle;
    const waiting = this.#next;
    if (live === undefined) {
      this.#reject(new StoreUnavailable(`world "${this.#lifecycle.name}" is closed`));
      return undefined;
    }
    const requests = live.requests?.take();
    try {
      const begun = write(live, requests, (lost) => this.#lifecycle.reportFailure(lost));
      this.#next = undefined;
      return { live, waiting, hasRequests: requests !== undefined, write: begun };
    } catch (error) {
      this.#lifecycle.reportFailure(error);
      throw this.fail(live, error);
    }
  }

  /** Takes a step; returns whether everything is durable. */
  #step({ live, waiting, write }: CommitInProgress): boolean {
    const isCurrent = this.#lifecycle.live === live;
    try {
      if (!isCurrent && !write.hasEnded)
        throw new StoreUnavailable(`world "${this.#lifecycle.name}" was closed while it committed`);
      return write.step();
    } catch (error) {
      // Otherwise the world was closed, maybe because it is deleted, or its failure is reported already.
      if (isCurrent) this.#lifecycle.reportFailure(error);
      const failure = isCurrent ? this.fail(live, error) : this.#lifecycle.failureOf(error);
      waiting?.reject(failure);
      throw failure;
    }
  }

  #finish({ live, waiting, hasRequests, write: { events } }: CommitInProgress): void {
    this.#checkpointWhenIdle();
    this.#retainHistory(live);
    if (events.some(releasesData)) this.#onDataReleased();
    if (hasRequests) for (const listener of this.#requestListeners) listener();
    const followers = events.length === 0 ? [] : [...this.#listeners].map((listener) => listener(events));
    const pending = followers.filter((follower) => follower !== undefined);
    if (pending.length === 0) waiting?.resolve();
    else void Promise.allSettled(pending).then(() => waiting?.resolve());
  }

  /** Drops the world from memory and rejects all callers that wait for its commit. */
  fail(live: LiveWorld, error: unknown): StoreUnavailable {
    const failure = this.#lifecycle.fail(live, error);
    this.#reject(failure);
    return failure;
  }

  /** Commits soon, for changes that no answer waits for. */
  schedule(): void {
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined;
      runInBackground(() => this.now());
    }, FLUSH_EVERY_MS).unref();
  }

  /** Forgets pending work in the background when the world is dropped from memory. */
  stopTimers(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  }

  /** Whether a request waits for the next commit, or somebody follows the events. */
  get isInUse(): boolean {
    return this.#next !== undefined || this.#listeners.size > 0 || this.#requestListeners.size > 0;
  }

  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener when requests have been logged. */
  subscribeToRequests(listener: () => void): () => void {
    this.#requestListeners.add(listener);
    return () => this.#requestListeners.delete(listener);
  }

  /** Makes subscribers check the world again after something other than an event has changed it. */
  notify(): void {
    for (const listener of this.#listeners) void listener([]);
    for (const listener of this.#requestListeners) listener();
  }

  #reject(failure: StoreUnavailable): void {
    this.#next?.reject(failure);
    this.#next = undefined;
  }

  #checkpointWhenIdle(): void {
    if (this.#idleTimer !== undefined) {
      this.#idleTimer.refresh();
      return;
    }
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined;
      const { live } = this.#lifecycle;
      if (live !== undefined) runInBackground(() => this.#tidyFile(live));
    }, IDLE_MS).unref();
  }

  /** Deletes what is truncated, and moves the log into the file. */
  async #tidyFile(live: LiveWorld): Promise<void> {
    const isCurrent = () => this.#lifecycle.live === live;
    try {
      while (!live.simulation.journal.prune()) {
        await nextTurn();
        if (!isCurrent()) return;
      }
    } catch (error) {
      this.#lifecycle.reportFailure(error);
      if (isCurrent()) this.fail(live, error);
      return;
    }
    try {
      live.history.checkpoint?.();
    } catch (error) {
      // The log still contains everything.
      this.#lifecycle.reportFailure(error);
    }
  }

  #retainHistory(live: LiveWorld): void {
    const { world } = live.simulation;
    if (isCheckpointDue(world, live.checkpointDue)) runInBackground(() => this.#truncateHistory(live, true));
    else if (live.clock.now() >= live.truncationDueAt)
      runInBackground(() => this.#truncateHistory(live, false));
  }

  /** Applies retention in the background, after a checkpoint if one is due. */
  async #truncateHistory(live: LiveWorld, takesCheckpoint: boolean): Promise<void> {
    const { simulation, clock } = live;
    const { world, journal } = simulation;
    const isCurrent = () => this.#lifecycle.live === live;
    // A checkpoint has all rows. It waits until later commits have read the rest.
    const read = () => world.hourlyUsage.read(LEDGERS_READ_PER_COMMIT);
    if (takesCheckpoint && !this.#lifecycle.guardRead(read)) return;
    live.truncationDueAt = nextTruncation(clock.now(), this.#retention);
    if (takesCheckpoint) {
      live.checkpointDue = nextCheckpoint(journal, world, world, this.#retention);
      await journal.storeCheckpoint(takeCheckpoint(world));
      if (!isCurrent()) return;
    }
    const { seq } = journal.oldest;
    applyRetention(journal, world, clock.now(), this.#retention);
    if (!takesCheckpoint && journal.oldest.seq === seq) return;
    await deleteUnneededSecrets(live, isCurrent);
    if (isCurrent() && simulation.hasUncommittedRows) this.schedule();
  }
}

function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
