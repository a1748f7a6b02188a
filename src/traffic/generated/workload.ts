import { uniform } from "../../kernel/random-port.ts";
import type { DurationMs } from "../../kernel/time.ts";
import { type Sampler, samplerOf } from "./distribution.ts";
import type { Pattern } from "./patterns.ts";

/** The random stream of a source for one purpose: integers in [0, 2^32). */
export type RandomStreams = (purpose: string) => () => number;

/** The contents of a source's arrivals; values that vary are drawn for each arrival. */
export class Workload {
  durationMs: DurationMs = 0;
  queries = 0;
  readonly kind: Pattern["kind"];
  readonly #duration: Sampler | undefined;
  readonly #queries: Sampler | undefined;

  constructor(
    { kind, duration, queries }: Pick<Pattern, "kind" | "duration" | "queries">,
    streams: RandomStreams,
  ) {
    this.kind = kind;
    if (duration.distribution === "fixed") this.durationMs = duration.value;
    else this.#duration = samplerOf(duration, streams("durations"));
    if (typeof queries === "number") this.queries = queries;
    else this.#queries = countSampler(queries, streams("queries"));
  }

  draw(): void {
    if (this.#duration !== undefined) this.durationMs = this.#duration();
    if (this.#queries !== undefined) this.queries = this.#queries();
  }
}

/** A constant whole number, or a uniform one between two inclusive bounds. */
export function countSampler(
  count: number | { readonly min: number; readonly max: number },
  stream: () => number,
): () => number {
  if (typeof count === "number") return () => count;
  return () => count.min + Math.floor(uniform(stream) * (count.max - count.min + 1));
}
