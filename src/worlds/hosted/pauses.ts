import { type Deferred, deferred } from "../../kernel/deferred.ts";
import type { SimTime } from "../../kernel/time.ts";

/** The pauses of long work, in which everything that has happened is durable and the world can be read. */
export class Pauses {
  readonly #reached: () => SimTime;
  #areExpected = false;
  #from: SimTime | undefined;
  #isPaused = false;
  /** Resolves at the next pause, or at the end of the work. */
  #next: Deferred | undefined;

  /** `reached`: the instant of the last event. */
  constructor(reached: () => SimTime) {
    this.#reached = reached;
  }

  /** Whether long work with pauses runs. */
  get areExpected(): boolean {
    return this.#areExpected;
  }

  /** Where the work with pauses began, once all work due by then has run; `undefined` before. No pause shows less. */
  get from(): SimTime | undefined {
    return this.#from;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** The instant of the world in a pause; `undefined` outside of pauses. */
  get at(): SimTime | undefined {
    if (!this.#isPaused || this.#from === undefined) return undefined;
    return Math.max(this.#from, this.#reached());
  }

  /** Whether somebody waits for the next one. */
  get isRequested(): boolean {
    return this.#next !== undefined;
  }

  /** Requests a pause soon. Resolves then, or when the work ends. */
  next(): Promise<void> {
    this.#next ??= deferred();
    return this.#next.promise;
  }

  /** Long work begins. Due work comes first, without pauses that can be used. */
  expect(): void {
    this.#areExpected = true;
  }

  /** All work due by `from` has run. */
  beginAt(from: SimTime): void {
    this.#from = from;
  }

  pause(): void {
    this.#isPaused = true;
    this.#release();
  }

  resume(): void {
    this.#isPaused = false;
  }

  end(): void {
    this.#areExpected = false;
    this.#from = undefined;
    this.#isPaused = false;
    this.#release();
  }

  #release(): void {
    this.#next?.resolve();
    this.#next = undefined;
  }
}
