import type { Random } from "../../kernel/random-port.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { IndexedStreams } from "../units/draws.ts";

/** A client whose next request depends on what happened to the previous one, so no trace can contain it. */
export type Client =
  /**
   * Closed loop: sends a request, waits for its end, thinks, repeats. Means of exponential times; 0 for none.
   */
  | {
      readonly kind: "loop";
      readonly compute: number;
      readonly thinkMs: DurationMs;
      readonly serviceMs: DurationMs;
      /** Time from a rejection to the next try. */
      readonly retryMs: DurationMs;
    }
  /** Keeps an idle connection open, and reconnects `reconnectMs` after a suspend closed it. */
  | { readonly kind: "subscriber"; readonly compute: number; readonly reconnectMs: DurationMs }
  /** Availability check at a fixed interval with a random phase: a request of zero duration. */
  | { readonly kind: "check"; readonly compute: number; readonly everyMs: DurationMs };

/** Decides when each client sends its next request. */
export class Clients {
  readonly #clients: readonly Client[];
  readonly #draws: IndexedStreams;
  readonly #subscribersOf: readonly (readonly number[])[];
  /** Time of each check's first request, from which its interval counts. */
  readonly #firstAt: Float64Array;

  constructor(clients: readonly Client[], computes: number, random: Random) {
    this.#clients = clients;
    this.#firstAt = new Float64Array(clients.length);
    this.#draws = new IndexedStreams(random, "whatif-client", clients.length);
    const subscribersOf: number[][] = clients.length === 0 ? [] : Array.from({ length: computes }, () => []);
    for (const [index, { kind, compute }] of clients.entries())
      if (kind === "subscriber") subscribersOf[compute]?.push(index);
    this.#subscribersOf = subscribersOf;
  }

  computeOf(client: number): number {
    return this.#client(client).compute;
  }

  firstAt(client: number, startAt: SimTime): SimTime {
    const spec = this.#client(client);
    if (spec.kind === "loop") return startAt + this.#draws.exponential(client, spec.thinkMs);
    if (spec.kind === "subscriber") return startAt + spec.reconnectMs;
    const firstAt = startAt + Math.floor(this.#draws.uniform(client) * spec.everyMs);
    this.#firstAt[client] = firstAt;
    return firstAt;
  }

  /** Duration of the request that it sends now. */
  durationOf(client: number): DurationMs {
    const spec = this.#client(client);
    return spec.kind === "loop" && spec.serviceMs > 0 ? this.#draws.exponential(client, spec.serviceMs) : 0;
  }

  /**
   * When a client whose request ends at `endsAt` sends its next one; infinite for one that stays connected.
   */
  servedUntil(client: number, endsAt: SimTime): SimTime {
    const spec = this.#client(client);
    if (spec.kind === "check") return this.#nextCheck(client, spec.everyMs, endsAt);
    return spec.kind === "loop"
      ? endsAt + this.#draws.exponential(client, spec.thinkMs)
      : Number.POSITIVE_INFINITY;
  }

  refusedAt(client: number, now: SimTime): SimTime {
    const spec = this.#client(client);
    if (spec.kind === "check") return this.#nextCheck(client, spec.everyMs, now);
    return now + Math.max(1, spec.kind === "loop" ? spec.retryMs : spec.reconnectMs);
  }

  /** Visits the clients that a suspend of this compute disconnects, each with its time to reconnect. */
  eachDisconnected(compute: number, visit: (client: number, afterMs: DurationMs) => void): void {
    for (const client of this.#subscribersOf[compute] ?? []) {
      const spec = this.#client(client);
      if (spec.kind === "subscriber") visit(client, Math.max(1, spec.reconnectMs));
    }
  }

  #nextCheck(client: number, everyMs: DurationMs, now: SimTime): SimTime {
    const firstAt = this.#firstAt[client] as number;
    return firstAt + (Math.floor((now - firstAt) / everyMs) + 1) * everyMs;
  }

  #client(client: number): Client {
    const spec = this.#clients[client];
    if (spec === undefined) throw new Error(`there is no client ${client}`);
    return spec;
  }
}
