import { join } from "node:path";
import { expect, test } from "vitest";
import { openAccountFile } from "../../../src/account/account-file.ts";
import { readEndpoints } from "../../../src/account/account-reader.ts";
import { AccountWriter } from "../../../src/account/account-writer.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const T0 = 1_767_225_600_000;
const ACTIONS = ["start_compute", "suspend_compute"];
const STATUSES = ["finished", "failed"];

type Shown = readonly [second: number, action: string, status: string, durationMs: number];

/** What a file has of operations of one compute that were added in this order. */
function columnsOf(shown: readonly Shown[]) {
  const database = openAccountFile(join(testDirectory(), "a.standin-account"), "create");
  try {
    const writer = new AccountWriter(database, false);
    writer.addProjects([{ id: "shop", name: "shop", created_at: T0 }], T0, false);
    writer.addOperations(
      "shop",
      shown.map(([second, action, status, total_duration_ms], index) => ({
        ...{ id: `op-${index}`, endpoint_id: "ep-a", action, status, failures_count: 0, total_duration_ms },
        created_at: T0 + second * 1_000,
      })),
    );
    const [endpoint] = readEndpoints(database, ACTIONS, STATUSES);
    if (endpoint === undefined) throw new Error("no compute was read");
    return endpoint.operations;
  } finally {
    database.close();
  }
}

test("operations are read oldest first, each with its duration and the positions of its action and status", () => {
  const { createdAt, durationMs, action, status } = columnsOf([
    [400, "suspend_compute", "failed", 90],
    [0, "start_compute", "finished", 350],
    [500, "apply_config", "running", 7],
  ]);
  expect([...createdAt].map((at) => (at - T0) / 1_000)).toEqual([0, 400, 500]);
  expect([...durationMs]).toEqual([350, 90, 7]);
  expect([...action]).toEqual([0, 1, 2]);
  expect([...status]).toEqual([0, 1, 2]);
});

test.each([0, 1, 24 * 3_600_000, 2 ** 45])("a duration of %i ms is read as it was written", (ms) => {
  const { durationMs, action, status } = columnsOf([[0, "apply_config", "running", ms]]);
  expect([durationMs[0], action[0], status[0]]).toEqual([ms, 2, 2]);
});

test("durations are read as they were written, however far apart the operations are", () => {
  const tenYearsS = 10 * 365 * 86_400;
  const { createdAt, durationMs, action, status } = columnsOf([
    [0, "start_compute", "finished", 2 ** 45],
    [1, "suspend_compute", "failed", 0],
    [tenYearsS, "apply_config", "running", 3_600_000],
  ]);
  expect([...createdAt].map((at) => (at - T0) / 1_000)).toEqual([0, 1, tenYearsS]);
  expect([...durationMs]).toEqual([2 ** 45, 0, 3_600_000]);
  expect([...action]).toEqual([0, 1, 2]);
  expect([...status]).toEqual([0, 1, 2]);
});

test("a negative duration changes nothing else of its operation", () => {
  const { createdAt, durationMs, action, status } = columnsOf([
    [0, "start_compute", "finished", -5],
    [1, "suspend_compute", "failed", -1],
  ]);
  expect([...createdAt].map((at) => at - T0)).toEqual([0, 1_000]);
  expect([...durationMs]).toEqual([-5, -1]);
  expect([[...action], [...status]]).toEqual([
    [0, 1],
    [0, 1],
  ]);
});

test("operations that lie millions of years apart are rejected", () => {
  expect(() =>
    columnsOf([
      [-1e12, "start_compute", "finished", 1],
      [1e12, "suspend_compute", "finished", 1],
    ]),
  ).toThrow("the operations of compute 1 lie too many years apart to be read");
});

test("a compute without operations of these kinds has its others", () => {
  const { action, status } = columnsOf([[0, "create_branch", "skipped", 1]]);
  expect([action[0], status[0]]).toEqual([2, 2]);
});

test("a compute that only operations name has their branch", () => {
  const database = openAccountFile(join(testDirectory(), "a.standin-account"), "create");
  try {
    const operation = { status: "finished", failures_count: 0, total_duration_ms: 5, created_at: T0 };
    new AccountWriter(database, false).addOperations("shop", [
      { ...operation, id: "op-a", endpoint_id: "ep-a", branch_id: "br-dev", action: "start_compute" },
      { ...operation, id: "op-b", endpoint_id: "ep-b", action: "start_compute" },
    ]);
    const read = [...readEndpoints(database, ACTIONS, STATUSES)].map(({ id, branch, type }) => [
      id,
      branch,
      type,
    ]);
    expect(read).toEqual([
      ["ep-a", "br-dev", "unknown"],
      ["ep-b", "", "unknown"],
    ]);
  } finally {
    database.close();
  }
});
