import { expect } from "vitest";
import { DAY, SECOND } from "../../../src/kernel/time.ts";
import { JsonList } from "../../../src/platform-api/render/json-list.ts";
import { listBody } from "../../../src/platform-api/render/list-body.ts";
import { listedBranch, renderBranch } from "../../../src/platform-api/render/render-branch.ts";
import { listedEndpoint, renderListedEndpoint } from "../../../src/platform-api/render/render-endpoint.ts";
import { listedOperation, renderOperation } from "../../../src/platform-api/render/render-operation.ts";
import { listedProject, renderProjectListItem } from "../../../src/platform-api/render/render-project.ts";
import type { Transaction } from "../../../src/worlds/world-handle.ts";
import type { Double } from "../double/double.ts";

const PAGE = 20;
/** Time that passes without an event. */
const LATER = [0, 1, 0.6 * SECOND, SECOND, 61 * SECOND, 8 * DAY];

type List = { readonly body: object; readonly renderAt: (now: number) => object };

/** Expects that cached lists equal lists rendered now, and later as long as they say. */
export async function expectListsUpToDate(double: Double): Promise<void> {
  await double.world.transact((transaction) => {
    const before = listsAt(transaction);
    for (const ms of LATER) {
      const later = { ...transaction, now: transaction.now + ms };
      for (const { body, renderAt } of [...before, ...listsAt(later)]) {
        expect(body).toBeInstanceOf(JsonList);
        if ((body as JsonList).isCurrent(later)) expect(`${body}`).toBe(JSON.stringify(renderAt(later.now)));
      }
      expect(before.every(({ body }) => (body as JsonList).isCurrent(later)) || ms > 0).toBe(true);
    }
    for (const project of transaction.world.projects.values())
      for (const row of transaction.operations(project.id, PAGE))
        expect(row).toEqual(transaction.operation(row.id));
  });
}

function listsAt(transaction: Pick<Transaction, "world" | "now" | "operations">): List[] {
  const { world } = transaction;
  const operations = [...world.projects.values()].flatMap(({ id }) => transaction.operations(id, PAGE));
  const listOf = <Row>(
    rows: readonly Row[],
    listed: Parameters<typeof listBody<Row>>[3]["listed"],
    render: (row: Row, now: number) => object,
  ): List => ({
    body: listBody(transaction, "list", rows, { listed, render: (row) => render(row, transaction.now) }),
    renderAt: (now) => ({ list: rows.map((row) => render(row, now)) }),
  });
  return [
    listOf(world.projects.toArray(), listedProject, (row, now) => renderProjectListItem(world, row, now)),
    listOf(world.branches.toArray(), listedBranch, (row, now) => renderBranch(world, row, now)),
    listOf(world.computes.toArray(), listedEndpoint, (row, now) => renderListedEndpoint(world, row, now)),
    listOf(operations, listedOperation, (row, now) => renderOperation(row, now)),
  ];
}
