// @ts-nocheck
import type { WorldState } from "../client/types.ts";

/** A state in which what belongs to some projects is replaced. New rows are the newest, so they come last. */
export function replaceProjects(state: WorldState, ids: ReadonlySet<string>, newer: WorldState): WorldState {
  return {
    ...state,
    seq: newer.seq,
    at: newer.at,
    projects: replaceRows(state.projects, newer.projects, ({ id }) => ids.has(id)),
    branches: replaceRows(state.branches, newer.branches, ({ project_id }) => ids.has(project_id)),
    endpoints: replaceRows(state.endpoints, newer.endpoints, ({ project_id }) => ids.has(project_id)),
    operations: replaceRows(state.operations, newer.operations, ({ project_id }) => ids.has(project_id)),
  };
}

function replaceRows<R extends { readonly id: string }>(
  rows: readonly R[],
  newer: readonly R[],
  isReplaced: (row: R) => boolean,
): R[] {
  const left = new Map(newer.map((row) => [row.id, row]));
  const replaced = rows.flatMap((row) => {
    if (!isReplaced(row)) return row;
    const found = left.get(row.id);
    left.delete(row.id);
    return found ?? [];
  });
  return [...replaced, ...left.values()];
}
