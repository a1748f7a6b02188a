/** What the simulations are run with, here and in C and Python. */
export const COUPLED = { delayS: 300, latencyMs: 3_000, preparedMs: 300, refillMs: 10_000 } as const;

/** Prepared computes, and starts that may be under way at once. */
export type StartsOfFleet = { readonly pool: number; readonly concurrent: number };

/** One prepared compute for a hundred, and one start under way for fifty. */
export function startsOf(computes: number): StartsOfFleet {
  return { pool: computes / 100, concurrent: computes / 50 };
}
