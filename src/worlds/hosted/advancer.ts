import { setImmediate as nextTurn } from "node:timers/promises";
import { END_OF_TIME, type SimTime } from "../../kernel/time.ts";
import { readStoredRows } from "../../platform/world/stored-rows.ts";
import type { World } from "../../platform/world/world.ts";
import { type ArrivalSource, NO_ARRIVALS } from "../../simulation/arrival-source.ts";
import type { Simulation } from "../../simulation/simulation.ts";
import { enableNewRulesBeforeDue } from "../enable-new-rules.ts";
import {
  type AdvanceResult,
  type AdvanceTarget,
  NOTHING_CHANGED,
  StoreUnavailable,
} from "../world-handle.ts";
import { AdvanceReaders, EVENTS_PER_TURN } from "./advance-readers.ts";
import type { DurableView } from "./durable-view.ts";
import type { ExclusiveGate } from "./exclusive-gate.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { LiveWorld } from "./live-world.ts";
import { Pauses } from "./pauses.ts";
import type { Reports } from "./reports.ts";
import { WaitingInspections } from "./waiting-inspections.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";

/** Number of events that the answer to an advance contains at most. */
const EVENTS_PER_ADVANCE = 1_000;

type StepsIn<T> = (world: World, now: SimTime) => Generator<undefined, T>;

/** Moves the clock of a world forward, running due work and arrivals on the way. */
export class Advancer {
  readonly #lifecycle: WorldLifecycle;
  readonly #commits: GroupCommit;
  readonly #gate: ExclusiveGate;
  readonly #reports: Reports;
  #arrivals: ArrivalSource = NO_ARRIVALS;
  /** Instant of the last commit of the current advance; `undefined` before the first commit. */
  #committedAt: SimTime | undefined;
  #isAdvancing = false;
  readonly #inspections = new WaitingInspections();
  readonly pauses = new Pauses(() => this.#lifecycle.requireLive().simulation.world.at);
  #committing: Promise<unknown> | undefined;
  readonly #readers: AdvanceReaders;

  constructor(lifecycle: WorldLifecycle, commits: GroupCommit, gate: ExclusiveGate, reports: Reports) {
    this.#reports = reports;
    this.#lifecycle = lifecycle;
    this.#commits = commits;
    this.#gate = gate;
    this.#readers = new AdvanceReaders((error) => lifecycle.reportLostRows(error));
    commits.observe(() => this.#readers.taken());
  }

  /** Sets what arrives during every later `advance`. */
  attachArrivals(arrivals: ArrivalSource): void {
    this.#arrivals = arrivals;
  }

  /** The world of the last durable commit of an advance; `undefined` if nothing can be shown yet. */
  get durableView(): DurableView | undefined {
    return this.#readers.viewOf(this.#lifecycle.live);
  }

  /** Settles when the commit that is taken in steps ends, and never rejects; `undefined` if there is none. */
  get committing(): Promise<unknown> | undefined {
    return this.#committing;
  }

  /** Makes the advance pause more often for a while. */
  expectReads(): void {
    this.#readers.expect();
  }

  advance(target: AdvanceTarget): Promise<AdvanceResult | undefined> {
    return this.#advanceAlone(async () => {
      const ran = this.#now();
      await this.runDueUntil(ran);
      this.#committedAt = undefined;
      await this.#makeDurable();
      const { simulation, clock } = this.#lifecycle.requireLive();
      const now = clock.now();
      const to =
        "by" in target ? now + target.by : "to" in target ? target.to : (simulation.nextDue() ?? now);
      if (to < now || to > END_OF_TIME) return undefined;
      const since = simulation.world.seq;
      // A running clock may be ahead of the work that is due by now.
      this.#begin(ran);
      return this.#runUntil(this.#arrivals, now, to, ({ simulation, clock }) => {
        clock.advanceTo(to);
        this.#commits.now();
        this.#committedAt = clock.now();
        const events = this.#lifecycle.guardRead(() => simulation.journal.events(since, EVENTS_PER_ADVANCE));
        const last = events.at(-1)?.seq ?? since;
        return { now: clock.now(), events, nextSince: last < simulation.world.seq ? last : undefined };
      });
    });
  }

  advanceWithArrivals(arrivals: ArrivalSource, to: SimTime): Promise<void> {
    return this.#advanceAlone(async () => {
      if (to > END_OF_TIME) throw new RangeError(`to: ${to} is beyond the end of time`);
      await this.#makeDurable();
      const from = this.#now();
      await this.runDueUntil(from, arrivals);
      this.#begin(from);
      await this.#runUntil(arrivals, from, Math.max(from, to), ({ clock }) => {
        clock.advanceTo(to);
        this.#commits.now();
      });
    });
  }

  /** Waits for what was decided before an advance, so that reads see the world as it was then. */
  async #makeDurable(): Promise<void> {
    const { simulation } = this.#lifecycle.requireLive();
    if (simulation.hasUncommittedEvents || this.#commits.isRequested) await this.#commits.next();
    else if (simulation.hasUndurableEvents) await this.#commits.syncing;
  }

  /** All work due by `from` has run, and everything that has happened is durable. No read sees it before. */
  #begin(from: SimTime): void {
    this.pauses.beginAt(from);
    this.#readers.show(this.#lifecycle.requireLive(), from);
  }

  /**
   * Takes steps between which others get a turn, reads of this world among them. Changes wait for the end. An advance
   * pauses for it after a commit.
   */
  async inspect<T>(stepsIn: StepsIn<T>): Promise<T> {
    for (;;) {
      const { running } = this.#gate;
      if (running !== undefined && !this.#isAdvancing) await running;
      // Before the gate is taken: reading all rows of a large world takes seconds, and changes need not wait for it.
      else if (!this.#readStoredRows()) await nextTurn();
      else if (running === undefined) return this.#gate.run(() => this.#inspectAlone(stepsIn));
      else {
        const inspected = await this.#inspections.add((now) => this.#takeSteps(stepsIn, now));
        if (inspected !== undefined) return inspected.value;
      }
    }
  }

  /** Reads a portion of the rows that are still in the file. Returns whether all are in memory. */
  #readStoredRows(): boolean {
    const { simulation } = this.#lifecycle.requireLive();
    return this.#lifecycle.guardRead(() => readStoredRows(simulation.world));
  }

  async #inspectAlone<T>(stepsIn: StepsIn<T>): Promise<T> {
    this.pauses.expect();
    try {
      const now = this.#now();
      await this.runDueUntil(now);
      await this.#commits.syncing;
      this.pauses.beginAt(now);
      this.pauses.pause();
      return await this.#takeSteps(stepsIn, now);
    } finally {
      this.#endPauses();
    }
  }

  /** The world does not change in the meantime. */
  async #takeSteps<T>(stepsIn: StepsIn<T>, now: SimTime): Promise<T> {
    const live = this.#lifecycle.requireLive();
    const steps = stepsWithAllRows(stepsIn, live.simulation.world, now);
    for (;;) {
      const step = this.#lifecycle.guardRead(() => steps.next());
      if (step.done === true) return step.value;
      await nextTurn();
      if (this.#lifecycle.live !== live)
        throw new StoreUnavailable(`world "${this.#lifecycle.name}" was closed meanwhile`);
    }
  }

  /** Runs the work that is due now, when it is too much for one transaction. */
  catchUp(): Promise<void> {
    return this.#gate.run(() => this.runDueUntil(this.#now()));
  }

  /** Runs due work up to and including `to`, and what arrives then. The caller holds the gate. */
  runDueUntil(to: SimTime, arrivals = NO_ARRIVALS): Promise<void> {
    return this.#runUntil(arrivals, to, to, ({ simulation }) => {
      if (simulation.hasUncommittedEvents) this.#commits.now();
    });
  }

  /**
   * Runs due work and arrivals up to and including `to`, in portions: a kill loses at most one portion. Ends
   * with `finish`, before anything else can change the world.
   */
  async #runUntil<T>(
    arrivals: ArrivalSource,
    from: SimTime,
    to: SimTime,
    finish: (live: LiveWorld) => T,
  ): Promise<T> {
    for (;;) {
      const live = this.#lifecycle.requireLive();
      const { simulation, clock } = live;
      const { eventsPerTurn, eventsPerCommit, areWaiting } = this.#readers;
      const isDone = this.#commits.applying(live, () => {
        for (const event of enableNewRulesBeforeDue(simulation, to, arrivals)) arrivals.observe(event);
        return this.#reports.runWithArrivals(simulation, arrivals, from, to, eventsPerTurn);
      });
      const { uncommittedEvents } = simulation;
      if (isDone && uncommittedEvents <= EVENTS_PER_TURN) {
        clock.advanceTo(simulation.world.at);
        // Whom the last commit notifies sees the end of the advance.
        this.#readers.endView();
        return finish(live);
      }
      const isPortion =
        isDone || takesNoTime(simulation) || uncommittedEvents >= eventsPerCommit || areWaiting;
      this.#readers.endTurn();
      if (isPortion) await this.#commitPortion(live);
      await nextTurn();
      if (this.pauses.isRequested) {
        await this.#commitPortion(live);
        await nextTurn();
      }
      // Answers leave, and requests arrive, before the advance takes the thread again.
      if (this.pauses.isPaused && this.#readers.areExpected) await nextTurn();
      await this.#inspectIfDue(live);
      this.pauses.resume();
      const { name, isShuttingDown } = this.#lifecycle;
      if (isPortion && isShuttingDown) throw new StoreUnavailable(`world "${name}" is closing`);
      // Another commit has failed, so the events since the last commit are undone.
      if (this.#lifecycle.live !== live)
        throw new StoreUnavailable(`another commit of world "${name}" failed meanwhile`);
    }
  }

  /** In a pause: all that is inspected has happened and is durable. */
  async #inspectIfDue(live: LiveWorld): Promise<void> {
    const { world } = live.simulation;
    if (this.pauses.from === undefined || !this.#inspections.areDue(world.seq)) return;
    if (!this.pauses.isPaused) await this.#commitPortion(live);
    const now = this.pauses.at;
    if (now !== undefined) await this.#inspections.run(world.seq, now);
  }

  async #commitPortion(live: LiveWorld): Promise<void> {
    const { simulation } = live;
    // A small commit takes less time than the turns of its steps. But readers of the view need not wait for the disk, and
    // nobody for a checkpoint of the log.
    const isSmall = simulation.uncommittedEvents <= EVENTS_PER_TURN;
    const isQuick = isSmall && !this.#readers.areServed && this.#commits.writable === undefined;
    if (isQuick || takesNoTime(simulation)) this.#commits.now();
    else await this.#commitInSteps();
    this.#committedAt = this.#now();
    this.pauses.pause();
  }

  async #commitInSteps(): Promise<void> {
    const committed = this.#commits.inSteps();
    this.#committing = committed.catch(() => undefined);
    try {
      await committed;
    } finally {
      this.#committing = undefined;
    }
  }

  /** An advance that fails after some of its commits states how far it came. */
  async #advanceAlone<T>(work: () => Promise<T>): Promise<T> {
    const marked = this.#reports.markData(false);
    if (marked !== undefined) await marked;
    return this.#gate.run(async () => {
      this.pauses.expect();
      this.#isAdvancing = true;
      this.#committedAt = undefined;
      try {
        return await work();
      } catch (error) {
        if (this.#committedAt === undefined || !(error instanceof StoreUnavailable)) throw error;
        if (error.outcome !== NOTHING_CHANGED) throw error;
        const reached = new Date(this.#committedAt).toISOString();
        throw new StoreUnavailable(error.message, {
          cause: error,
          outcome: `the clock was advanced to ${reached}, the last commit`,
        });
      } finally {
        this.#endPauses();
      }
    });
  }

  #endPauses(): void {
    this.#isAdvancing = false;
    this.#readers.endAdvance();
    this.pauses.end();
    this.#inspections.release();
  }

  #now(): SimTime {
    return this.#lifecycle.requireLive().clock.now();
  }
}

/**
 * Whether a commit takes no time. Then each turn ends with one, so that what its events have replaced need not be
 * retained for reads.
 */
function takesNoTime({ journal }: Simulation): boolean {
  return journal.beginWrite === undefined;
}

function* stepsWithAllRows<T>(stepsIn: StepsIn<T>, world: World, now: SimTime): Generator<undefined, T> {
  while (!readStoredRows(world)) yield;
  return yield* stepsIn(world, now);
}
