import type { ComputeArrivals, Period } from "../../recordings/trace/trace.ts";
import type { SuspendDelay } from "../curve/curve.ts";
import { type ComputeSetting, FixedReplay } from "../replay/fixed-replay.ts";
import { emptyOutcome, type ReplayOutcome } from "../replay/replay-outcome.ts";
import type { LatencySource } from "../replay/start-latency.ts";

/** What one source is to a compute, or to many: what it would save to be without it, and what it would take to be alone. */
type AttributionShare = {
  readonly source: number;
  readonly arrivals: number;
  /** The compute without this source's requests. */
  readonly without: ReplayOutcome;
  /** And with nothing but them. */
  readonly alone: ReplayOutcome;
};

export type Attribution = { readonly all: ReplayOutcome; readonly shares: readonly AttributionShare[] };

/**
 * What keeps computes awake under a delay: replays with everything, without each source, and with each alone. Exact, and no sum: two
 * health checks keep a compute awake that would not sleep without either.
 */
export class Attributor {
  readonly #sources: number;
  readonly #all: FixedReplay;
  readonly #without: readonly FixedReplay[];
  readonly #alone: readonly FixedReplay[];
  readonly #arrivals: Float64Array;

  /** Requests without a source column are of source 0. */
  constructor(period: Period, delay: SuspendDelay, sources: number) {
    const replays = () =>
      Array.from({ length: sources }, () => new FixedReplay(period, delay, emptyOutcome(period)));
    this.#sources = sources;
    this.#all = new FixedReplay(period, delay);
    this.#without = replays();
    this.#alone = replays();
    this.#arrivals = new Float64Array(sources);
  }

  begin(latencies: LatencySource, own?: ComputeSetting): void {
    for (const replay of this.#replays()) replay.begin(latencies, own);
  }

  /** The next requests of the compute. */
  add(arrivals: ComputeArrivals): void {
    this.#all.add(arrivals);
    for (let source = 0; source < this.#sources; source += 1) {
      const [own, others] = splitBySource(arrivals, source);
      this.#alone[source]?.add(own);
      this.#without[source]?.add(others);
      this.#arrivals[source] = (this.#arrivals[source] as number) + own.at.length;
    }
  }

  /** That was all of this compute. */
  end(): void {
    for (const replay of this.#replays()) replay.end();
  }

  attribution(): Attribution {
    const shares = this.#without.map(({ outcome: without }, source) => ({
      source,
      arrivals: this.#arrivals[source] as number,
      without,
      alone: (this.#alone[source] as FixedReplay).outcome,
    }));
    return { all: this.#all.outcome, shares };
  }

  #replays(): readonly FixedReplay[] {
    return [this.#all, ...this.#without, ...this.#alone];
  }
}

function splitBySource(
  { at, durationMs, source }: ComputeArrivals,
  own: number,
): readonly [ComputeArrivals, ComputeArrivals] {
  const isOwn = (i: number) => (source?.[i] ?? 0) === own;
  const select = (wanted: boolean): ComputeArrivals => ({
    at: at.filter((_, i) => isOwn(i) === wanted),
    durationMs: durationMs.filter((_, i) => isOwn(i) === wanted),
  });
  return [select(true), select(false)];
}
