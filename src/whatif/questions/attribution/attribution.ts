import type { ComputeArrivals, Period } from "../../../traffic/recorded/trace/trace.ts";
import type { SuspendDelay } from "../../gap-curve/delay.ts";
import { type ComputeSetting, FixedReplay } from "../../replay/fixed-replay.ts";
import { emptyOutcome, type ReplayOutcome } from "../../replay/replay-outcome.ts";
import type { LoadSizes } from "../../sizes/load-sizes.ts";
import type { LatencySource } from "../../units/start-latency.ts";

type AttributionShare = {
  readonly source: number;
  readonly arrivals: number;
  /** Outcome without the requests of this source. */
  readonly without: ReplayOutcome;
  /** Outcome with only the requests of this source. */
  readonly alone: ReplayOutcome;
};

export type Attribution = { readonly all: ReplayOutcome; readonly shares: readonly AttributionShare[] };

/**
 * Shows which sources keep computes active under a delay, by replays with all sources, without each source, and with
 * each source alone. The result is exact, but savings do not add up: if there are two health checks, removing one of
 * them saves nothing.
 */
export class Attributor {
  readonly #sources: number;
  readonly #all: FixedReplay;
  readonly #without: readonly FixedReplay[];
  readonly #alone: readonly FixedReplay[];
  readonly #arrivals: Float64Array;

  /** `sources`: number of sources. Requests of a trace without sources belong to source 0. */
  constructor(
    period: Period,
    delay: SuspendDelay,
    sources: number,
    outcomeIn: (period: Period) => ReplayOutcome = emptyOutcome,
  ) {
    const replay = () => new FixedReplay(period, delay, outcomeIn(period));
    const replays = () => Array.from({ length: sources }, replay);
    this.#sources = sources;
    this.#all = replay();
    this.#without = replays();
    this.#alone = replays();
    this.#arrivals = new Float64Array(sources);
  }

  /** `sizes`: sizes of a compute that scales, for one replay. */
  begin(
    latencies: LatencySource,
    own: Omit<ComputeSetting, "sizes"> = {},
    sizes: () => LoadSizes | undefined = () => undefined,
  ): void {
    for (const replay of this.#replays()) replay.begin(latencies, { ...own, sizes: sizes() });
  }

  /** Adds the next requests of the compute, in order of arrival. */
  add(arrivals: ComputeArrivals): void {
    this.#all.add(arrivals);
    for (let source = 0; source < this.#sources; source += 1) {
      const [own, others] = splitBySource(arrivals, source);
      this.#alone[source]?.add(own);
      this.#without[source]?.add(others);
      this.#arrivals[source] = (this.#arrivals[source] as number) + own.at.length;
    }
  }

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

/** The requests of a source, and those of all others. */
function splitBySource(arrivals: ComputeArrivals, own: number): readonly [ComputeArrivals, ComputeArrivals] {
  const { at, source, load } = arrivals;
  let count = 0;
  for (let i = 0; i < at.length; i += 1) if ((source?.[i] ?? 0) === own) count += 1;
  if (count === 0) return [NO_ARRIVALS, arrivals];
  if (count === at.length) return [arrivals, NO_ARRIVALS];
  const ours = emptyColumns(count, arrivals);
  const others = emptyColumns(at.length - count, arrivals);
  let [nextOwn, nextOther] = [0, 0];
  for (let i = 0; i < at.length; i += 1) {
    const isOwn = source?.[i] === own;
    const into = isOwn ? ours : others;
    const index = isOwn ? nextOwn : nextOther;
    into.at[index] = at[i] as number;
    into.durationMs[index] = arrivals.durationMs[i] as number;
    if (load !== undefined && into.load !== undefined) into.load[index] = load[i] as number;
    if (source !== undefined && into.source !== undefined) into.source[index] = source[i] as number;
    if (isOwn) nextOwn += 1;
    else nextOther += 1;
  }
  return [ours, others];
}

/** Empty columns, including loads and sources if the requests have them. */
function emptyColumns(
  length: number,
  { load, source }: Pick<ComputeArrivals, "load" | "source"> = {},
): ComputeArrivals {
  return {
    at: new Float64Array(length),
    durationMs: new Float64Array(length),
    load: load === undefined ? undefined : new Float64Array(length),
    source: source === undefined ? undefined : new Uint16Array(length),
  };
}

const NO_ARRIVALS = emptyColumns(0);
