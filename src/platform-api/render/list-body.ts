import type { SimTime } from "../../kernel/time.ts";
import type { World } from "../../platform/world/world.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import type { ListedRow } from "./cached-json.ts";
import { JsonList, type ListOptions } from "./json-list.ts";

type ListedAs<Row> = ListOptions & {
  /** The row as JSON, which may be cached. */
  readonly listed: (world: World, row: Row, now: SimTime) => ListedRow;
  /** The row as an object, for worlds with recorded answers. */
  readonly render: (row: Row) => object;
};

/** The body of a list. Recorded answers omit fields of objects, so they are built again each time. */
export function listBody<Row>(
  { world, now }: Pick<Transaction, "world" | "now">,
  property: string,
  rows: readonly Row[],
  { listed, render, ...options }: ListedAs<Row>,
): object {
  if (world.settings.answers === "recorded") return { [property]: rows.map(render), ...options.fields };
  return new JsonList(
    { world, now },
    property,
    rows.map((row) => listed(world, row, now)),
    options,
  );
}
