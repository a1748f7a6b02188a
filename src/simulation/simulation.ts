import type { Random } from "../kernel/random-port.ts";
import type { SimTime } from "../kernel/time.ts";
import { accept, type Result } from "../platform/catalog/refusal-codes.ts";
import type { Context } from "../platform/model/context.ts";
import type { Event, RecordedEvent } from "../platform/model/events.ts";
import type { Command } from "../platform/rules/commands.ts";
import { decideActivity } from "../platform/rules/compute/decide-activity.ts";
import { decide, decideDue } from "../platform/rules/decide.ts";
import { evolve } from "../platform/rules/evolve.ts";
import { profileOfWorld, type World } from "../platform/world/world.ts";
import { type ArrivalSource, NO_ARRIVALS } from "./arrival-source.ts";
import { CommitInSteps, WriteInOneStep } from "./commit-in-steps.ts";
import { dueAt, rebuildTimers, scheduleAfter, scheduleWork } from "./due.ts";
import type { Batch, Journal } from "./journal.ts";
import { randomFrom } from "./random.ts";
import type { NewRequests } from "./request-log.ts";
import { ARRIVAL_PRIORITY } from "./timer-order.ts";
import { type Timer, TimerQueue } from "./timer-queue.ts";
import { type Durability, type ReadScope, UndurableRows } from "./undurable-rows.ts";
import type { ClockState } from "./world-clock.ts";

/**
 * The only place that orders events: a command is decided, its events are applied and wait for the next
 * commit. Everything is synchronous, so nothing can interleave.
 */
export class Simulation {
  readonly world: World;
  readonly journal: Journal;
  readonly #timers = new TimerQueue();
  #random: Random;
  readonly #undurableRows: UndurableRows;
  #uncommitted: RecordedEvent[] = [];
  #committedSeq: number;

  /** `world` is the world that the journal's history replays to; empty for an empty journal. */
  constructor(world: World, journal: Journal) {
    this.world = world;
    this.journal = journal;
    if (journal.tables !== undefined) world.changes.trackOnly(journal.tables);
    this.#committedSeq = world.seq;
    this.#undurableRows = new UndurableRows(world);
    this.#random = randomFrom(world.settings.seed);
    rebuildTimers(this.#timers, world);
  }

  /** Whether events wait for a commit. */
  get hasUncommittedEvents(): boolean {
    return this.#uncommitted.length > 0;
  }

  /** The number of the last event that is durable. */
  get committedSeq(): number {
    return this.#committedSeq;
  }

  /**
   * Whether events are not durable: they wait for a commit, or for its sync. A caller that has seen their effects must
   * not be answered before.
   */
  get hasUndurableEvents(): boolean {
    return this.world.seq > this.#committedSeq;
  }

  /** Returns the durability of the newest change that an answer of this scope depends on. */
  durabilityOf(scope: ReadScope): Durability {
    if (!this.hasUndurableEvents) return "durable";
    // If the journal takes the changes of some tables only, the other changed rows are unknown.
    return this.journal.tables === undefined ? this.#undurableRows.of(scope) : "decided";
  }

  /** The number of events that wait for a commit. */
  get uncommittedEvents(): number {
    return this.#uncommitted.length;
  }

  /** Events that wait for a commit, in order, with a sequence number above `since` (exclusive). */
  uncommittedSince(since: number): readonly RecordedEvent[] {
    const first = this.#uncommitted[0]?.seq ?? 0;
    return this.#uncommitted.slice(Math.max(0, since + 1 - first));
  }

  /** Whether rows have changed since the last commit, including rows outside history. */
  get hasUncommittedRows(): boolean {
    return this.world.changes.list.length > 0;
  }

  /** When the next work is due; `undefined` when there is none. */
  nextDue(): SimTime | undefined {
    for (let next = this.#timers.peek(); next !== undefined; next = this.#timers.peek()) {
      const at = dueAt(this.world, next.work);
      if (at !== undefined && at <= next.at) return next.at;
      this.#rescheduleTop(at);
    }
    return undefined;
  }

  /**
   * Runs the work that is due up to and including `until`, each at its own instant and in order.
   * Stops after about `maxEvents` events; returns whether everything due has run.
   */
  runDueUntil(until: SimTime, maxEvents?: number): boolean {
    return this.runWithArrivals(NO_ARRIVALS, until, until, maxEvents);
  }

  /** The same, with arrivals from `from` on. The world stays consistent when the source throws. */
  runWithArrivals(
    arrivals: ArrivalSource,
    from: SimTime,
    until: SimTime,
    maxEvents = Number.POSITIVE_INFINITY,
  ): boolean {
    const stopAt = this.#uncommitted.length + maxEvents;
    let refusedCount = 0;
    for (;;) {
      const arrivesAt = Math.max(arrivals.at, from, this.world.at);
      const next = this.#timers.peek();
      const isWorkNext =
        next !== undefined &&
        (next.at < arrivesAt || (next.at === arrivesAt && next.priority <= ARRIVAL_PRIORITY));
      const at = isWorkNext ? next.at : arrivesAt;
      if (at > until || at === Number.POSITIVE_INFINITY) return true;
      if (this.#uncommitted.length + refusedCount >= stopAt) return false;
      if (isWorkNext) this.#runWork(next, arrivals);
      else if (!this.#runArrival(arrivals, arrivesAt)) refusedCount += 1;
    }
  }

  /**
   * Executes a command at `now`, after all work that is due until then. A refusal changes nothing. `beforeChange` is called
   * when the command is accepted.
   */
  execute(
    command: Command,
    now: SimTime,
    beforeChange: () => void = () => undefined,
  ): Result<readonly RecordedEvent[]> {
    this.runDueUntil(now);
    const decided = decide(this.world, command, this.#context(now));
    if (!decided.ok) return decided;
    beforeChange();
    return accept(this.#apply(decided.value));
  }

  /**
   * Adds what has happened on another server. It did not follow from the rules, so work that is due does not run before
   * it; it must leave none that is overdue.
   */
  record(events: readonly Event[]): void {
    this.#apply(events);
  }

  /**
   * Writes what happened since the last commit and the state of the clock to the journal; returns the events.
   * If the journal throws, this world is ahead of it and must be dropped. `onLost` is called if only rows
   * outside history could not be written.
   */
  commit(
    clock: ClockState,
    now: SimTime,
    requests?: NewRequests,
    onLost?: (error: unknown) => void,
  ): readonly RecordedEvent[] {
    const batch = this.#takeBatch(clock, now, requests, onLost);
    const rows = this.#undurableRows.taken();
    this.journal.write(batch);
    this.#committedSeq = this.world.seq;
    this.#undurableRows.durable(rows);
    return batch.events;
  }

  /**
   * Commits in steps. Between steps the world may be read but must not change. After the last step the commit is
   * written, and becomes durable while the world may change again.
   */
  beginCommit(
    clock: ClockState,
    now: SimTime,
    requests?: NewRequests,
    onLost?: (error: unknown) => void,
  ): CommitInSteps {
    const { journal } = this;
    const { seq } = this.world;
    const batch = this.#takeBatch(clock, now, requests, onLost);
    const rows = this.#undurableRows.taken();
    const write = journal.beginWrite?.(batch) ?? new WriteInOneStep(() => journal.write(batch));
    return new CommitInSteps(batch.events, write, () => {
      this.#committedSeq = Math.max(this.#committedSeq, seq);
      this.#undurableRows.durable(rows);
    });
  }

  #takeBatch(
    clock: ClockState,
    now: SimTime,
    requests: NewRequests | undefined,
    onLost: ((error: unknown) => void) | undefined,
  ): Batch {
    const { settings, numbers, changes, at } = this.world;
    const events = this.#uncommitted;
    this.#uncommitted = [];
    // A running clock is ahead of the last transaction. Work that is due in between has not run.
    const reached = Math.min(now, Math.max(this.nextDue() ?? now, at));
    return { events, changes: changes.take(), settings, numbers, clock, now: reached, requests, onLost };
  }

  /**
   * Runs the timer on top of the queue if its work is still due at that instant; otherwise reschedules it.
   */
  #runWork({ at, work }: Timer, arrivals: ArrivalSource): void {
    const actualDueAt = dueAt(this.world, work);
    if (actualDueAt === undefined || actualDueAt > at) {
      this.#rescheduleTop(actualDueAt);
      return;
    }
    this.#timers.take();
    const events = this.#apply(decideDue(this.world, work, this.#context(at)));
    // Work that is due and changes nothing would stay due forever.
    if (events.length === 0) throw new Error(`${work.kind} ${work.id} was due but produced no event`);
    scheduleWork(this.#timers, this.world, work);
    for (const event of events) arrivals.observe(event);
  }

  #runArrival(arrivals: ArrivalSource, at: SimTime): boolean {
    const activity = arrivals.take();
    const decided = decideActivity(this.world, { type: "RecordActivity", activity }, this.#context(at));
    if (!decided.ok) {
      arrivals.observeRefusal(activity, decided.refusal, at);
      return false;
    }
    for (const event of this.#apply(decided.value)) arrivals.observe(event);
    return true;
  }

  #apply(events: readonly Event[]): readonly RecordedEvent[] {
    const { world } = this;
    const decision = world.seq + 1;
    for (const event of events) {
      // The decision created this object, so it can take its place in history without a copy. It does not
      // change afterwards.
      const position = event as { seq?: number; decision?: number };
      position.seq = world.seq + 1;
      position.decision = decision;
      const recorded = event as RecordedEvent;
      evolve(world, recorded);
      if (recorded.type === "WorldCreated" || recorded.type === "WorldConfigured")
        this.#random = randomFrom(world.settings.seed);
      scheduleAfter(this.#timers, world, recorded);
      this.#uncommitted.push(recorded);
    }
    return events as readonly RecordedEvent[];
  }

  #context(now: SimTime): Context {
    return { now, random: this.#random, profile: profileOfWorld(this.world) };
  }

  /** The work on top of the queue has moved to a later instant; `undefined`: it is not due any more. */
  #rescheduleTop(at: SimTime | undefined): void {
    if (at === undefined) this.#timers.take();
    else this.#timers.rescheduleTop(at);
  }
}
