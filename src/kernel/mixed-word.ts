/** Hashes 32 bits, so that neighbors become unrelated. Different factors give different hashes. */
export function mix(value: number, factor: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), factor);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

export const MIX_FACTOR = 0x21f0aaad;
/** 2^32 divided by the golden ratio, made odd: steps of it visit every 32-bit number. */
export const GOLDEN_STEP = 0x9e3779b9;
