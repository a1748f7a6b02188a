import type { Random } from "../../kernel/random-port.ts";

/** Hashes 32 bits, so that neighbours become unrelated. Different factors give different hashes. */
export function mix(value: number, factor: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), factor);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

export const MIX_FACTOR = 0x21f0aaad;
/** 2^32 divided by the golden ratio, made odd: steps of it visit every 32-bit number. */
export const GOLDEN_STEP = 0x9e3779b9;

/** Many random streams of one word of memory each (SplitMix on 32 bits). */
export class IndexedStreams {
  readonly #states: Uint32Array;

  constructor(random: Random, stream: string, count: number) {
    this.#states = Uint32Array.from({ length: count }, (_, number) => random.stream(stream, number)());
  }

  /** The next draw of a stream, in (0, 1), both ends exclusive: its logarithm is finite. */
  uniform(index: number): number {
    const state = ((this.#states[index] as number) + GOLDEN_STEP) >>> 0;
    this.#states[index] = state;
    return (mix(state, MIX_FACTOR) + 0.5) / 2 ** 32;
  }

  /** Exponential with this mean, rounded to a whole number of at least 1. */
  exponential(index: number, mean: number): number {
    return Math.max(1, Math.round(-Math.log(this.uniform(index)) * mean));
  }
}
