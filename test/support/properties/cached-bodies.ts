import { expect } from "vitest";
import { DAY, SECOND } from "../../../src/kernel/time.ts";
import { listBody, objectBody } from "../../../src/platform-api/render/body-of-rows.ts";
import { JsonBody } from "../../../src/platform-api/render/json-body.ts";
import { listedBranch, renderBranch } from "../../../src/platform-api/render/render-branch.ts";
import {
  listedEndpoint,
  readEndpoint,
  renderListedEndpoint,
  renderPendingEndpoint,
} from "../../../src/platform-api/render/render-endpoint.ts";
import { listedOperation, renderOperation } from "../../../src/platform-api/render/render-operation.ts";
import {
  listedProject,
  projectWithOwner,
  renderProjectListItem,
  renderProjectWithOwner,
} from "../../../src/platform-api/render/render-project.ts";
import type { Transaction } from "../../../src/worlds/world-handle.ts";
import type { Double } from "../double/double.ts";

const PAGE = 20;
/** Time that passes without an event. */
const LATER = [0, 1, 0.6 * SECOND, SECOND, 61 * SECOND, 8 * DAY];

type Body = { readonly body: object; readonly renderAt: (now: number) => object };

/** Expects that cached bodies equal those rendered now, and later as long as they say. */
export async function expectBodiesUpToDate(double: Double): Promise<void> {
  await double.world.transact((transaction) => {
    const before = bodiesAt(transaction);
    for (const ms of LATER) {
      const later = {
        world: transaction.world,
        now: transaction.now + ms,
        operations: transaction.operations.bind(transaction),
      };
      for (const { body, renderAt } of [...before, ...bodiesAt(later)]) {
        expect(body).toBeInstanceOf(JsonBody);
        if ((body as JsonBody).isCurrent(later)) expect(`${body}`).toBe(JSON.stringify(renderAt(later.now)));
      }
      expect(before.every(({ body }) => (body as JsonBody).isCurrent(later)) || ms > 0).toBe(true);
    }
    for (const project of transaction.world.projects.values())
      for (const row of transaction.operations(project.id, PAGE))
        expect(row).toEqual(transaction.operation(row.id));
  });
}

function bodiesAt(transaction: Pick<Transaction, "world" | "now" | "operations">): Body[] {
  const { world } = transaction;
  const operations = [...world.projects.values()].flatMap(({ id }) => transaction.operations(id, PAGE));
  const listOf = <Row>(
    rows: readonly Row[],
    json: Parameters<typeof listBody<Row>>[3]["json"],
    render: (row: Row, now: number) => object,
  ): Body => ({
    body: listBody(transaction, "list", rows, { json, render: (row) => render(row, transaction.now) }),
    renderAt: (now) => ({ list: rows.map((row) => render(row, now)) }),
  });
  const objectsOf = <Row>(
    rows: readonly Row[],
    json: Parameters<typeof objectBody<Row>>[3]["json"],
    render: (row: Row, now: number) => object,
  ): Body[] =>
    rows.map((row) => ({
      body: objectBody(transaction, "object", row, { json, render: () => render(row, transaction.now) }),
      renderAt: (now) => ({ object: render(row, now) }),
    }));
  return [
    listOf(world.projects.toArray(), listedProject, (row, now) => renderProjectListItem(world, row, now)),
    listOf(world.branches.toArray(), listedBranch, (row, now) => renderBranch(world, row, now)),
    listOf(world.computes.toArray(), listedEndpoint, (row, now) => renderListedEndpoint(world, row, now)),
    listOf(operations, listedOperation, (row, now) => renderOperation(row, now)),
    ...objectsOf(world.projects.toArray(), projectWithOwner, (row, now) =>
      renderProjectWithOwner(world, row, now),
    ),
    ...objectsOf(world.computes.toArray(), readEndpoint, (row, now) =>
      renderPendingEndpoint(world, row, now),
    ),
  ];
}
