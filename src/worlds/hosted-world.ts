import { setImmediate as nextTurn } from "node:timers/promises";
import { type DurationMs, END_OF_TIME, SECOND, type SimTime } from "../platform/core/time.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { Operation } from "../platform/operation/operation.ts";
import { accept, type Result } from "../platform/refusals.ts";
import { takeCheckpoint } from "../simulation/checkpoint.ts";
import { type Feed, NO_FEED } from "../simulation/feed.ts";
import { cutAt, type Point, worldAt } from "../simulation/replay.ts";
import { PendingRequests, type RecordedRequest } from "../simulation/requests.ts";
import { Simulation } from "../simulation/simulation.ts";
import { Clock, type ClockMode, type ClockState, type Wall } from "../simulation/world-clock.ts";
import { asDamaged, Damaged } from "../store/tables/checksum.ts";
import { keepHours, keepHoursBeforeDue } from "./keep-hours.ts";
import { forgetOld, nextCheckpoint, type Retention } from "./retention.ts";
import type { History, OpenHistory } from "./shelf.ts";
import {
  type Advance,
  type AdvanceTarget,
  type ClockReading,
  type HistoryFacts,
  type Past,
  StoreUnavailable,
  type Turn,
  type WorldHandle,
} from "./world-handle.ts";

export type HostedWorldOptions = {
  readonly name: string;
  readonly open: OpenHistory;
  readonly wall: Wall;
  /** Where the clock of a world begins that has none yet. */
  readonly firstClock: ClockState;
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
const LONGEST_TIMER_MS = 2 ** 31 - 1;
type Live = {
  readonly history: History;
  readonly simulation: Simulation;
  readonly clock: Clock;
  readonly requests: PendingRequests | undefined;
  checkpointDueAt: number;
};
type Deferred = { readonly promise: Promise<void>; readonly resolve: () => void; readonly reject: (error: unknown) => void };

/**
 * A world in service. Everything that one turn of the event loop decides goes into one commit, and nobody who has seen any of it
 * is answered before that commit; if it fails, the world is opened again from its file, which knows nothing of what failed.
 */
export class HostedWorld implements WorldHandle {
  readonly name: string;
  readonly #options: HostedWorldOptions;
  readonly #listeners = new Set<(events: readonly RecordedEvent[]) => void>();
  #companion: Feed = NO_FEED;
  #live: Live | undefined;
  /** While an advance or a catching up runs, turns wait for it. */
  #gate: Promise<unknown> | undefined;
  #commit: Deferred | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  #dueTimer: { readonly at: SimTime; readonly timer: NodeJS.Timeout } | undefined;
  /** While nobody may open the file. */
  #isReplaced = false;
  #ending = false;
  #closed = false;

  constructor(options: HostedWorldOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Whether the world has been made already, or is as empty as its file. */
  get isMade(): boolean {
    return this.#alive().simulation.world.seq > 0;
  }

  now(): SimTime {
    return this.#alive().clock.now();
  }

  turn<T>(look: (turn: Turn) => T): T | Promise<T> {
    if (this.#gate !== undefined) return this.#gate.then(() => this.turn(look));
    const live = this.#alive();
    const { simulation } = live;
    let result: T;
    try {
      const now = live.clock.now();
      keepHoursBeforeDue(simulation, now);
      if (!simulation.settle(now, EVENTS_PER_COMMIT)) return this.#catchUp().then(() => this.turn(look));
      result = look(this.#turnAt(live, now));
    } catch (bug) {
      // Nobody knows how far it came: nothing that waits for the commit has happened.
      if (this.#live === live) this.#rejectCommit(this.#fail(live, bug));
      throw this.#asUnavailable(bug);
    }
    this.#armDueTimer();
    if (simulation.hasUncommittedEvents) return this.#committed().then(() => result);
    if (simulation.hasUncommittedRows || live.requests?.isEmpty === false) this.#armFlushTimer();
    return result;
  }

  async clock(): Promise<ClockReading> {
    return this.turn(() => this.#readClock());
  }

  async setClock(mode: ClockMode, factor: number): Promise<ClockReading> {
    await this.turn(() => undefined);
    const { clock } = this.#alive();
    clock.setMode(mode, factor);
    this.#disarmDueTimer();
    this.#commitNow();
    return this.clock();
  }

  advance(target: AdvanceTarget): Promise<Advance | undefined> {
    return this.#exclusively(async () => {
      await this.#settleTo(this.now());
      const { simulation, clock } = this.#alive();
      const now = clock.now();
      const to = "by" in target ? now + target.by : "to" in target ? target.to : (simulation.nextDue() ?? now);
      if (to < now || to > END_OF_TIME) return undefined;
      const since = simulation.world.seq;
      await this.#playTo(this.#companion, now, to);
      clock.advanceTo(to);
      this.#commitNow();
      const events = simulation.journal.events(since, EVENTS_PER_ADVANCE);
      const last = events.at(-1)?.seq ?? since;
      return { now: clock.now(), events, nextSince: last < simulation.world.seq ? last : undefined };
    });
  }

  /** What arrives from now on where anybody advances the clock. */
  accompany(feed: Feed): void {
    this.#companion = feed;
  }

  play(feed: Feed, to: SimTime): Promise<void> {
    return this.#exclusively(async () => {
      if (to > END_OF_TIME) throw new RangeError(`to: ${to} is beyond the end of time`);
      const from = this.now();
      await this.#playTo(feed, from, Math.max(from, to));
      this.#alive().clock.advanceTo(to);
      this.#commitNow();
    });
  }

  async events(since: number, limit: number): Promise<readonly RecordedEvent[]> {
    await this.turn(() => undefined);
    return this.#reading(() => this.#alive().simulation.journal.events(since, limit));
  }

  async requests(since: number, limit: number): Promise<readonly RecordedRequest[]> {
    await this.turn(() => undefined);
    const { simulation, requests } = this.#alive();
    if (requests?.isEmpty === false) this.#commitNow();
    return this.#reading(() => simulation.journal.requests(since, limit));
  }

  async forgetRequests(): Promise<void> {
    await this.turn(() => undefined);
    const { simulation, requests } = this.#alive();
    try {
      simulation.journal.forgetRequests();
      requests?.forget();
    } catch (error) {
      this.#options.onFailure(error);
      throw new StoreUnavailable(`requests of world "${this.name}" could not be forgotten: ${messageOf(error)}`, { cause: error });
    }
  }

  subscribe(listener: (events: readonly RecordedEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  sizeBytes(): number {
    return this.#alive().simulation.journal.sizeBytes();
  }

  history(): HistoryFacts {
    const { history, simulation } = this.#alive();
    return { id: history.historyId, forgottenSeq: simulation.journal.oldest.seq, seq: simulation.world.seq };
  }

  /** Does what is due, and makes durable where the clock stands: for whoever takes a copy. */
  async flush(): Promise<void> {
    await this.turn(() => undefined);
    this.#commitNow();
  }

  /** The world as it was at a point of its history, with its clock as it stood there. */
  async past(point: Point): Promise<Result<Past>> {
    await this.turn(() => undefined);
    this.#commitNow();
    const { simulation, clock } = this.#alive();
    const { journal } = simulation;
    const cut = this.#reading(() => cutAt(journal, point, { seq: simulation.world.seq, at: clock.now() }));
    if (!cut.ok) return cut;
    const { seq, at } = cut.value;
    const world = await this.#reading(() => worldAt(journal, seq, () => nextTurn()));
    const overThen = (operation: Operation | undefined) => (operation !== undefined && operation.updatedAt <= at ? operation : undefined);
    return accept({
      cut: cut.value,
      world,
      operation: (id) => world.operations.get(id) ?? overThen(this.#reading(() => journal.operation(id))),
      now: at,
      eventsAbout: (id, limit, only) => this.#reading(() => journal.eventsAbout(id, seq + 1, limit, only)),
      events: (since, limit) => this.#reading(() => journal.events(since, Math.min(limit, seq - since))),
    });
  }

  async compact(keep: DurationMs): Promise<HistoryFacts> {
    const live = this.#alive();
    const { journal } = live.simulation;
    const { oldest } = journal;
    const horizon = this.now() - keep;
    const past = horizon < Math.max(oldest.at, live.simulation.world.settings.startAt) ? undefined : await this.past({ at: horizon });
    if (past?.ok === false) throw new Error(past.refusal.message);
    const stillThere = () => {
      if (this.#live !== live) throw new StoreUnavailable(`world "${this.name}" was opened anew meanwhile`);
    };
    try {
      stillThere();
      const cutSeq = past?.value.cut.seq ?? 0;
      if (past !== undefined && cutSeq > journal.oldest.seq) await journal.keepCheckpoint(takeCheckpoint(past.value.world));
      stillThere();
      journal.forget({ eventsUpTo: Math.max(cutSeq, journal.oldest.seq), operationsBefore: horizon });
      while (!journal.sweep()) {
        await nextTurn();
        stillThere();
      }
    } catch (error) {
      this.#options.onFailure(error);
      throw error instanceof StoreUnavailable
        ? error
        : new StoreUnavailable(`world "${this.name}" could not be compacted: ${messageOf(error)}`, { cause: error });
    }
    return this.history();
  }

  /** Has another history take the place of this one, while nobody has either open. */
  async replace(swap: () => Promise<void>): Promise<void> {
    await this.#exclusively(async () => {
      try {
        await this.#settleTo(this.now());
        this.#commitNow();
      } catch (error) {
        // One that cannot be opened has nothing to commit, and is what restoring is for.
        if (!(error instanceof StoreUnavailable) || this.#live !== undefined || this.#closed) throw error;
      }
      const live = this.#live;
      this.#live = undefined;
      this.#disarmDueTimer();
      this.#isReplaced = true;
      try {
        live?.history.close();
        await swap();
      } finally {
        this.#isReplaced = false;
      }
      this.#live = this.#open();
    });
    await this.turn(() => undefined);
    this.#wakeListeners();
  }

  get isEnding(): boolean {
    return this.#ending;
  }

  /** Nobody will wait for the end of a long advance, or of a stream: they end, the one at its next commit. */
  end(): void {
    this.#ending = true;
    this.#wakeListeners();
  }

  /** Writes what is left to write, and lets go of the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.end();
    await this.#gate?.catch(() => undefined);
    if (this.#live !== undefined) this.#quietly(() => this.#commitNow());
    this.#closed = true;
    this.#disarmDueTimer();
    const live = this.#live;
    this.#live = undefined;
    live?.history.close();
    this.#wakeListeners();
  }

  /** Whoever follows looks again, and sees what has become of this world. */
  #wakeListeners(): void {
    for (const listener of this.#listeners) listener([]);
  }

  #alive(): Live {
    if (this.#closed) throw new StoreUnavailable(`world "${this.name}" is closed`);
    if (this.#isReplaced) throw new StoreUnavailable(`world "${this.name}" is being restored`);
    this.#live ??= this.#open();
    return this.#live;
  }

  #open(): Live {
    const { open, wall, firstClock, requestsLimit } = this.#options;
    try {
      const history = open();
      const { journal, world, clock } = history;
      const state = clock?.state ?? firstClock;
      const floor = Math.max(clock?.now ?? state.simAnchor, world.at);
      const simulation = new Simulation(world, journal);
      return {
        history,
        simulation,
        clock: new Clock(state, wall, floor),
        requests: requestsLimit === 0 ? undefined : new PendingRequests(requestsLimit, journal.newestRequest),
        checkpointDueAt: nextCheckpoint(journal, journal.newestCheckpoint, world, this.#options.retention),
      };
    } catch (error) {
      const reason =
        error instanceof Damaged ? describeDamage(this.name, error) : `world "${this.name}" cannot be opened: ${messageOf(error)}`;
      throw new StoreUnavailable(reason, { cause: error });
    }
  }

  #turnAt({ simulation, requests }: Live, now: SimTime): Turn {
    const { world, journal } = simulation;
    const flushed = () => {
      if (simulation.hasUncommittedEvents) this.#commitNow();
    };
    return {
      world,
      now,
      execute(command) {
        keepHours(simulation, now);
        return simulation.execute(command, now);
      },
      keepSecret: (id, value) => world.secrets.set({ id, value }),
      forgetSecret: (id) => world.secrets.delete(id),
      noteKeyUse(keyId, address) {
        const use = world.apiKeyUses.get(String(keyId));
        if (use !== undefined && now - use.lastUsedAt < SECOND && use.lastUsedFromAddr === address) return;
        world.apiKeyUses.set({ keyId, lastUsedAt: now, lastUsedFromAddr: address });
      },
      noteRequest: requests && ((request) => requests.note({ at: now, seq: world.seq, ...request })),
      operations(projectId, limit, beforeNumber) {
        flushed();
        return journal.operations(projectId, limit, beforeNumber);
      },
      eventsAbout(id, limit, only) {
        flushed();
        return journal.eventsAbout(id, Number.MAX_SAFE_INTEGER, limit, only);
      },
      events(since, limit) {
        flushed();
        return journal.events(since, limit);
      },
      operation(id) {
        const unfinished = world.operations.get(id);
        if (unfinished !== undefined) return unfinished;
        flushed();
        return journal.operation(id);
      },
    };
  }

  #readClock(): ClockReading {
    const { simulation, clock } = this.#alive();
    return { now: clock.now(), mode: clock.mode, factor: clock.factor, nextDue: simulation.nextDue() };
  }

  /** Runs `work` while no turn does; turns that come meanwhile are answered after it. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    if (this.#gate !== undefined) return this.#gate.catch(() => undefined).then(() => this.#exclusively(work));
    const running = work().finally(() => {
      this.#gate = undefined;
      if (this.#live !== undefined && !this.#closed) this.#armDueTimer();
    });
    this.#gate = running.catch(() => undefined);
    return running;
  }

  #catchUp(): Promise<void> {
    return this.#exclusively(() => this.#settleTo(this.now()));
  }

  #settleTo(to: SimTime): Promise<void> {
    return this.#playTo(NO_FEED, to, to);
  }

  /** Due work and arrivals up to `to`, committed every so often, so that a kill loses nothing and others can be told to wait. */
  async #playTo(feed: Feed, from: SimTime, to: SimTime): Promise<void> {
    for (;;) {
      const { simulation, clock } = this.#alive();
      for (const event of keepHoursBeforeDue(simulation, to, feed)) feed.observe(event);
      const done = simulation.play(feed, from, to, EVENTS_PER_COMMIT);
      clock.advanceTo(simulation.world.at);
      if (simulation.hasUncommittedEvents) this.#commitNow();
      if (done) return;
      await nextTurn();
      if (this.#ending) throw new StoreUnavailable(`world "${this.name}" is closing; it stands at its last commit`);
    }
  }

  /** Resolves when everything that has happened so far is durable. */
  #committed(): Promise<void> {
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
    if (live.simulation.world.seq >= live.checkpointDueAt) this.#quietly(() => this.#keepCheckpoint(live));
    for (const listener of this.#listeners) listener(events);
  }

  #rejectCommit(failure: StoreUnavailable): void {
    this.#commit?.reject(failure);
    this.#commit = undefined;
  }

  async #keepCheckpoint(live: Live): Promise<void> {
    const { simulation, clock } = live;
    const { world, journal } = simulation;
    const { retention } = this.#options;
    live.checkpointDueAt = nextCheckpoint(journal, world.seq, world, retention);
    await journal.keepCheckpoint(takeCheckpoint(world));
    if (this.#live === live) forgetOld(journal, world.seq, clock.now(), retention);
  }

  /** What is in memory has not happened; the file is the truth, and the next turn opens it through the door of every start. */
  #fail(live: Live, error: unknown): StoreUnavailable {
    this.#live = undefined;
    this.#disarmDueTimer();
    try {
      live.history.close();
    } catch (closing) {
      this.#options.onFailure(closing);
    }
    return new StoreUnavailable(`world "${this.name}" could not commit: ${messageOf(error)}`, { cause: error });
  }

  /** What is read of a history that is not in memory may turn out to be damaged. */
  #reading<T>(read: () => T): T {
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
    const damaged = asDamaged(error);
    if (!(damaged instanceof Damaged)) return error;
    this.#options.onFailure(damaged);
    return new StoreUnavailable(describeDamage(this.name, damaged), { cause: damaged });
  }

  #armFlushTimer(): void {
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined;
      this.#quietly(() => this.#commitNow());
    }, FLUSH_EVERY_MS).unref();
  }

  /** One wall timer sleeps until the next due time. */
  #armDueTimer(): void {
    const { simulation, clock } = this.#alive();
    const at = simulation.nextDue();
    if (at === this.#dueTimer?.at) return;
    this.#disarmDueTimer();
    const delayMs = at === undefined ? undefined : clock.wallDelayUntil(at);
    if (at === undefined || delayMs === undefined) return;
    const timer = setTimeout(
      () => {
        this.#dueTimer = undefined;
        this.#quietly(() => this.turn(() => undefined));
      },
      Math.min(Math.ceil(delayMs), LONGEST_TIMER_MS),
    );
    this.#dueTimer = { at, timer: timer.unref() };
  }

  #disarmDueTimer(): void {
    clearTimeout(this.#dueTimer?.timer);
    this.#dueTimer = undefined;
  }

  /** Work that nobody waits for: its failure has been reported where it was found, and the next turn will meet it again. */
  #quietly(work: () => unknown): void {
    try {
      Promise.resolve(work()).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

function describeDamage(world: string, { message }: Damaged): string {
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
