import type { Command } from "../platform/commands.ts";
import { decideActivity } from "../platform/compute/activity.ts";
import type { Context } from "../platform/core/context.ts";
import type { Chance } from "../platform/core/random-port.ts";
import type { SimTime } from "../platform/core/time.ts";
import { profileOf, type World } from "../platform/core/world.ts";
import { decide, decideDue } from "../platform/decide.ts";
import type { Event, RecordedEvent } from "../platform/events.ts";
import { evolve } from "../platform/evolve.ts";
import { accept, type Result } from "../platform/refusals.ts";
import { Agenda, ARRIVAL_PRIORITY, type Planned } from "./agenda.ts";
import { dueAt, plan, planAfter, planAll } from "./due.ts";
import { type Feed, NO_FEED } from "./feed.ts";
import type { Journal } from "./journal.ts";
import { chanceFrom } from "./random.ts";
import type { NewRequests } from "./requests.ts";
import type { ClockState } from "./world-clock.ts";

/**
 * The only place where order is made: a command is decided, its events are folded in and kept for the next commit. Nothing here
 * waits, so nothing can come in between.
 */
export class Simulation {
  readonly world: World;
  readonly journal: Journal;
  readonly #agenda = new Agenda();
  #chance: Chance;
  #uncommitted: RecordedEvent[] = [];

  /** `world` is what the journal's history folds to; an empty one where there is none yet. */
  constructor(world: World, journal: Journal) {
    this.world = world;
    this.journal = journal;
    if (journal.tables !== undefined) world.changes.keepOnly(journal.tables);
    this.#chance = chanceFrom(world.settings.seed);
    planAll(this.#agenda, world);
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
    for (let next = this.#agenda.peek(); next !== undefined; next = this.#agenda.peek()) {
      const at = dueAt(this.world, next.work);
      if (at !== undefined && at <= next.at) return next.at;
      this.#replanTop(at);
    }
    return undefined;
  }

  /**
   * Does the work that is due up to and including `until`, each at its own instant and in order.
   * Stops after about `maxEvents`; gives whether all of it is done.
   */
  settle(until: SimTime, maxEvents?: number): boolean {
    return this.play(NO_FEED, until, until, maxEvents);
  }

  /** The same from `from` on with what arrives meanwhile. What throws in a feed leaves a world in which all is as it should be. */
  play(feed: Feed, from: SimTime, until: SimTime, maxEvents = Number.POSITIVE_INFINITY): boolean {
    const stopAt = this.#uncommitted.length + maxEvents;
    let refused = 0;
    for (;;) {
      const arrivesAt = Math.max(feed.at, from, this.world.at);
      const next = this.#agenda.peek();
      const workFirst = next !== undefined && (next.at < arrivesAt || (next.at === arrivesAt && next.priority <= ARRIVAL_PRIORITY));
      const at = workFirst ? next.at : arrivesAt;
      if (at > until || at === Number.POSITIVE_INFINITY) return true;
      if (this.#uncommitted.length + refused >= stopAt) return false;
      if (workFirst) this.#work(next, feed);
      else if (!this.#arrive(feed, arrivesAt)) refused += 1;
    }
  }

  /** Decides a command at `now`, after all that is due until then. A refusal has changed nothing. */
  execute(command: Command, now: SimTime): Result<readonly RecordedEvent[]> {
    this.settle(now);
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
  #work({ at, work }: Planned, feed: Feed): void {
    const really = dueAt(this.world, work);
    if (really === undefined || really > at) {
      this.#replanTop(really);
      return;
    }
    this.#agenda.take();
    const events = this.#apply(decideDue(this.world, work, this.#context(at)));
    // Work that is due and does nothing would be due for ever.
    if (events.length === 0) throw new Error(`${work.kind} ${work.id} is due and nothing comes of it`);
    plan(this.#agenda, this.world, work);
    for (const event of events) feed.observe(event);
  }

  #arrive(feed: Feed, at: SimTime): boolean {
    const activity = feed.take();
    const decided = decideActivity(this.world, { type: "RecordActivity", activity }, this.#context(at));
    if (!decided.ok) {
      feed.refused(activity, decided.refusal, at);
      return false;
    }
    for (const event of this.#apply(decided.value)) feed.observe(event);
    return true;
  }

  #apply(events: readonly Event[]): readonly RecordedEvent[] {
    const { world } = this;
    const decision = world.seq + 1;
    for (const event of events) {
      // The decision made this object for us: it gets its place in history and is never touched again.
      const place = event as { seq?: number; decision?: number };
      place.seq = world.seq + 1;
      place.decision = decision;
      const recorded = event as RecordedEvent;
      evolve(world, recorded);
      if (recorded.type === "WorldCreated" || recorded.type === "WorldConfigured") this.#chance = chanceFrom(world.settings.seed);
      planAfter(this.#agenda, world, recorded);
      this.#uncommitted.push(recorded);
    }
    return events as readonly RecordedEvent[];
  }

  #context(now: SimTime): Context {
    return { now, chance: this.#chance, profile: profileOf(this.world) };
  }

  /** The entry on top was planned for an instant that is not its work's any more: that is later, if it is at all. */
  #replanTop(at: SimTime | undefined): void {
    if (at === undefined) this.#agenda.take();
    else this.#agenda.putOff(at);
  }
}
