import type { Random } from "../../platform/core/random-port.ts";
import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import { IndexedStreams } from "../replay/draws.ts";

/** Who sends requests because of what happened to the one before: what no trace can tell beforehand. */
export type Client =
  /** Sends one, waits for its end, thinks, and sends the next one (closed loop). Means of exponential times, 0 for none. */
  | {
      readonly kind: "loop";
      readonly compute: number;
      readonly thinkMs: DurationMs;
      readonly serviceMs: DurationMs;
      /** After a refusal it tries again so much later. */
      readonly retryMs: DurationMs;
    }
  /** Keeps a connection that does nothing, and reconnects so long after a suspend has closed it. */
  | { readonly kind: "subscriber"; readonly compute: number; readonly reconnectMs: DurationMs }
  /** Looks whether the compute is available, every so often, from an instant on that chance draws: a request that takes no time. */
  | { readonly kind: "check"; readonly compute: number; readonly everyMs: DurationMs };

/** When each client comes next. */
export class Clients {
  readonly #clients: readonly Client[];
  readonly #draws: IndexedStreams;
  readonly #subscribersOf: readonly (readonly number[])[];
  /** When each check came first: its turns are counted from there. */
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

  /** How long the request runs that it sends now. */
  durationOf(client: number): DurationMs {
    const spec = this.#client(client);
    return spec.kind === "loop" && spec.serviceMs > 0 ? this.#draws.exponential(client, spec.serviceMs) : 0;
  }

  /** Its request has ended, or will, at `endsAt`: when does it come again? Infinite for one that stays connected. */
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

  /** Those that a suspend of this compute disconnects, each with the time after which it comes back. */
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
