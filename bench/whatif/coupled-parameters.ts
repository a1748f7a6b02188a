/** Shared by the simulations in TypeScript, C and Python. */
export const COUPLED_PARAMETERS = {
  delayS: 300,
  latencyMs: 3_000,
  preparedMs: 300,
  refillMs: 10_000,
} as const;

/** Number of prepared computes, and largest number of concurrent starts. */
export type StartCapacity = { readonly pool: number; readonly concurrent: number };

export function startCapacityFor(computes: number): StartCapacity {
  return { pool: computes / 100, concurrent: computes / 50 };
}
