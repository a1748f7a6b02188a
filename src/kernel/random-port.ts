/**
 * The rules' source of randomness. A draw depends on the seed, its stream and its number, not on earlier
 * draws. So a new kind of draw never shifts existing ones, and only the seed is stored. Drawn values are
 * stored in the event.
 */
export interface Random {
  /**
   * A generator for the `number`-th use of stream `name`. Each call returns the next integer in [0, 2^32).
   */
  stream(name: string, number: number): () => number;
}

/** A uniform number in [0, 1). */
export function uniform(stream: () => number): number {
  return stream() / 2 ** 32;
}

/** A standard normal draw (Box–Muller), for log-normal durations. */
export function normal(stream: () => number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(stream)));
  return radius * Math.cos(2 * Math.PI * uniform(stream));
}
