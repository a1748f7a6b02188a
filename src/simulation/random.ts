import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { Random } from "../kernel/random-port.ts";

/**
 * Named random streams from one seed. Each draw starts its own generator from (seed, stream, number), so it
 * does not depend on earlier draws. Adding a stream shifts no other, and a world reopened from its file
 * continues where it stopped.
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

/** FNV-1a over the name, seeded with the world's seed. */
function hashName(name: string, seed: number): number {
  let hash = 0x811c9dc5 ^ mix(seed | 0, Math.floor(seed / 2 ** 32));
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return hash | 0;
}

/**
 * Mixes two integers into 32 bits (the finalizer of MurmurHash3), so that adjacent numbers get unrelated
 * seeds.
 */
function mix(hash: number, number: number): number {
  let mixed = hash ^ Math.imul(number, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
