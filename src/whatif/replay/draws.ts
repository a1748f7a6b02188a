import type { Chance } from "../../platform/core/random-port.ts";

/** Spreads 32 bits: neighbours have nothing in common afterwards. Different factors give different spreads. */
export function mix(value: number, factor: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), factor);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

export const SPREAD = 0x21f0aaad;
/** 2^32 over the golden ratio: steps of it visit every 32-bit number. */
export const STEP = 0x9e3779b9;

/** Uniform draws of many who each have a stream of their own, a word of memory each (SplitMix on 32 bits). */
export class ManyDraws {
  readonly #states: Uint32Array;

  constructor(chance: Chance, stream: string, many: number) {
    this.#states = Uint32Array.from({ length: many }, (_, number) => chance.source(stream, number)());
  }

  /** The next one of `who`, in (0, 1): never an end, so that its logarithm is finite. */
  uniform(who: number): number {
    const state = ((this.#states[who] as number) + STEP) >>> 0;
    this.#states[who] = state;
    return (mix(state, SPREAD) + 0.5) / 2 ** 32;
  }

  /** Exponential with this mean, in whole numbers from 1. */
  exponential(who: number, mean: number): number {
    return Math.max(1, Math.round(-Math.log(this.uniform(who)) * mean));
  }
}
