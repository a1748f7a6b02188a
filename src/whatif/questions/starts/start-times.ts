import { type DurationMs, MINUTE, type SimTime } from "../../../kernel/time.ts";
import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import { DepartureQueue } from "../../sizes/departure-queue.ts";

const INITIAL_LENGTH = 1_024;

export type StartLoad = {
  readonly starts: number;
  /** The largest number of starts in progress at once. */
  readonly mostUnderWay: number;
  /** When that number is first reached; `undefined` if there are no starts. */
  readonly mostUnderWayAt: SimTime | undefined;
  /**
   * Starts that begin in each minute from the start of the period. Starts after its last minute are not
   * counted.
   */
  readonly perMinute: Uint32Array;
};

/** Collects starts in any order. */
export class StartTimes {
  #at = new Float64Array(INITIAL_LENGTH);
  #readyAt = new Float64Array(INITIAL_LENGTH);
  #length = 0;

  add(at: SimTime, readyAt: SimTime): void {
    if (this.#length === this.#at.length) this.#grow();
    this.#at[this.#length] = at;
    this.#readyAt[this.#length] = readyAt;
    this.#length += 1;
  }

  load({ startAt, endAt }: Period): StartLoad {
    const perMinute = new Uint32Array(Math.max(1, Math.ceil((endAt - startAt) / MINUTE)));
    let [mostUnderWay, mostUnderWayAt]: [number, SimTime | undefined] = [0, undefined];
    this.#sweep((at, underWay) => {
      const minute = Math.floor((at - startAt) / MINUTE);
      if (minute < perMinute.length) perMinute[minute] = (perMinute[minute] as number) + 1;
      if (underWay > mostUnderWay) [mostUnderWay, mostUnderWayAt] = [underWay, at];
    });
    return { starts: this.#length, mostUnderWay, mostUnderWayAt, perMinute };
  }

  /**
   * The largest number in progress in each of `slices` equal parts of the period. Later starts count in the
   * last part.
   */
  maxConcurrentPerSlice({ startAt, endAt }: Period, slices: number): number[] {
    const lengthMs: DurationMs = (endAt - startAt) / slices;
    const maxima = new Array<number>(slices).fill(0);
    this.#sweep((at, underWay) => {
      const slice = Math.min(slices - 1, Math.floor((at - startAt) / lengthMs));
      maxima[slice] = Math.max(maxima[slice] as number, underWay);
    });
    return maxima;
  }

  /**
   * Visits starts by time, with the number in progress including itself. At one instant, ends come before
   * starts.
   */
  #sweep(visit: (at: SimTime, underWay: number) => void): void {
    const order = Uint32Array.from({ length: this.#length }, (_, index) => index);
    order.sort((a, b) => (this.#at[a] as number) - (this.#at[b] as number));
    const departures = new DepartureQueue();
    for (const index of order) {
      const at = this.#at[index] as number;
      while (departures.firstAt <= at) departures.take();
      departures.add(this.#readyAt[index] as number);
      visit(at, departures.size);
    }
  }

  #grow(): void {
    const [at, readyAt] = [this.#at, this.#readyAt];
    this.#at = new Float64Array(2 * at.length);
    this.#readyAt = new Float64Array(2 * at.length);
    this.#at.set(at);
    this.#readyAt.set(readyAt);
  }
}

/** The quantile of starts per minute over all minutes, including minutes without a start. */
export function perMinuteQuantile(perMinute: Uint32Array, share: number): number {
  const sorted = perMinute.slice().sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
