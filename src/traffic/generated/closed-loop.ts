import { uniform } from "../../kernel/random-port.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { ActivityKind } from "../../platform/model/activity.ts";
import type { Arrivals } from "./arrivals.ts";
import type { PatternOf } from "./patterns.ts";
import type { Workload } from "./workload.ts";

/**
 * Arrivals of a client that holds connections; whether one is a connect or a query depends on which
 * connections are open.
 */
abstract class ClosedLoop implements Arrivals {
  at: SimTime;
  durationMs = 0;
  queries = 0;
  kind: ActivityKind = "connect";
  connection = 0;
  readonly #workload: Workload;

  constructor(workload: Workload, from: SimTime) {
    this.#workload = workload;
    this.at = from;
  }

  abstract next(): void;
  abstract onConnectionClosed(at: SimTime, connection: number): void;

  protected prepareConnect(): void {
    this.kind = "connect";
    this.durationMs = 0;
    this.queries = 0;
  }

  protected prepareQuery(): void {
    const workload = this.#workload;
    workload.draw();
    this.kind = workload.kind;
    this.durationMs = workload.durationMs;
    this.queries = workload.queries;
  }
}

/**
 * A pool that tests every connection once per `every`, spread evenly. A dropped connection is noticed and
 * reopened by its next test, which starts a suspended compute as a query does. The first round opens all
 * connections.
 */
export class HealthCheck extends ClosedLoop {
  readonly #interval: DurationMs;
  readonly #from: SimTime;
  readonly #until: SimTime;
  readonly #isOpen: Uint8Array;
  #attempts = 0;

  constructor({ every, pool }: PatternOf<"health-check">, workload: Workload, from: SimTime, until: SimTime) {
    super(workload, from);
    this.#interval = every;
    this.#from = from;
    this.#until = until;
    this.#isOpen = new Uint8Array(pool);
    this.#updateCurrent();
  }

  next(): void {
    this.#isOpen[this.connection] = 1;
    this.#attempts += 1;
    this.#updateCurrent();
  }

  onConnectionClosed(_: SimTime, connection: number): void {
    if (connection < 0 || connection >= this.#isOpen.length) return;
    this.#isOpen[connection] = 0;
    if (connection === this.connection) this.prepareConnect();
  }

  #updateCurrent(): void {
    const pool = this.#isOpen.length;
    this.connection = this.#attempts % pool;
    const at = this.#from + Math.floor((this.#attempts * this.#interval) / pool);
    this.at = at < this.#until ? at : Number.POSITIVE_INFINITY;
    if (this.#isOpen[this.connection] === 1) this.prepareQuery();
    else this.prepareConnect();
  }
}

/** Holds one connection. After a drop it waits and reconnects; the wait doubles until a connection lasts. */
export class Subscriber extends ClosedLoop {
  readonly #heartbeat: DurationMs;
  readonly #backoff: PatternOf<"subscriber">["backoff"];
  readonly #stream: () => number;
  readonly #until: SimTime;
  #isOpen = false;
  #openedAt: SimTime = Number.NEGATIVE_INFINITY;
  #nextWait: DurationMs;

  constructor(
    { heartbeat, backoff }: PatternOf<"subscriber">,
    workload: Workload,
    stream: () => number,
    from: SimTime,
    until: SimTime,
  ) {
    super(workload, from);
    this.#heartbeat = heartbeat ?? Number.POSITIVE_INFINITY;
    this.#backoff = backoff;
    this.#stream = stream;
    this.#until = until;
    this.#nextWait = backoff.first;
    this.#scheduleAt(from);
  }

  next(): void {
    const arrivedAt = this.at;
    if (arrivedAt === Number.POSITIVE_INFINITY) return;
    if (!this.#isOpen) this.#openedAt = arrivedAt;
    this.#isOpen = true;
    this.prepareQuery();
    this.#scheduleAt(arrivedAt + this.#heartbeat);
  }

  onConnectionClosed(at: SimTime): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { first, max, jitter } = this.#backoff;
    if (at - this.#openedAt > max) this.#nextWait = first;
    const wait = Math.max(1, Math.round(this.#nextWait * (1 - jitter * uniform(this.#stream))));
    this.#nextWait = Math.min(max, this.#nextWait * 2);
    this.prepareConnect();
    this.#scheduleAt(at + wait);
  }

  #scheduleAt(at: SimTime): void {
    this.at = at < this.#until ? at : Number.POSITIVE_INFINITY;
  }
}
