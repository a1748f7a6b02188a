import { setImmediate as nextTurn } from "node:timers/promises";
import { unwrap } from "../../http/request.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import { LaneFold } from "./fold-lanes.ts";

/** Number of events after which other requests get a turn: a few milliseconds of work. */
const EVENTS_PER_TURN = 250;
/** The number of turns after which a request is answered with what is read by then. */
const TURNS_PER_ANSWER = 200;

/** The lanes up to an event of the history. */
type ReadLanes = {
  readonly fold: LaneFold;
  /** The instant of the newest event read, if there are more; `undefined` if all are read. */
  readonly readUntil: SimTime | undefined;
  readonly readSeq: number;
};

/**
 * The lanes of one world. They are read from its journal at the first requests and continued at each later
 * one, so that a request costs what has happened since the one before.
 */
class TimelineIndex {
  #fold = new LaneFold();
  #historyId: string | undefined;
  #begin = 0;
  #seq = 0;
  #at: SimTime = 0;
  #reading: Promise<unknown> = Promise.resolve();

  read(world: WorldHandle): Promise<ReadLanes> {
    const reading = this.#reading.then(() => this.#continue(world));
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  async #continue(world: WorldHandle): Promise<ReadLanes> {
    const { id, forgottenSeq, seq } = world.history();
    // A restore replaces history, and retention shortens it.
    if (this.#historyId !== id || this.#begin !== forgottenSeq || this.#seq > seq) {
      const fold = new LaneFold();
      if (forgottenSeq > 0) fold.begin(unwrap(await world.viewAt({ seq: forgottenSeq })).world);
      this.#fold = fold;
      this.#historyId = id;
      this.#begin = forgottenSeq;
      this.#seq = forgottenSeq;
    }
    for (let turn = 0; turn < TURNS_PER_ANSWER; turn += 1) {
      const events = await world.events(this.#seq, EVENTS_PER_TURN);
      for (const event of events) this.#fold.add(event);
      const last = events.at(-1);
      this.#seq = last?.seq ?? this.#seq;
      this.#at = last?.at ?? this.#at;
      // An advance may add events as fast as they are read.
      if (events.length < EVENTS_PER_TURN || this.#seq >= seq) return this.#lanes(undefined);
      await nextTurn();
    }
    return this.#lanes(this.#at);
  }

  #lanes(readUntil: SimTime | undefined): ReadLanes {
    return { fold: this.#fold, readUntil, readSeq: this.#seq };
  }
}

const indexes = new WeakMap<WorldHandle, TimelineIndex>();

/** The lanes of a world, up to its newest event or as far as one request reads. */
export function readLanes(world: WorldHandle): Promise<ReadLanes> {
  let index = indexes.get(world);
  if (index === undefined) {
    index = new TimelineIndex();
    indexes.set(world, index);
  }
  return index.read(world);
}
