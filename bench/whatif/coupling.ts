/** What the coupled simulation is run with, here and in C and Python. */
export const COUPLED = { delayS: 300, latencyMs: 3_000, preparedMs: 300, pool: 100, refillMs: 10_000, concurrent: 200 } as const;
