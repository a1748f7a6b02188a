import { expect, test } from "vitest";
import { lockSettings } from "../../../src/postgres/processes/server-arguments.ts";

test.each([
  [1, 64],
  [112, 64],
  [450, 64],
  [451, 63],
  [901, 31],
  [2_880, 10],
  [4_000, 10],
])("with max_connections %i, Postgres reserves %i locks for each connection", (connections, locks) => {
  expect(lockSettings(connections)).toEqual({
    max_locks_per_transaction: locks,
    max_pred_locks_per_transaction: locks,
  });
});
