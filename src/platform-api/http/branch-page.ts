import * as z from "zod";
import { id } from "../../http/fields.ts";
import type { Branch } from "../../platform/model/branch.ts";
import { cursorParameter, encodeCursor, limitParameter } from "./paging.ts";
import { flag } from "./request-fields.ts";

const MAX_PAGE = 10_000; // S
const SORT_KEYS = ["name", "created_at", "updated_at"] as const; // S
const SORT_ORDERS = ["asc", "desc"] as const; // S

export const branchListQuery = z.object({
  search: z.string().optional(),
  sort_by: z.enum(SORT_KEYS).optional(),
  sort_order: z.enum(SORT_ORDERS).optional(),
  limit: limitParameter(MAX_PAGE, MAX_PAGE),
  cursor: cursorParameter(
    "branches",
    z.tuple([id, z.enum(SORT_KEYS), z.enum(SORT_ORDERS), z.union([z.string(), z.number()]), z.int()]),
  ),
  include_deleted: flag.optional(),
});

type BranchListQuery = z.output<typeof branchListQuery>;

/** One page, sorted by the chosen key, then by age. A cursor holds its sort order, so later pages keep it. */
export function branchPage(projectId: string, branches: Branch[], query: BranchListQuery) {
  const { cursor } = query;
  const sortBy = cursor?.[1] ?? query.sort_by ?? "updated_at";
  const sortOrder = cursor?.[2] ?? query.sort_order ?? "desc";
  const sortKeyOf = (branch: Branch) =>
    sortBy === "name" ? branch.name : sortBy === "created_at" ? branch.createdAt : branch.updatedAt;
  const direction = sortOrder === "asc" ? 1 : -1;
  const compare = (key: string | number, number: number, otherKey: string | number, otherNumber: number) =>
    direction * (key < otherKey ? -1 : key > otherKey ? 1 : number - otherNumber);
  const sorted = branches.sort((a, b) => compare(sortKeyOf(a), a.number, sortKeyOf(b), b.number));
  const rest =
    cursor === undefined
      ? sorted
      : sorted.filter((branch) => compare(sortKeyOf(branch), branch.number, cursor[3], cursor[4]) > 0);
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && rest.length > page.length;
  return {
    page,
    next: {
      sort_by: sortBy,
      sort_order: sortOrder.toUpperCase(),
      ...(hasMore
        ? { next: encodeCursor("branches", [projectId, sortBy, sortOrder, sortKeyOf(last), last.number]) }
        : {}),
    },
  };
}

/** S: matches name or id, ignoring case. */
export function filterBySearch(branches: Branch[], search: string | undefined): Branch[] {
  if (search === undefined) return branches;
  return branches.filter((branch) => nameMatches(branch, search) || branch.id.includes(search.toLowerCase()));
}

/** S: a count matches only the name. */
export function nameMatches(branch: Branch, search: string): boolean {
  return branch.name.toLowerCase().includes(search.toLowerCase());
}
