import type { World } from "../../platform/world/world.ts";
import { JsonList } from "./cached-json.ts";

type ListedAs<Row> = {
  /** The row as JSON, which may be cached. */
  readonly json: (row: Row) => string;
  /** The row as an object, for worlds with recorded answers. */
  readonly render: (row: Row) => object;
  /** Fields in addition to the list. */
  readonly fields?: object;
};

/** The body of a list. Recorded answers omit fields of objects, so they are built again each time. */
export function listBody<Row>(
  world: World,
  property: string,
  rows: readonly Row[],
  { json, render, fields }: ListedAs<Row>,
): object {
  if (world.settings.answers === "recorded") return { [property]: rows.map(render), ...fields };
  return new JsonList(property, rows.map(json), fields);
}
