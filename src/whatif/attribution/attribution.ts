import type { Period, Requests } from "../../recordings/trace/trace.ts";
import type { Delay } from "../curve/curve.ts";
import { FixedReplay, type OwnSetting } from "../replay/fixed-replay.ts";
import { noOutcome, type Outcome } from "../replay/replay-outcome.ts";
import type { LatencySource } from "../replay/start-latency.ts";

/** What one source is to a compute, or to many: what it would save to be without it, and what it would take to be alone. */
type Share = {
  readonly source: number;
  readonly requests: number;
  /** The compute without this source's requests. */
  readonly without: Outcome;
  /** And with nothing but them. */
  readonly alone: Outcome;
};

export type Attribution = { readonly all: Outcome; readonly shares: readonly Share[] };

/**
 * What keeps computes awake under a delay: replays with everything, without each source, and with each alone. Exact, and no sum: two
 * health checks keep a compute awake that would not sleep without either.
 */
export class Attributor {
  readonly #sources: number;
  readonly #all: FixedReplay;
  readonly #without: readonly FixedReplay[];
  readonly #alone: readonly FixedReplay[];
  readonly #requests: Float64Array;

  /** Requests without a source column are of source 0. */
  constructor(period: Period, delay: Delay, sources: number) {
    const replays = () => Array.from({ length: sources }, () => new FixedReplay(period, delay, noOutcome(period)));
    this.#sources = sources;
    this.#all = new FixedReplay(period, delay);
    this.#without = replays();
    this.#alone = replays();
    this.#requests = new Float64Array(sources);
  }

  begin(latencies: LatencySource, own?: OwnSetting): void {
    for (const replay of this.#replays()) replay.begin(latencies, own);
  }

  /** The next requests of the compute. */
  add(requests: Requests): void {
    this.#all.add(requests);
    for (let source = 0; source < this.#sources; source += 1) {
      const [own, others] = split(requests, source);
      this.#alone[source]?.add(own);
      this.#without[source]?.add(others);
      this.#requests[source] = (this.#requests[source] as number) + own.at.length;
    }
  }

  /** That was all of this compute. */
  end(): void {
    for (const replay of this.#replays()) replay.end();
  }

  attribution(): Attribution {
    const shares = this.#without.map(({ outcome: without }, source) => ({
      source,
      requests: this.#requests[source] as number,
      without,
      alone: (this.#alone[source] as FixedReplay).outcome,
    }));
    return { all: this.#all.outcome, shares };
  }

  #replays(): readonly FixedReplay[] {
    return [this.#all, ...this.#without, ...this.#alone];
  }
}

function split({ at, durationMs, source }: Requests, own: number): readonly [Requests, Requests] {
  const isOwn = (i: number) => (source?.[i] ?? 0) === own;
  const pick = (wanted: boolean): Requests => ({
    at: at.filter((_, i) => isOwn(i) === wanted),
    durationMs: durationMs.filter((_, i) => isOwn(i) === wanted),
  });
  return [pick(true), pick(false)];
}
