import { setImmediate as nextTurn } from "node:timers/promises";
import { unwrap } from "../../http/request.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import { LaneFold } from "./fold-lanes.ts";

/** Number of events after which other requests get a turn. */
const EVENTS_PER_TURN = 2_000;

/**
 * The lanes of one world. They are read from its journal at the first request and continued at each later
 * one, so that a request costs what has happened since the one before.
 */
class TimelineIndex {
  #fold = new LaneFold();
  #historyId: string | undefined;
  #begin = 0;
  #seq = 0;
  #reading: Promise<unknown> = Promise.resolve();

  read(world: WorldHandle): Promise<LaneFold> {
    const reading = this.#reading.then(() => this.#continue(world));
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  async #continue(world: WorldHandle): Promise<LaneFold> {
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
    for (;;) {
      const events = await world.events(this.#seq, EVENTS_PER_TURN);
      for (const event of events) this.#fold.add(event);
      this.#seq = events.at(-1)?.seq ?? this.#seq;
      if (events.length < EVENTS_PER_TURN) return this.#fold;
      await nextTurn();
    }
  }
}

const indexes = new WeakMap<WorldHandle, TimelineIndex>();

/** The lanes of a world up to its newest event. */
export function readLanes(world: WorldHandle): Promise<LaneFold> {
  let index = indexes.get(world);
  if (index === undefined) {
    index = new TimelineIndex();
    indexes.set(world, index);
  }
  return index.read(world);
}
