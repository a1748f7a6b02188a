import type { RowObserver } from "../../kernel/table.ts";
import type { Compute } from "../model/compute.ts";

/** The numbers of computes by state and their current size, up to date after every change of a compute. */
export class ComputeTotals implements RowObserver<Compute> {
  readonly #byState = { init: 0, active: 0, idle: 0 };
  /** A sum of multiples of a quarter, so it is exact. */
  #activeCu = 0;

  get byState(): Readonly<Record<Compute["phase"]["state"], number>> {
    return this.#byState;
  }

  /** The compute units of all active computes. */
  get activeCu(): number {
    return this.#activeCu;
  }

  replace(before: Compute | undefined, after: Compute | undefined): void {
    // Most changes of a compute leave its state and size.
    if (before !== undefined && after !== undefined && isSame(before.phase, after.phase)) return;
    if (before !== undefined) this.#add(before, -1);
    if (after !== undefined) this.#add(after, 1);
  }

  clear(): void {
    this.#byState.init = 0;
    this.#byState.active = 0;
    this.#byState.idle = 0;
    this.#activeCu = 0;
  }

  #add({ phase }: Compute, count: 1 | -1): void {
    this.#byState[phase.state] += count;
    if (phase.state === "active") this.#activeCu += count * phase.sizeCu;
  }
}

function isSame(one: Compute["phase"], other: Compute["phase"]): boolean {
  if (one.state !== "active" || other.state !== "active") return one.state === other.state;
  return one.sizeCu === other.sizeCu;
}
