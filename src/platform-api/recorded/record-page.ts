import * as z from "zod";
import { cursorParameter, encodeCursor, limitParameter } from "../http/paging.ts";

const MAX_PAGE = 1_000; // S

/** S: the query of a list that has pages. The position is the number of the record that a page ends with. */
export function pageQuery(list: string) {
  return z.object({
    limit: limitParameter(MAX_PAGE, MAX_PAGE),
    cursor: cursorParameter(list, z.tuple([z.int()])),
  });
}

type PageQuery = z.output<ReturnType<typeof pageQuery>>;
type Numbered = { readonly record: { readonly number: number } };

/** A page of records, oldest first, and where the next one begins; without a position it is the last one. */
export function pageOf<T extends Numbered>(
  list: string,
  shown: readonly T[],
  query: object,
): { readonly items: readonly T[]; readonly pagination?: { readonly next: string } } {
  const { limit, cursor } = query as PageQuery;
  const rest = shown.filter(({ record }) => record.number > (cursor?.[0] ?? 0));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  if (last === undefined || items.length === rest.length) return { items };
  return { items, pagination: { next: encodeCursor(list, [last.record.number]) } };
}
