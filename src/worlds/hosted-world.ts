import { setImmediate as nextTurn } from "node:timers/promises";
import { type DurationMs, END_OF_TIME, SECOND, type SimTime } from "../platform/core/time.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { Operation } from "../platform/operation/operation.ts";
import { accept, type Result } from "../platform/refusals.ts";
import { type ArrivalSource, NO_ARRIVALS } from "../simulation/arrival-source.ts";
import { takeCheckpoint } from "../simulation/checkpoint.ts";
import { type PointSelector, resolvePoint, worldAt } from "../simulation/replay.ts";
import { PendingRequests, type RequestLogEntry } from "../simulation/request-log.ts";
import { Simulation } from "../simulation/simulation.ts";
import { type ClockMode, type ClockState, type WallClock, WorldClock } from "../simulation/world-clock.ts";
import { asCorruptFile, CorruptFile } from "../store/tables/checksum.ts";
import { enableHourlyUsage, enableHourlyUsageBeforeDue } from "./enable-hourly-usage.ts";
import { applyRetention, nextCheckpointSeq, type Retention } from "./retention.ts";
import {
  type AdvanceResult,
  type AdvanceTarget,
  type ClockReading,
  type HistoryInfo,
  type PastView,
  StoreUnavailable,
  type Transaction,
  type WorldHandle,
} from "./world-handle.ts";
import type { History, OpenHistory } from "./world-storage.ts";

export type HostedWorldOptions = {
  readonly name: string;
  readonly open: OpenHistory;
  readonly wallClock: WallClock;
  /** Where the clock of a world begins that has none yet. */
  readonly initialClock: ClockState;
  readonly retention: Retention;
  /** So many requests are kept; 0: none. */
  readonly requestsLimit: number;
  readonly onFailure: (error: unknown) => void;
};

/** So much due work is done between two commits of an advance, and before others get a word in. */
const EVENTS_PER_COMMIT = 5_000;
/** The first so many events of an advance are in its answer. */
const EVENTS_PER_ADVANCE = 1_000;
/** Rows beside history are written at least this often, by the wall. */
const FLUSH_EVERY_MS = 1_000;
/** The longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;
type LiveWorld = {
  readonly history: History;
  readonly simulation: Simulation;
  readonly clock: WorldClock;
  readonly requests: PendingRequests | undefined;
  checkpointDueAt: number;
};
type Deferred = {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/**
 * A world in service. Everything that one turn of the event loop decides goes into one commit, and nobody who has seen any of it
 * is answered before that commit; if it fails, the world is opened again from its file, which knows nothing of what failed.
 */
export class HostedWorld implements WorldHandle {
  readonly name: string;
  readonly #options: HostedWorldOptions;
  readonly #listeners = new Set<(events: readonly RecordedEvent[]) => void>();
  #arrivals: ArrivalSource = NO_ARRIVALS;
  #live: LiveWorld | undefined;
  /** While an advance or a catching up runs, turns wait for it. */
  #gate: Promise<unknown> | undefined;
  #commit: Deferred | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  #dueTimer: { readonly at: SimTime; readonly timer: NodeJS.Timeout } | undefined;
  /** While nobody may open the file. */
  #isBeingReplaced = false;
  #isShuttingDown = false;
  #closed = false;

  constructor(options: HostedWorldOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Whether the world has been made already, or is as empty as its file. */
  get isCreated(): boolean {
    return this.#requireLive().simulation.world.seq > 0;
  }

  now(): SimTime {
    return this.#requireLive().clock.now();
  }

  transact<T>(work: (transaction: Transaction) => T): T | Promise<T> {
    if (this.#gate !== undefined) return this.#gate.then(() => this.transact(work));
    const live = this.#requireLive();
    const { simulation } = live;
    let result: T;
    try {
      const now = live.clock.now();
      enableHourlyUsageBeforeDue(simulation, now);
      if (!simulation.runDueUntil(now, EVENTS_PER_COMMIT))
        return this.#catchUp().then(() => this.transact(work));
      result = work(this.#transactionAt(live, now));
    } catch (bug) {
      // Nobody knows how far it came: nothing that waits for the commit has happened.
      if (this.#live === live) this.#rejectCommit(this.#fail(live, bug));
      throw this.#asUnavailable(bug);
    }
    this.#armDueTimer();
    if (simulation.hasUncommittedEvents) return this.#nextCommit().then(() => result);
    if (simulation.hasUncommittedRows || live.requests?.isEmpty === false) this.#armFlushTimer();
    return result;
  }

  async clock(): Promise<ClockReading> {
    return this.transact(() => this.#readClock());
  }

  async setClock(mode: ClockMode, factor: number): Promise<ClockReading> {
    await this.transact(() => undefined);
    const { clock } = this.#requireLive();
    clock.setMode(mode, factor);
    this.#disarmDueTimer();
    this.#commitNow();
    return this.clock();
  }

  advance(target: AdvanceTarget): Promise<AdvanceResult | undefined> {
    return this.#runExclusively(async () => {
      await this.#runDueUntil(this.now());
      const { simulation, clock } = this.#requireLive();
      const now = clock.now();
      const to =
        "by" in target ? now + target.by : "to" in target ? target.to : (simulation.nextDue() ?? now);
      if (to < now || to > END_OF_TIME) return undefined;
      const since = simulation.world.seq;
      await this.#runUntil(this.#arrivals, now, to);
      clock.advanceTo(to);
      this.#commitNow();
      const events = simulation.journal.events(since, EVENTS_PER_ADVANCE);
      const last = events.at(-1)?.seq ?? since;
      return { now: clock.now(), events, nextSince: last < simulation.world.seq ? last : undefined };
    });
  }

  /** What arrives from now on where anybody advances the clock. */
  attachArrivals(arrivals: ArrivalSource): void {
    this.#arrivals = arrivals;
  }

  advanceWithArrivals(arrivals: ArrivalSource, to: SimTime): Promise<void> {
    return this.#runExclusively(async () => {
      if (to > END_OF_TIME) throw new RangeError(`to: ${to} is beyond the end of time`);
      const from = this.now();
      await this.#runUntil(arrivals, from, Math.max(from, to));
      this.#requireLive().clock.advanceTo(to);
      this.#commitNow();
    });
  }

  async events(since: number, limit: number): Promise<readonly RecordedEvent[]> {
    await this.transact(() => undefined);
    return this.#guardRead(() => this.#requireLive().simulation.journal.events(since, limit));
  }

  async requests(since: number, limit: number): Promise<readonly RequestLogEntry[]> {
    await this.transact(() => undefined);
    const { simulation, requests } = this.#requireLive();
    if (requests?.isEmpty === false) this.#commitNow();
    return this.#guardRead(() => simulation.journal.requests(since, limit));
  }

  async clearRequests(): Promise<void> {
    await this.transact(() => undefined);
    const { simulation, requests } = this.#requireLive();
    try {
      simulation.journal.clearRequests();
      requests?.clear();
    } catch (error) {
      this.#options.onFailure(error);
      throw new StoreUnavailable(
        `requests of world "${this.name}" could not be forgotten: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  subscribe(listener: (events: readonly RecordedEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  sizeBytes(): number {
    return this.#requireLive().simulation.journal.sizeBytes();
  }

  history(): HistoryInfo {
    const { history, simulation } = this.#requireLive();
    return { id: history.historyId, forgottenSeq: simulation.journal.oldest.seq, seq: simulation.world.seq };
  }

  /** Does what is due, and makes durable where the clock stands: for whoever takes a copy. */
  async flush(): Promise<void> {
    await this.transact(() => undefined);
    this.#commitNow();
  }

  /** The world as it was at a point of its history, with its clock as it stood there. */
  async viewAt(point: PointSelector): Promise<Result<PastView>> {
    await this.transact(() => undefined);
    this.#commitNow();
    const { simulation, clock } = this.#requireLive();
    const { journal } = simulation;
    const head = this.#guardRead(() =>
      resolvePoint(journal, point, { seq: simulation.world.seq, at: clock.now() }),
    );
    if (!head.ok) return head;
    const { seq, at } = head.value;
    const world = await this.#guardRead(() => worldAt(journal, seq, () => nextTurn()));
    const endedByThen = (operation: Operation | undefined) =>
      operation !== undefined && operation.updatedAt <= at ? operation : undefined;
    return accept({
      head: head.value,
      world,
      operation: (id) =>
        world.operations.get(id) ?? endedByThen(this.#guardRead(() => journal.operation(id))),
      now: at,
      eventsAbout: (id, limit, filter) =>
        this.#guardRead(() => journal.eventsAbout(id, seq + 1, limit, filter)),
      events: (since, limit) => this.#guardRead(() => journal.events(since, Math.min(limit, seq - since))),
    });
  }

  async compact(maxAge: DurationMs): Promise<HistoryInfo> {
    const live = this.#requireLive();
    const { journal } = live.simulation;
    const { oldest } = journal;
    const horizon = this.now() - maxAge;
    const past =
      horizon < Math.max(oldest.at, live.simulation.world.settings.startAt)
        ? undefined
        : await this.viewAt({ at: horizon });
    if (past?.ok === false) throw new Error(past.refusal.message);
    const checkStillOpen = () => {
      if (this.#live !== live) throw new StoreUnavailable(`world "${this.name}" was opened anew meanwhile`);
    };
    try {
      checkStillOpen();
      const headSeq = past?.value.head.seq ?? 0;
      if (past !== undefined && headSeq > journal.oldest.seq)
        await journal.storeCheckpoint(takeCheckpoint(past.value.world));
      checkStillOpen();
      journal.truncate({ eventsUpTo: Math.max(headSeq, journal.oldest.seq), operationsBefore: horizon });
      while (!journal.prune()) {
        await nextTurn();
        checkStillOpen();
      }
    } catch (error) {
      this.#options.onFailure(error);
      throw error instanceof StoreUnavailable
        ? error
        : new StoreUnavailable(`world "${this.name}" could not be compacted: ${messageOf(error)}`, {
            cause: error,
          });
    }
    return this.history();
  }

  /** Has another history take the place of this one, while nobody has either open. */
  async replace(swap: () => Promise<void>): Promise<void> {
    await this.#runExclusively(async () => {
      try {
        await this.#runDueUntil(this.now());
        this.#commitNow();
      } catch (error) {
        // One that cannot be opened has nothing to commit, and is what restoring is for.
        if (!(error instanceof StoreUnavailable) || this.#live !== undefined || this.#closed) throw error;
      }
      const live = this.#live;
      this.#live = undefined;
      this.#disarmDueTimer();
      this.#isBeingReplaced = true;
      try {
        live?.history.close();
        await swap();
      } finally {
        this.#isBeingReplaced = false;
      }
      this.#live = this.#open();
    });
    await this.transact(() => undefined);
    this.#notifyListeners();
  }

  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  /** Nobody will wait for the end of a long advance, or of a stream: they end, the one at its next commit. */
  beginShutdown(): void {
    this.#isShuttingDown = true;
    this.#notifyListeners();
  }

  /** Writes what is left to write, and lets go of the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.beginShutdown();
    await this.#gate?.catch(() => undefined);
    if (this.#live !== undefined) this.#runInBackground(() => this.#commitNow());
    this.#closed = true;
    this.#disarmDueTimer();
    const live = this.#live;
    this.#live = undefined;
    live?.history.close();
    this.#notifyListeners();
  }

  /** Whoever follows looks again, and sees what has become of this world. */
  #notifyListeners(): void {
    for (const listener of this.#listeners) listener([]);
  }

  #requireLive(): LiveWorld {
    if (this.#closed) throw new StoreUnavailable(`world "${this.name}" is closed`);
    if (this.#isBeingReplaced) throw new StoreUnavailable(`world "${this.name}" is being restored`);
    this.#live ??= this.#open();
    return this.#live;
  }

  #open(): LiveWorld {
    const { open, wallClock, initialClock, requestsLimit } = this.#options;
    try {
      const history = open();
      const { journal, world, clock } = history;
      const state = clock?.state ?? initialClock;
      const floor = Math.max(clock?.now ?? state.simAnchor, world.at);
      const simulation = new Simulation(world, journal);
      return {
        history,
        simulation,
        clock: new WorldClock(state, wallClock, floor),
        requests: requestsLimit === 0 ? undefined : new PendingRequests(requestsLimit, journal.newestRequest),
        checkpointDueAt: nextCheckpointSeq(journal, journal.newestCheckpoint, world, this.#options.retention),
      };
    } catch (error) {
      const reason =
        error instanceof CorruptFile
          ? describeCorruption(this.name, error)
          : `world "${this.name}" cannot be opened: ${messageOf(error)}`;
      throw new StoreUnavailable(reason, { cause: error });
    }
  }

  #transactionAt({ simulation, requests }: LiveWorld, now: SimTime): Transaction {
    const { world, journal } = simulation;
    const commitPending = () => {
      if (simulation.hasUncommittedEvents) this.#commitNow();
    };
    return {
      world,
      now,
      execute(command) {
        enableHourlyUsage(simulation, now);
        return simulation.execute(command, now);
      },
      storeSecret: (id, value) => world.secrets.set({ id, value }),
      deleteSecret: (id) => world.secrets.delete(id),
      recordKeyUse(keyId, address) {
        const use = world.apiKeyUses.get(String(keyId));
        if (use !== undefined && now - use.lastUsedAt < SECOND && use.lastUsedFromAddr === address) return;
        world.apiKeyUses.set({ keyId, lastUsedAt: now, lastUsedFromAddr: address });
      },
      logRequest: requests && ((request) => requests.append({ at: now, seq: world.seq, ...request })),
      operations(projectId, limit, beforeNumber) {
        commitPending();
        return journal.operations(projectId, limit, beforeNumber);
      },
      eventsAbout(id, limit, filter) {
        commitPending();
        return journal.eventsAbout(id, Number.MAX_SAFE_INTEGER, limit, filter);
      },
      events(since, limit) {
        commitPending();
        return journal.events(since, limit);
      },
      operation(id) {
        const unfinished = world.operations.get(id);
        if (unfinished !== undefined) return unfinished;
        commitPending();
        return journal.operation(id);
      },
    };
  }

  #readClock(): ClockReading {
    const { simulation, clock } = this.#requireLive();
    return { now: clock.now(), mode: clock.mode, factor: clock.factor, nextDue: simulation.nextDue() };
  }

  /** Runs `work` while no turn does; turns that come meanwhile are answered after it. */
  #runExclusively<T>(work: () => Promise<T>): Promise<T> {
    if (this.#gate !== undefined)
      return this.#gate.catch(() => undefined).then(() => this.#runExclusively(work));
    const running = work().finally(() => {
      this.#gate = undefined;
      if (this.#live !== undefined && !this.#closed) this.#armDueTimer();
    });
    this.#gate = running.catch(() => undefined);
    return running;
  }

  #catchUp(): Promise<void> {
    return this.#runExclusively(() => this.#runDueUntil(this.now()));
  }

  #runDueUntil(to: SimTime): Promise<void> {
    return this.#runUntil(NO_ARRIVALS, to, to);
  }

  /** Due work and arrivals up to `to`, committed every so often, so that a kill loses nothing and others can be told to wait. */
  async #runUntil(arrivals: ArrivalSource, from: SimTime, to: SimTime): Promise<void> {
    for (;;) {
      const { simulation, clock } = this.#requireLive();
      for (const event of enableHourlyUsageBeforeDue(simulation, to, arrivals)) arrivals.observe(event);
      const done = simulation.runWithArrivals(arrivals, from, to, EVENTS_PER_COMMIT);
      clock.advanceTo(simulation.world.at);
      if (simulation.hasUncommittedEvents) this.#commitNow();
      if (done) return;
      await nextTurn();
      if (this.#isShuttingDown)
        throw new StoreUnavailable(`world "${this.name}" is closing; it stands at its last commit`);
    }
  }

  /** Resolves when everything that has happened so far is durable. */
  #nextCommit(): Promise<void> {
    if (this.#commit === undefined) {
      this.#commit = deferred();
      setImmediate(() => {
        try {
          this.#commitNow();
        } catch {
          // Whoever waits for this commit has been told.
        }
      });
    }
    return this.#commit.promise;
  }

  #commitNow(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const live = this.#live;
    if (live === undefined) {
      this.#rejectCommit(new StoreUnavailable(`world "${this.name}" is closed`));
      return;
    }
    let events: readonly RecordedEvent[];
    try {
      events = live.simulation.commit(live.clock.state(), live.clock.now(), live.requests?.take());
    } catch (error) {
      this.#options.onFailure(error);
      const failure = this.#fail(live, error);
      this.#rejectCommit(failure);
      throw failure;
    }
    this.#commit?.resolve();
    this.#commit = undefined;
    if (events.length === 0) return;
    if (live.simulation.world.seq >= live.checkpointDueAt)
      this.#runInBackground(() => this.#storeCheckpoint(live));
    for (const listener of this.#listeners) listener(events);
  }

  #rejectCommit(failure: StoreUnavailable): void {
    this.#commit?.reject(failure);
    this.#commit = undefined;
  }

  async #storeCheckpoint(live: LiveWorld): Promise<void> {
    const { simulation, clock } = live;
    const { world, journal } = simulation;
    const { retention } = this.#options;
    live.checkpointDueAt = nextCheckpointSeq(journal, world.seq, world, retention);
    await journal.storeCheckpoint(takeCheckpoint(world));
    if (this.#live === live) applyRetention(journal, world.seq, clock.now(), retention);
  }

  /** What is in memory has not happened; the file is the truth, and the next turn opens it through the door of every start. */
  #fail(live: LiveWorld, error: unknown): StoreUnavailable {
    this.#live = undefined;
    this.#disarmDueTimer();
    try {
      live.history.close();
    } catch (closing) {
      this.#options.onFailure(closing);
    }
    return new StoreUnavailable(`world "${this.name}" could not commit: ${messageOf(error)}`, {
      cause: error,
    });
  }

  /** What is read of a history that is not in memory may turn out to be damaged. */
  #guardRead<T>(read: () => T): T {
    const unavailable = (error: unknown): never => {
      throw this.#asUnavailable(error);
    };
    try {
      const result = read();
      return result instanceof Promise ? (result.catch(unavailable) as T) : result;
    } catch (error) {
      return unavailable(error);
    }
  }

  #asUnavailable(error: unknown): unknown {
    const corrupt = asCorruptFile(error);
    if (!(corrupt instanceof CorruptFile)) return error;
    this.#options.onFailure(corrupt);
    return new StoreUnavailable(describeCorruption(this.name, corrupt), { cause: corrupt });
  }

  #armFlushTimer(): void {
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined;
      this.#runInBackground(() => this.#commitNow());
    }, FLUSH_EVERY_MS).unref();
  }

  /** One wall timer sleeps until the next due time. */
  #armDueTimer(): void {
    const { simulation, clock } = this.#requireLive();
    const at = simulation.nextDue();
    if (at === this.#dueTimer?.at) return;
    this.#disarmDueTimer();
    const delayMs = at === undefined ? undefined : clock.wallDelayUntil(at);
    if (at === undefined || delayMs === undefined) return;
    const timer = setTimeout(
      () => {
        this.#dueTimer = undefined;
        this.#runInBackground(() => this.transact(() => undefined));
      },
      Math.min(Math.ceil(delayMs), MAX_TIMER_MS),
    );
    this.#dueTimer = { at, timer: timer.unref() };
  }

  #disarmDueTimer(): void {
    clearTimeout(this.#dueTimer?.timer);
    this.#dueTimer = undefined;
  }

  /** Work that nobody waits for: its failure has been reported where it was found, and the next turn will meet it again. */
  #runInBackground(work: () => unknown): void {
    try {
      Promise.resolve(work()).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

function describeCorruption(world: string, { message }: CorruptFile): string {
  return `the file of world "${world}" is damaged (${message}); restore a snapshot of it: standin snapshots restore <name>`;
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
