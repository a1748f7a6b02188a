import * as z from "zod";
import { id, instant } from "../../http/fields.ts";
import { exactTimestamp } from "../../http/timestamps.ts";
import type { Branch } from "../../platform/model/branch.ts";
import { canRead, type Principal } from "../../platform/rules/account/access.ts";
import type { World } from "../../platform/world/world.ts";
import { cursorOf, invalidCursor, limitParameter } from "./paging.ts";
import { flag } from "./request-fields.ts";

const MAX_PAGE = 10_000; // S
const SORT_KEYS = ["name", "created_at", "updated_at"] as const; // S
const SORT_ORDERS = ["asc", "desc"] as const; // S

/** After which branch a page begins. `number` is that of a branch that may have been deleted since. */
type BranchPosition = {
  readonly projectId?: string;
  readonly branchId?: string;
  readonly sortBy: (typeof SORT_KEYS)[number];
  readonly sortOrder: (typeof SORT_ORDERS)[number];
  readonly value: string | number;
  readonly number?: number;
};

const sortKey = z.enum(SORT_KEYS);
/** C: the form of the platform's cursors, as base64. */
const recordedCursor = z.object({
  branch_id: id,
  sort_by: sortKey,
  sort_by_value: z.string(),
  sort_order: z.string().toLowerCase().pipe(z.enum(SORT_ORDERS)),
});
/** The form of releases up to 0.4. */
const earlierCursor = z.tuple([
  z.literal("branches"),
  ...[id, sortKey, z.enum(SORT_ORDERS), z.union([z.string(), z.number()]), z.int()],
] as const);

export const branchListQuery = z.object({
  search: z.string().optional(),
  sort_by: z.enum(SORT_KEYS).optional(),
  sort_order: z.enum(SORT_ORDERS).optional(),
  limit: limitParameter(MAX_PAGE, MAX_PAGE),
  cursor: cursorOf(positionOf),
  include_deleted: flag.optional(),
});

type BranchListQuery = z.output<typeof branchListQuery>;

function positionOf(text: string): BranchPosition | undefined {
  let json: unknown;
  try {
    // A client may have sent `+` without an escape, which a query decodes to a space.
    json = JSON.parse(Buffer.from(text.replaceAll(" ", "+"), "base64").toString("utf8"));
  } catch {
    return undefined;
  }
  const recorded = recordedCursor.safeParse(json).data;
  if (recorded !== undefined) {
    const { branch_id: branchId, sort_by: sortBy, sort_order: sortOrder, sort_by_value } = recorded;
    const value = sortBy === "name" ? sort_by_value : instant.safeParse(sort_by_value).data;
    return value === undefined ? undefined : { branchId, sortBy, sortOrder, value };
  }
  const earlier = earlierCursor.safeParse(json).data;
  if (earlier === undefined) return undefined;
  const [, projectId, sortBy, sortOrder, value, number] = earlier;
  return { projectId, sortBy, sortOrder, value, number };
}

/** The caller and the world whose list is read. */
type BranchReader = { readonly world: World; readonly principal: Principal };

/** One page, sorted by the chosen key, then by age. A cursor holds its sort order, so later pages keep it. */
export function branchPage(
  { world, principal }: BranchReader,
  projectId: string,
  branches: Branch[],
  query: BranchListQuery,
): { readonly page: readonly Branch[]; readonly pagination: Record<string, string> } {
  const { cursor } = query;
  const after =
    cursor === undefined ? undefined : checkedPosition({ world, principal }, projectId, query, cursor);
  const sortBy = after?.sortBy ?? query.sort_by ?? "updated_at";
  const sortOrder = after?.sortOrder ?? query.sort_order ?? "desc";
  const sortKeyOf = (branch: Branch) =>
    sortBy === "name" ? branch.name : sortBy === "created_at" ? branch.createdAt : branch.updatedAt;
  const direction = sortOrder === "asc" ? 1 : -1;
  const compare = (key: string | number, number: number, otherKey: string | number, otherNumber: number) =>
    direction * (key < otherKey ? -1 : key > otherKey ? 1 : number - otherNumber);
  const sorted = branches.sort((a, b) => compare(sortKeyOf(a), a.number, sortKeyOf(b), b.number));
  const rest =
    after === undefined
      ? sorted
      : sorted.filter((branch) => compare(sortKeyOf(branch), branch.number, after.value, after.number) > 0);
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  const order = { sort_by: sortBy, sort_order: sortOrder.toUpperCase() };
  if (last === undefined) return { page, pagination: order };
  const value = sortKeyOf(last);
  const next = {
    branch_id: last.id,
    sort_by: sortBy,
    sort_by_value: typeof value === "string" ? value : exactTimestamp(value),
    sort_order: order.sort_order,
  };
  // C: also on the last page.
  return { page, pagination: { ...order, next: Buffer.from(JSON.stringify(next)).toString("base64") } };
}

/**
 * Rejects the cursor of another project or of another order. A branch that the caller may not see is like one that has
 * been deleted.
 */
function checkedPosition(
  reader: BranchReader,
  projectId: string,
  query: BranchListQuery,
  cursor: BranchPosition,
): BranchPosition & { readonly number: number } {
  const branch = cursor.branchId === undefined ? undefined : readableBranch(reader, cursor.branchId);
  const isOther =
    (branch?.projectId ?? cursor.projectId ?? projectId) !== projectId ||
    (query.sort_by ?? cursor.sortBy) !== cursor.sortBy ||
    (query.sort_order ?? cursor.sortOrder) !== cursor.sortOrder;
  if (isOther) return invalidCursor();
  // If the branch was deleted, only the value of the sorted field is known.
  const beyond = cursor.sortOrder === "asc" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return { ...cursor, number: cursor.number ?? branch?.number ?? beyond };
}

function readableBranch({ world, principal }: BranchReader, branchId: string): Branch | undefined {
  const branch = world.branches.get(branchId);
  const project = branch && world.projects.get(branch.projectId);
  return project !== undefined && canRead(world, principal, project) ? branch : undefined;
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
