import { expect, test } from "vitest";
import { coverage } from "../../../src/platform-api/coverage.ts";
import { INSTALLATIONS } from "./installations.ts";
import { BRANCH_OPERATIONS, OTHER_OPERATIONS } from "./operations/platform-operations.ts";
import { testOperations } from "./operations/test-operations.ts";

const newest = INSTALLATIONS.at(-1);
if (newest === undefined) throw new Error("no Postgres is installed");
testOperations(newest);

test("every operation that the platform API serves is called", () => {
  const { operations, client_operations } = coverage();
  const called = [...BRANCH_OPERATIONS, ...OTHER_OPERATIONS].filter(({ examples }) => examples.length > 0);
  expect(called.map(({ operationId }) => operationId).sort()).toEqual(
    [...operations, ...client_operations]
      .filter((operation) => operation.coverage !== "refused")
      .map(({ operation_id }) => operation_id)
      // No log has a field, so it never succeeds.
      .filter((operationId) => operationId !== "listProjectBranchLogFieldValues")
      .sort(),
  );
});
