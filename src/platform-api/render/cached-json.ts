import type { SimTime } from "../../kernel/time.ts";
import type { World } from "../../platform/world/world.ts";
import { stateOf } from "./world-state.ts";

/** The JSON of a row as lists show it. */
export type ListedRow = {
  readonly text: string;
  /** When time alone changes it, even if nothing happens (exclusive). */
  readonly until: SimTime;
};

/** Other rows and values in the JSON of a row, such as the usage up to now. `until` is not shown. */
type Beside = Pick<ListedRow, "until">;

type CachedRow<Fields> = ListedRow & {
  readonly state: object;
  readonly from: SimTime;
  readonly beside: Fields;
};

/**
 * The JSON of rows as lists show them. It is the same while nothing happens in the world and time alone does not change
 * it. Otherwise it is rendered again only if what it shows beside the row differs: rows are replaced, never edited, so a
 * row needs no comparison.
 */
export class CachedJson<Row extends object, Fields extends Beside> {
  readonly #cached = new WeakMap<Row, CachedRow<Fields>>();
  readonly #fieldsBeside: (world: World, row: Row, now: SimTime) => Fields;
  readonly #render: (world: World, row: Row, beside: Fields) => object;

  constructor(
    fieldsBeside: (world: World, row: Row, now: SimTime) => Fields,
    render: (world: World, row: Row, beside: Fields) => object,
  ) {
    this.#fieldsBeside = fieldsBeside;
    this.#render = render;
  }

  listed(world: World, row: Row, now: SimTime): ListedRow {
    const state = stateOf(world);
    const cached = this.#cached.get(row);
    if (cached !== undefined && cached.state === state && now >= cached.from && now < cached.until)
      return cached;
    const beside = this.#fieldsBeside(world, row, now);
    const text =
      cached !== undefined && showEqual(cached.beside, beside)
        ? cached.text
        : JSON.stringify(this.#render(world, row, beside));
    const listed = { text, until: beside.until, state, from: now, beside };
    this.#cached.set(row, listed);
    return listed;
  }
}

function showEqual<Fields extends Beside>(one: Fields, other: Fields): boolean {
  for (const name in one) if (name !== "until" && one[name] !== other[name]) return false;
  return true;
}
