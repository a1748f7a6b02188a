import { GOLDEN_STEP, MIX_FACTOR, mix } from "../../kernel/mixed-word.ts";
import type { Random } from "../../kernel/random-port.ts";

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

  /** Draws from an exponential distribution with this mean, rounded to a whole number of at least 1. */
  exponential(index: number, mean: number): number {
    return Math.max(1, Math.round(-Math.log(this.uniform(index)) * mean));
  }
}
