import type { ActivityKind } from "../platform/compute/activity.ts";
import { uniform } from "../platform/core/random-port.ts";
import type { DurationMs, SimTime } from "../platform/core/time.ts";
import type { Arrivals } from "./arrivals.ts";
import type { PatternOf } from "./description.ts";
import type { Work } from "./work.ts";

/** Arrivals of a client that holds connections: what they are depends on which of them are open. */
abstract class ClosedLoop implements Arrivals {
  at: SimTime;
  durationMs = 0;
  queries = 0;
  kind: ActivityKind = "connect";
  connection = 0;
  readonly #work: Work;

  constructor(work: Work, from: SimTime) {
    this.#work = work;
    this.at = from;
  }

  abstract next(): void;
  abstract closed(at: SimTime, connection: number): void;

  protected connects(): void {
    this.kind = "connect";
    this.durationMs = 0;
    this.queries = 0;
  }

  protected asks(): void {
    const work = this.#work;
    work.draw();
    this.kind = work.kind;
    this.durationMs = work.durationMs;
    this.queries = work.queries;
  }
}

/**
 * A pool that tries every connection once in `every`, one after another, spread evenly. A dropped one is noticed by its next try, which
 * opens it again: that wakes the compute as a query does. In the first round all are opened.
 */
export class HealthCheck extends ClosedLoop {
  readonly #every: DurationMs;
  readonly #from: SimTime;
  readonly #until: SimTime;
  readonly #isOpen: Uint8Array;
  #tries = 0;

  constructor({ every, pool }: PatternOf<"health-check">, work: Work, from: SimTime, until: SimTime) {
    super(work, from);
    this.#every = every;
    this.#from = from;
    this.#until = until;
    this.#isOpen = new Uint8Array(pool);
    this.#show();
  }

  next(): void {
    this.#isOpen[this.connection] = 1;
    this.#tries += 1;
    this.#show();
  }

  closed(_: SimTime, connection: number): void {
    if (connection < 0 || connection >= this.#isOpen.length) return;
    this.#isOpen[connection] = 0;
    if (connection === this.connection) this.connects();
  }

  #show(): void {
    const pool = this.#isOpen.length;
    this.connection = this.#tries % pool;
    const at = this.#from + Math.floor((this.#tries * this.#every) / pool);
    this.at = at < this.#until ? at : Number.POSITIVE_INFINITY;
    if (this.#isOpen[this.connection] === 1) this.asks();
    else this.connects();
  }
}

/** Holds one connection. When that is dropped it waits and comes back; the wait doubles as long as connections do not last. */
export class Subscriber extends ClosedLoop {
  readonly #heartbeat: DurationMs;
  readonly #backoff: PatternOf<"subscriber">["backoff"];
  readonly #source: () => number;
  readonly #until: SimTime;
  #isOpen = false;
  #openedAt: SimTime = Number.NEGATIVE_INFINITY;
  #wait: DurationMs;

  constructor({ heartbeat, backoff }: PatternOf<"subscriber">, work: Work, source: () => number, from: SimTime, until: SimTime) {
    super(work, from);
    this.#heartbeat = heartbeat ?? Number.POSITIVE_INFINITY;
    this.#backoff = backoff;
    this.#source = source;
    this.#until = until;
    this.#wait = backoff.first;
    this.#comeAt(from);
  }

  next(): void {
    const taken = this.at;
    if (taken === Number.POSITIVE_INFINITY) return;
    if (!this.#isOpen) this.#openedAt = taken;
    this.#isOpen = true;
    this.asks();
    this.#comeAt(taken + this.#heartbeat);
  }

  closed(at: SimTime): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { first, max, jitter } = this.#backoff;
    if (at - this.#openedAt > max) this.#wait = first;
    const wait = Math.max(1, Math.round(this.#wait * (1 - jitter * uniform(this.#source))));
    this.#wait = Math.min(max, this.#wait * 2);
    this.connects();
    this.#comeAt(at + wait);
  }

  #comeAt(at: SimTime): void {
    this.at = at < this.#until ? at : Number.POSITIVE_INFINITY;
  }
}
