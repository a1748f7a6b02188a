/**
 * What the rules may ask of chance. A draw is named by its stream and its number, not by what was drawn before it, so a new
 * kind of draw never shifts an old one, and nothing but the seed has to be stored. What was drawn goes into the event.
 */
export interface Random {
  /** A source of draws for the `number`-th use of `stream`; each call of the source gives the next integer in [0, 2^32). */
  stream(name: string, number: number): () => number;
}

/** A uniform real number in [0, 1) from a source. */
export function uniform(stream: () => number): number {
  return stream() / 2 ** 32;
}

/** A standard normal draw (Box–Muller), for log-normal durations. */
export function normal(stream: () => number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(stream)));
  return radius * Math.cos(2 * Math.PI * uniform(stream));
}
