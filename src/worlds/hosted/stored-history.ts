import { accept, type Result } from "../../platform/catalog/refusal-codes.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { type HistoryPoint, type PointSelector, resolvePoint } from "../../simulation/replay.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";
import type { AboutObject, PastView, ViewAbout } from "../world-handle.ts";
import type { Advancer } from "./advancer.ts";
import type { GroupCommit } from "./group-commit.ts";
import { viewPast } from "./past-view.ts";
import { readAbout } from "./search-about.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";
import type { WorldTransactions } from "./world-transactions.ts";

type WorldParts = {
  readonly lifecycle: WorldLifecycle;
  readonly commits: GroupCommit;
  readonly advancer: Advancer;
  readonly transactions: WorldTransactions;
};

/** Reads the stored state of a world: after running due work or, during an advance, as last committed. */
export class StoredHistory {
  readonly #parts: WorldParts;

  constructor(parts: WorldParts) {
    this.#parts = parts;
  }

  async events(since: number, limit: number): Promise<readonly RecordedEvent[]> {
    const { lifecycle, commits, advancer } = this.#parts;
    // Committed events can be read at any time, so an advance need not pause for them.
    if (advancer.pauses.areExpected) await advancer.committing;
    else await this.#runDue();
    const { journal } = lifecycle.requireLive().simulation;
    const events = lifecycle.guardRead(() => journal.events(since, limit));
    await commits.syncing;
    return events;
  }

  readAbout<T>(object: AboutObject, work: (view: ViewAbout) => T): Promise<T> {
    return readAbout(this.#parts, object, work);
  }

  async requests(since: number, limit: number): Promise<readonly RequestLogEntry[]> {
    const { lifecycle, commits, advancer, transactions } = this.#parts;
    // After a pause of an advance, the next group is small.
    if (advancer.pauses.areExpected) await transactions.read(() => undefined);
    else await this.#runDue();
    if (lifecycle.requireLive().requests?.isEmpty === false) await commits.next();
    await advancer.committing;
    const { simulation, requests } = lifecycle.requireLive();
    const after = Math.max(since, requests?.lastPruned ?? 0);
    const logged = lifecycle.guardRead(() => simulation.journal.requests(after, limit));
    await commits.syncing;
    return logged;
  }

  /** The world as it was at a point of its history. */
  async viewAt(point: PointSelector): Promise<Result<PastView>> {
    const head = await this.pointAt(point);
    return head.ok ? accept(await viewPast(this.#parts.lifecycle, head.value)) : head;
  }

  /** A point of the history that is committed. */
  async pointAt(point: PointSelector): Promise<Result<HistoryPoint>> {
    const { advancer, transactions } = this.#parts;
    if (!advancer.pauses.areExpected) await this.#runDue();
    return advancer.pauses.areExpected
      ? transactions.read(() => this.#committedPoint(point))
      : this.#committedPoint(point);
  }

  #committedPoint(point: PointSelector): Result<HistoryPoint> {
    const { lifecycle, advancer } = this.#parts;
    const { simulation, clock } = lifecycle.requireLive();
    // The view reads the journal up to the head. What was decided since the caller began need not be in it.
    const head = { seq: simulation.committedSeq, at: advancer.pauses.at ?? clock.now() };
    return lifecycle.guardRead(() => resolvePoint(simulation.journal, point, head));
  }

  /** Runs what is due. The promise, if there is one, resolves when it is durable. */
  #runDue(): undefined | Promise<undefined> {
    return this.#parts.transactions.run(() => undefined);
  }
}
