import type { DurationMs } from "../../kernel/time.ts";
import type { PolicyContext } from "./policy.ts";

/** Running mean of the worth of the cold starts so far, for policies without foresight. */
export class WorthSeen {
  /** Used before the first start: worth of a start that one request waits for. */
  readonly #firstMs: DurationMs;
  #sumMs: DurationMs = 0;
  #starts = 0;

  constructor({ startWorth, meanStartMs }: Pick<PolicyContext, "startWorth" | "meanStartMs">) {
    this.#firstMs = startWorth(meanStartMs);
  }

  get meanMs(): DurationMs {
    return this.#starts === 0 ? this.#firstMs : this.#sumMs / this.#starts;
  }

  /** Adds the worth of a start, or of the start that a suspended compute would have needed. */
  add(worthMs: DurationMs): void {
    this.#sumMs += worthMs;
    this.#starts += 1;
  }
}
