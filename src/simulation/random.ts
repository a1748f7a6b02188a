import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { Random } from "../platform/core/random-port.ts";

/**
 * Named streams from one seed. Each draw starts a generator of its own from (seed, stream, number), so a draw depends on nothing
 * that was drawn before it: adding a stream shifts no other, and a world reopened from its file draws on where it stopped.
 */
export function randomFrom(seed: number): Random {
  const hashes = new Map<string, number>();
  return {
    stream(name, number) {
      let hash = hashes.get(name);
      if (hash === undefined) {
        hash = hashName(name, seed);
        hashes.set(name, hash);
      }
      const generator = xoroshiro128plus(mix(hash, number));
      return () => generator.next() >>> 0;
    },
  };
}

/** FNV-1a over the name, started from the seed. */
function hashName(name: string, seed: number): number {
  let hash = 0x811c9dc5 ^ mix(seed | 0, Math.floor(seed / 2 ** 32));
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return hash | 0;
}

/** Spreads two integers over 32 bits (the finalizer of MurmurHash3): neighbours get seeds that have nothing in common. */
function mix(hash: number, number: number): number {
  let mixed = hash ^ Math.imul(number, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
