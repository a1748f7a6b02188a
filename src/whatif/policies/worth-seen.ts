import type { DurationMs } from "../../kernel/time.ts";
import type { StartWorth } from "../gap-curve/costs.ts";
import type { PolicyContext } from "./policy.ts";

/** What a cold start is worth, as far as a policy knows that does not know the future: the mean of those so far. */
export class WorthSeen {
  readonly #startWorth: StartWorth;
  /** While none was seen: one request waits. */
  readonly #firstMs: DurationMs;
  #sumMs: DurationMs = 0;
  #starts = 0;

  constructor({ startWorth, meanStartMs }: Pick<PolicyContext, "startWorth" | "meanStartMs">) {
    this.#startWorth = startWorth;
    this.#firstMs = startWorth(meanStartMs);
  }

  get meanMs(): DurationMs {
    return this.#starts === 0 ? this.#firstMs : this.#sumMs / this.#starts;
  }

  /** A start that requests wait for, or would have waited for. Gives its worth. */
  add(waitMs: DurationMs): DurationMs {
    const worthMs = this.#startWorth(waitMs);
    this.#sumMs += worthMs;
    this.#starts += 1;
    return worthMs;
  }
}
