import type { SimTime } from "../../kernel/time.ts";
import type { World } from "../../platform/world/world.ts";

/** A statement that must hold in every world at every instant. */
export type Invariant = {
  readonly name: string;
  /** Places where the statement does not hold. `undefined` marks a point at which the check can pause. */
  readonly violations: (world: World, now: SimTime) => Iterable<string | undefined>;
};

/** Takes a few milliseconds. */
const ROWS_PER_STEP = 500;

/** The violations in each row, with pauses, for tables that grow with the number of projects. */
export function* violationsIn<T>(
  rows: Iterable<T>,
  violationsOf: (row: T) => Iterable<string>,
): Generator<string | undefined> {
  let count = 0;
  for (const row of rows) {
    yield* violationsOf(row);
    count += 1;
    if (count % ROWS_PER_STEP === 0) yield undefined;
  }
}
