import { expect, test } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../src/kernel/time.ts";
import { accountFleet } from "../../../src/whatif/periods/account-fleet.ts";
import { accountTables } from "../../../src/whatif/periods/account-tables.ts";
import { awakeCauses } from "../../../src/whatif/periods/awake-causes.ts";
import { planExperiment, REPORTED_BUDGET } from "../../../src/whatif/periods/experiment-plan.ts";
import { operationColumns } from "../../support/account/operation-columns.ts";

const MONDAY = Date.UTC(2026, 0, 5);
const END = MONDAY + 2 * DAY;
const PRICES = { pricePerCuHour: 0.2, coldStartS: 30 };

type Period = readonly [from: number, to: number | undefined];

/** A compute that existed before; its starts take no time. */
function computeOf(
  periods: readonly Period[],
  { id = "ep-a", project = "shop", delayS = 300, createdAt = MONDAY - DAY } = {},
) {
  const operation = (action: string, at: number) => ({
    ...{ action, status: "finished", createdAt: MONDAY + at, durationMs: 0 },
  });
  const settings = { firstSeenAt: MONDAY - DAY, lastSeenAt: END, suspendTimeoutSeconds: delayS, minCu: 0.25 };
  return {
    ...{ id, project, projectName: "Shop", createdAt, deletedAt: undefined },
    operations: operationColumns(
      periods.flatMap(([from, to]) => [
        operation("start_compute", from),
        ...(to === undefined ? [] : [operation("suspend_compute", to)]),
      ]),
    ),
    settings: Number.isNaN(delayS) ? [] : [settings],
  };
}

function causesOf(...args: Parameters<typeof computeOf>) {
  return awakeCauses(accountFleet([computeOf(...args)], [], END, 300));
}

const NONE = { requests: 0, idle: 0, unused: 0, unknown: 0 };

test("the delay after the last request is idle, and the rest of a period is requests and short gaps", () => {
  const [shop] = causesOf([
    [0, 20 * MINUTE],
    [HOUR, HOUR + 6 * MINUTE],
  ]);
  expect(shop).toEqual({
    ...{ name: "Shop", activeMs: 26 * MINUTE, weight: 1 },
    byCause: { ...NONE, idle: 10 * MINUTE, requests: 16 * MINUTE },
  });
});

test.each<[string, Period, Parameters<typeof computeOf>[1]]>([
  ["has not ended", [0, undefined], {}],
  ["has no known delay", [0, HOUR], { delayS: Number.NaN }],
  ["was suspended by a call, because no delay suspends it", [0, HOUR], { delayS: -1 }],
  ["was suspended before its delay had ended", [0, MINUTE], {}],
])("the cause of a period that %s is not known", (_, period, options) => {
  const [shop] = causesOf([period], options);
  expect(shop?.activeMs).toBeGreaterThan(0);
  expect(shop?.byCause).toEqual({ ...NONE, unknown: shop?.activeMs });
});

test("a compute that its creation started, and that suspends one delay later, had no request", () => {
  const [shop] = causesOf([[0, 5 * MINUTE]], { createdAt: MONDAY });
  expect(shop?.byCause).toEqual({ ...NONE, unused: 5 * MINUTE });
  const [used] = causesOf([[0, 20 * MINUTE]], { createdAt: MONDAY });
  expect(used?.byCause).toEqual({ ...NONE, idle: 5 * MINUTE, requests: 15 * MINUTE });
});

test("computes of projects with the same name are shown with their ids", () => {
  const computes = [
    computeOf([[0, HOUR]]),
    computeOf([[0, 2 * HOUR]], { id: "ep-b", project: "other" }),
    computeOf([], { id: "ep-unused", project: "unused" }),
  ];
  const names = awakeCauses(accountFleet(computes, [], END, 300)).map(({ name }) => name);
  expect(names).toEqual(["ep-b", "ep-a"]);
});

test("a report has the awake time, the next experiment, and each project and hour against the metered time", () => {
  const periods = Array.from(
    { length: 40 },
    (_, index): Period => [index * HOUR, index * HOUR + 10 * MINUTE],
  );
  const metered = (hour: number, activeS: number) => ({
    ...{ project: "shop", activeS, computeS: activeS / 4 },
    ...{ startAt: MONDAY + hour * HOUR, endAt: MONDAY + (hour + 1) * HOUR },
  });
  const fleet = accountFleet([computeOf(periods)], [metered(0, 600), metered(1, 900)], END, 300);
  const plan = planExperiment(
    fleet,
    () => true,
    { ...REPORTED_BUDGET, maxExtraColdStartsPerDay: 1_000 },
    PRICES,
  );
  const tables = accountTables(fleet, plan, REPORTED_BUDGET);
  expect(tables.map(({ name }) => name)).toEqual([
    ...["awake-time", "experiment", "reconciliation", "hours-that-differ"],
  ]);
  const cells = tables.map(({ rows }) => rows.map((row) => row.cells));
  expect(cells[0]).toEqual([["Shop", "6.67", "3.33", "3.33", "0", "0"]]);
  expect(cells[1]).toEqual([expect.arrayContaining(["ep-a", "5 min", "1 min"])]);
  expect(cells[2]).toEqual([
    ["all projects", "0.33", "0.42", "−20.0 %", "2", "1"],
    ["Shop", "0.33", "0.42", "−20.0 %", "2", "1"],
  ]);
  expect(cells[3]).toEqual([["Shop", "2026-01-05 01:00", "600", "900"]]);
});

test("a report without metered hours and without an experiment has neither table", () => {
  const fleet = accountFleet([computeOf([[0, HOUR]], { delayS: 60 })], [], END, 300);
  const plan = planExperiment(fleet, () => true, REPORTED_BUDGET, PRICES);
  expect(accountTables(fleet, plan, REPORTED_BUDGET).map(({ name }) => name)).toEqual(["awake-time"]);
});
