import fc from "fast-check";
import { expect, test } from "vitest";
import type { Operation } from "../../../src/platform/model/operation.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { HostedTransaction } from "../../../src/worlds/hosted/transaction.ts";
import { expectHolds } from "../../support/properties/properties.ts";

const NUMBERS = 12;

function rejectCommit(): never {
  throw new Error("a list must not commit");
}

const HOOKS = {
  ...{ commit: rejectCommit, onCommand: rejectCommit, onChange: rejectCommit },
  ...{ onDurableRow: rejectCommit, onLost: rejectCommit, readInSteps: rejectCommit },
};

function operationOf(number: number, status: string): Operation {
  const projectId = number % 3 === 0 ? "other" : "shop";
  return { number, id: String(number), projectId, state: { status } } as unknown as Operation;
}

function pageOf(rows: Iterable<Operation>, project: string, limit: number, before: number): Operation[] {
  return [...rows]
    .filter(({ projectId, number }) => projectId === project && number < before)
    .sort((one, other) => other.number - one.number)
    .slice(0, limit);
}

test("a page of operations before a commit is the page after it", async () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: NUMBERS }));
  const limit = fc.integer({ min: 1, max: NUMBERS });
  const before = fc.option(fc.integer({ min: 1, max: NUMBERS + 1 }), { nil: undefined });
  await expectHolds(
    fc.property(numbers, numbers, numbers, limit, before, (committed, running, finished, limit, before) => {
      const rows = new Map(committed.map((number) => [number, operationOf(number, "scheduling")]));
      const stored = [...rows.values()];
      const world = emptyWorld();
      const journal = {
        operations: (project: string, size: number, end = Number.POSITIVE_INFINITY) =>
          pageOf(stored, project, size, end),
      };
      for (const [status, changed] of [["running", running] as const, ["finished", finished] as const])
        for (const number of changed) {
          const row = operationOf(number, status);
          rows.set(number, row);
          if (status === "running") world.operations.set(row);
          else world.operations.retire(row);
        }
      const live = { simulation: { world, journal, hasUncommittedEvents: true }, history: {} };
      const transaction = new HostedTransaction(live as never, 0, HOOKS);
      expect(transaction.operations("shop", limit, before)).toEqual(
        pageOf(rows.values(), "shop", limit, before ?? Number.POSITIVE_INFINITY),
      );
    }),
    200,
  );
});
