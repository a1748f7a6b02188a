import type { SimTime } from "../../kernel/time.ts";
import type { World } from "../../platform/world/world.ts";

/** A statement that must hold in every world at every instant. */
export type Invariant = {
  readonly name: string;
  /** Where the statement does not hold. */
  readonly violations: (world: World, now: SimTime) => Iterable<string>;
};
