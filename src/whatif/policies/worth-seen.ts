import type { DurationMs } from "../../kernel/time.ts";
import type { PolicyContext } from "./policy.ts";

/** What a cold start is worth, as far as a policy knows that does not know the future: the mean of those so far. */
export class WorthSeen {
  /** While none was seen: one request waits. */
  readonly #firstMs: DurationMs;
  #sumMs: DurationMs = 0;
  #starts = 0;

  constructor({ startWorth, meanStartMs }: Pick<PolicyContext, "startWorth" | "meanStartMs">) {
    this.#firstMs = startWorth(meanStartMs);
  }

  get meanMs(): DurationMs {
    return this.#starts === 0 ? this.#firstMs : this.#sumMs / this.#starts;
  }

  /** What a start is worth, or would have been had the compute been suspended. */
  add(worthMs: DurationMs): void {
    this.#sumMs += worthMs;
    this.#starts += 1;
  }
}
