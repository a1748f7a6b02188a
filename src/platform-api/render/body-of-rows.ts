import type { SimTime } from "../../kernel/time.ts";
import type { World } from "../../platform/world/world.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import type { ListedRow } from "./cached-json.ts";
import { type BodyOptions, JsonBody } from "./json-body.ts";

type RenderedAs<Row> = BodyOptions & {
  /** The row as JSON, which may be cached. */
  readonly json: (world: World, row: Row, now: SimTime) => ListedRow;
  /** The row as an object, for worlds with recorded answers. */
  readonly render: (row: Row) => object;
};

/** The body of a list. Recorded answers omit fields of objects, so they are built again each time. */
export function listBody<Row>(
  { world, now }: Pick<Transaction, "world" | "now">,
  property: string,
  rows: readonly Row[],
  { json, render, ...options }: RenderedAs<Row>,
): object {
  if (world.settings.answers === "recorded") return { [property]: rows.map(render), ...options.fields };
  const listed = rows.map((row) => json(world, row, now));
  return JsonBody.list({ world, now }, property, listed, options);
}

/** The same for an answer that reads one object. */
export function objectBody<Row>(
  { world, now }: Pick<Transaction, "world" | "now">,
  property: string,
  row: Row,
  { json, render, ...options }: RenderedAs<Row>,
): object {
  if (world.settings.answers === "recorded") return { [property]: render(row), ...options.fields };
  return JsonBody.object({ world, now }, property, json(world, row, now), options);
}
