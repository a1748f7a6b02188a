import type { Command } from "../platform/commands.ts";
import { decideActivity } from "../platform/compute/decide-activity.ts";
import type { Context } from "../platform/core/context.ts";
import type { Random } from "../platform/core/random-port.ts";
import type { SimTime } from "../platform/core/time.ts";
import { profileOfWorld, type World } from "../platform/core/world.ts";
import { decide, decideDue } from "../platform/decide.ts";
import type { Event, RecordedEvent } from "../platform/events.ts";
import { evolve } from "../platform/evolve.ts";
import { accept, type Result } from "../platform/refusals.ts";
import { type ArrivalSource, NO_ARRIVALS } from "./arrival-source.ts";
import { dueAt, rebuildTimers, scheduleAfter, scheduleWork } from "./due.ts";
import type { Journal } from "./journal.ts";
import { randomFrom } from "./random.ts";
import type { NewRequests } from "./request-log.ts";
import { ARRIVAL_PRIORITY, type Timer, TimerQueue } from "./timer-queue.ts";
import type { ClockState } from "./world-clock.ts";

/**
 * The only place where order is made: a command is decided, its events are folded in and kept for the next commit. Nothing here
 * waits, so nothing can come in between.
 */
export class Simulation {
  readonly world: World;
  readonly journal: Journal;
  readonly #timers = new TimerQueue();
  #random: Random;
  #uncommitted: RecordedEvent[] = [];

  /** `world` is what the journal's history folds to; an empty one where there is none yet. */
  constructor(world: World, journal: Journal) {
    this.world = world;
    this.journal = journal;
    if (journal.tables !== undefined) world.changes.trackOnly(journal.tables);
    this.#random = randomFrom(world.settings.seed);
    rebuildTimers(this.#timers, world);
  }

  /** Whether events wait for the commit: who has seen their effects must not be answered before. */
  get hasUncommittedEvents(): boolean {
    return this.#uncommitted.length > 0;
  }

  /** Whether rows have changed, be it beside history. */
  get hasUncommittedRows(): boolean {
    return this.world.changes.list.length > 0;
  }

  /** When the next work is due; `undefined` where nothing ever is. */
  nextDue(): SimTime | undefined {
    for (let next = this.#timers.peek(); next !== undefined; next = this.#timers.peek()) {
      const at = dueAt(this.world, next.work);
      if (at !== undefined && at <= next.at) return next.at;
      this.#rescheduleTop(at);
    }
    return undefined;
  }

  /**
   * Does the work that is due up to and including `until`, each at its own instant and in order.
   * Stops after about `maxEvents`; gives whether all of it is done.
   */
  runDueUntil(until: SimTime, maxEvents?: number): boolean {
    return this.runWithArrivals(NO_ARRIVALS, until, until, maxEvents);
  }

  /** The same from `from` on with what arrives meanwhile. What throws in a feed leaves a world in which all is as it should be. */
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

  /** Decides a command at `now`, after all that is due until then. A refusal has changed nothing. */
  execute(command: Command, now: SimTime): Result<readonly RecordedEvent[]> {
    this.runDueUntil(now);
    const decided = decide(this.world, command, this.#context(now));
    return decided.ok ? accept(this.#apply(decided.value)) : decided;
  }

  /**
   * Hands what happened since the last commit to the journal, and where the clock stands; gives those events.
   * Throws where the journal cannot keep them: then the journal, not this world, is what is true.
   */
  commit(clock: ClockState, now: SimTime, requests?: NewRequests): readonly RecordedEvent[] {
    const { world } = this;
    const events = this.#uncommitted;
    const { settings, numbers } = world;
    this.journal.write({ events, changes: world.changes.list, settings, numbers, clock, now, requests });
    world.changes.clear();
    this.#uncommitted = [];
    return events;
  }

  /** What is on top of the agenda, if it is still due then. */
  #runWork({ at, work }: Timer, arrivals: ArrivalSource): void {
    const actualDueAt = dueAt(this.world, work);
    if (actualDueAt === undefined || actualDueAt > at) {
      this.#rescheduleTop(actualDueAt);
      return;
    }
    this.#timers.take();
    const events = this.#apply(decideDue(this.world, work, this.#context(at)));
    // Work that is due and does nothing would be due for ever.
    if (events.length === 0) throw new Error(`${work.kind} ${work.id} is due and nothing comes of it`);
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
      // The decision made this object for us: it gets its place in history and is never touched again.
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

  /** The entry on top was planned for an instant that is not its work's any more: that is later, if it is at all. */
  #rescheduleTop(at: SimTime | undefined): void {
    if (at === undefined) this.#timers.take();
    else this.#timers.rescheduleTop(at);
  }
}
