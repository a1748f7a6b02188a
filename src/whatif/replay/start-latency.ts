import { type DurationDistribution, drawDuration } from "../../platform/core/distribution.ts";
import type { Chance } from "../../platform/core/random-port.ts";
import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import { mix, SPREAD, STEP } from "./draws.ts";

/** How long a start takes: as one distribution, or from a pool of prepared computes that is empty now and then. */
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
export const MEASURED_LATENCY: StartLatency = { kind: "lognormal", medianMs: 1_344, sigma: 1.326, maxMs: 600_000 };

/** Tells how long a start takes that begins at an instant, in whole milliseconds. */
export type LatencySource = { at(startAt: SimTime): DurationMs };

/**
 * How long the starts of one compute take. A draw is named by the instant of the start and by nothing else: two policies that start a
 * compute at the same instant draw the same (common random numbers), whatever each of them did before.
 */
export class StartLatencies implements LatencySource {
  readonly #latency: StartLatency;
  readonly #key: number;
  #state = 0;
  readonly #next = (): number => this.#draw();
  readonly #source = () => this.#next;

  /** `number` tells computes apart: each has a stream of its own. */
  constructor(latency: StartLatency, chance: Chance, number: number) {
    this.#latency = latency;
    this.#key = latency.kind === "fixed" ? 0 : chance.source("whatif-start-latency", number)();
  }

  at(startAt: SimTime): DurationMs {
    const latency = this.#latency;
    if (latency.kind === "fixed") return latency.ms;
    this.#state = mix(this.#key ^ mix(startAt >>> 0, STEP) ^ Math.floor(startAt / 2 ** 32), SPREAD);
    if (latency.kind !== "pool") return drawDuration(latency, this.#source);
    return drawDuration(this.#draw() / 2 ** 32 < latency.missShare ? latency.miss : latency.hit, this.#source);
  }

  /** The next of the numbers in [0, 2^32) that an instant has: SplitMix on 32 bits. */
  #draw(): number {
    this.#state = (this.#state + STEP) >>> 0;
    return mix(this.#state, SPREAD);
  }
}

/** For each compute, by its number; where no chance is in it, the same for all. */
export function latenciesOf(latency: StartLatency, chance: Chance, computes: number): LatencySource[] {
  const shared = latency.kind === "fixed" ? new StartLatencies(latency, chance, 0) : undefined;
  return Array.from({ length: computes }, (_, number) => shared ?? new StartLatencies(latency, chance, number));
}
