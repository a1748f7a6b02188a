import { type DurationDistribution, drawDuration } from "../../kernel/distribution.ts";
import { GOLDEN_STEP, MIX_FACTOR, mix } from "../../kernel/mixed-word.ts";
import type { Random } from "../../kernel/random-port.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";

/** How long a start takes: one distribution, or a pool of prepared computes that is sometimes empty. */
export type StartLatency =
  | DurationDistribution
  | {
      readonly kind: "pool";
      readonly hit: DurationDistribution;
      readonly miss: DurationDistribution;
      /** Share of starts that find the pool empty, from 0 to 1. */
      readonly missShare: number;
    };

export const NO_LATENCY: StartLatency = { kind: "fixed", ms: 0 };

/** LogNormal(0.296, 1.326) in seconds: cold starts of a large cloud (Huawei 2025). */
export const MEASURED_LATENCY: StartLatency = {
  kind: "lognormal",
  medianMs: 1_344,
  sigma: 1.326,
  maxMs: 600_000,
};

/** The latency of a start that begins at an instant, in whole milliseconds. */
export type LatencySource = { at(startAt: SimTime): DurationMs };

/**
 * Start latencies of one compute. A draw depends only on the compute and the instant of the start. So two
 * policies that start it at the same instant draw the same latency (common random numbers), whatever each did
 * before.
 */
export class StartLatencies implements LatencySource {
  readonly #latency: StartLatency;
  readonly #key: number;
  #state = 0;
  readonly #next = (): number => this.#draw();
  readonly #source = () => this.#next;

  /** `compute` is its index: each compute has its own stream. */
  constructor(latency: StartLatency, random: Random, compute: number) {
    this.#latency = latency;
    this.#key = latency.kind === "fixed" ? 0 : random.stream("whatif-start-latency", compute)();
  }

  at(startAt: SimTime): DurationMs {
    const latency = this.#latency;
    if (latency.kind === "fixed") return latency.ms;
    this.#state = mix(
      this.#key ^ mix(startAt >>> 0, GOLDEN_STEP) ^ Math.floor(startAt / 2 ** 32),
      MIX_FACTOR,
    );
    if (latency.kind !== "pool") return drawDuration(latency, this.#source);
    return drawDuration(
      this.#draw() / 2 ** 32 < latency.missShare ? latency.miss : latency.hit,
      this.#source,
    );
  }

  /** The next draw for the current instant, in [0, 2^32): SplitMix on 32 bits. */
  #draw(): number {
    this.#state = (this.#state + GOLDEN_STEP) >>> 0;
    return mix(this.#state, MIX_FACTOR);
  }
}

/** One source per compute, by index; a fixed latency has one source for all. */
export function latenciesOf(latency: StartLatency, random: Random, computes: number): LatencySource[] {
  const shared = latency.kind === "fixed" ? new StartLatencies(latency, random, 0) : undefined;
  return Array.from(
    { length: computes },
    (_, compute) => shared ?? new StartLatencies(latency, random, compute),
  );
}
