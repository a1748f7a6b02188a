import { expect, test } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../src/kernel/time.ts";
import { accountFleet } from "../../../src/whatif/periods/account-fleet.ts";
import { awakeHours, HOURS_OF_WEEK, hoursText } from "../../../src/whatif/periods/awake-hours.ts";
import { operationColumns } from "../../support/account/operation-columns.ts";

/** A Monday, 00:00 UTC. */
const MONDAY = Date.UTC(2026, 0, 5);

function weeksOf(intervals: readonly (readonly [from: number, to: number])[], id = "ep-a") {
  const operation = (action: string, at: number) => ({
    ...{ action, status: "finished", createdAt: MONDAY + at, durationMs: 0 },
  });
  const compute = {
    ...{ id, project: "shop", projectName: "Shop", createdAt: MONDAY - DAY, deletedAt: undefined },
    operations: operationColumns(
      intervals.flatMap(([from, to]) => [operation("start_compute", from), operation("suspend_compute", to)]),
    ),
    settings: [],
  };
  const unused = { ...compute, id: "ep-unused", operations: operationColumns([]) };
  return awakeHours(accountFleet([compute, unused], [], MONDAY + 14 * DAY, 300));
}

test("an hour of the week has the share of all such hours in which the compute was active", () => {
  const [week] = weeksOf([
    [0, 1],
    [9 * HOUR + 45 * MINUTE, 10 * HOUR + 30 * MINUTE],
    [7 * DAY + 9 * HOUR, 7 * DAY + 9 * HOUR + 15 * MINUTE],
    [13 * DAY + 23 * HOUR, 14 * DAY],
  ]);
  expect(week?.shares).toHaveLength(HOURS_OF_WEEK);
  expect(week?.shares[9]).toBeCloseTo(0.25);
  expect(week?.shares[10]).toBeCloseTo(0.25);
  expect(week?.shares[167]).toBeCloseTo(0.5);
  expect(week?.shares[11]).toBe(0);
  expect(week?.activeMs).toBeCloseTo(2 * HOUR, -2);
});

test("computes without a start are left out, and a project with several computes shows their ids", () => {
  expect(weeksOf([[0, HOUR]]).map(({ name }) => name)).toEqual(["ep-a"]);
});

test.each([
  [0, "Monday 00:00"],
  [33, "Tuesday 09:00"],
  [167, "Sunday 23:00"],
])("hour %i of the week is %s", (hour, text) => {
  expect(hoursText(hour)).toBe(text);
});
