import { expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/kernel/time.ts";
import { accountCurve } from "../../../src/whatif/periods/account-curve.ts";
import { accountCurvePage } from "../../../src/whatif/periods/account-curve-page.ts";
import { accountFleet } from "../../../src/whatif/periods/account-fleet.ts";
import { awakeHours } from "../../../src/whatif/periods/awake-hours.ts";
import { planExperiment, REPORTED_BUDGET } from "../../../src/whatif/periods/experiment-plan.ts";
import { withoutHours } from "../../../src/whatif/periods/omitted-hours.ts";
import type { ActivePeriod } from "../../../src/whatif/periods/period-columns.ts";
import { operationColumns, periodColumns } from "../../support/account/operation-columns.ts";

const MONDAY = Date.UTC(2026, 0, 5);
const END = MONDAY + DAY;

function period(from: number, to: number | undefined): ActivePeriod {
  return {
    ...{ requestedAt: MONDAY + from, startedBy: "request", startMs: 0, delay: 300, restartedAt: [] },
    ...(to === undefined
      ? { suspendedAt: undefined, end: "open" }
      : { suspendedAt: MONDAY + to, end: "autosuspend" }),
  };
}

const hour = (index: number) => ({ startAt: MONDAY + index * HOUR, endAt: MONDAY + (index + 1) * HOUR });

function remaining(periods: readonly ActivePeriod[], hours: readonly number[]) {
  const { periods: rest, ...others } = withoutHours(periodColumns(periods), hours.map(hour), END);
  const minutes = (at: number) => (at - MONDAY) / MINUTE;
  return {
    periods: [...rest].map(({ requestedAt }) => minutes(requestedAt)),
    ends: [...rest].map((_, index) =>
      rest.isLastOfRecord(index) ? minutes(rest.recordEnd(index, END)) : undefined,
    ),
    spans: others.spans.map(({ startAt, endAt }) => [minutes(startAt), minutes(endAt)]),
    omitted: others.omittedPeriods,
  };
}

test("a period that overlaps an omitted hour is omitted as a whole, and the record ends where it begins", () => {
  const periods = [
    period(0, 10 * MINUTE),
    period(50 * MINUTE, 70 * MINUTE),
    period(130 * MINUTE, 140 * MINUTE),
    period(150 * MINUTE, 160 * MINUTE),
  ];
  expect(remaining(periods, [1])).toEqual({
    ...{ periods: [0, 130, 150], ends: [50, undefined, DAY / MINUTE], spans: [[50, 120]], omitted: 1 },
  });
});

test.each([
  ["ends in the last second before it", [0, HOUR - SECOND], true],
  ["ends in the second in which it begins", [0, HOUR], false],
  ["begins when it ends", [2 * HOUR, 2 * HOUR + MINUTE], true],
  ["begins in its last second", [2 * HOUR - SECOND, 2 * HOUR + MINUTE], false],
  ["has not ended", [0, undefined], false],
] as const)("a period that %s: does it remain?", (_, [from, to], remains) => {
  expect(remaining([period(from, to)], [1]).omitted).toBe(remains ? 0 : 1);
});

test("an omitted hour without a period also ends a record, because the gap around it is not known", () => {
  const periods = [period(0, 10 * MINUTE), period(130 * MINUTE, 140 * MINUTE)];
  expect(remaining(periods, [1])).toMatchObject({ periods: [0, 130], ends: [60, DAY / MINUTE], omitted: 0 });
});

/** A start each hour from `firstHour` on, for 10 minutes. The metered time of these hours is another. */
function recordOf(project: string, differentHours: readonly number[], firstHour = 0) {
  const operation = (action: string, at: number) => ({
    ...{ action, status: "finished", createdAt: MONDAY + at, durationMs: 0 },
  });
  const hours = Array.from({ length: 24 - firstHour }, (_, index) => firstHour + index);
  const createdAt = firstHour === 0 ? MONDAY - DAY : MONDAY + firstHour * HOUR;
  const compute = {
    ...{ id: `ep-${project}`, project, projectName: project, createdAt, deletedAt: undefined },
    operations: operationColumns(
      hours.flatMap((index) => [
        operation("start_compute", index * HOUR),
        operation("suspend_compute", index * HOUR + 10 * MINUTE),
      ]),
    ),
    settings: [{ firstSeenAt: createdAt, lastSeenAt: END, suspendTimeoutSeconds: 300, minCu: 0.25 }],
  };
  const metered = hours.map((index) => {
    const activeS = differentHours.includes(index) ? 3_600 : 600;
    return { project, ...hour(index), activeS, computeS: activeS / 4 };
  });
  return { compute, metered };
}

function fleetWith(differentHours: readonly number[], isStrict: boolean) {
  const { compute, metered } = recordOf("shop", differentHours);
  return accountFleet([compute], metered, END, 300, isStrict);
}

const QUESTION = { pricePerCuHour: 0.2, coldStartS: 30, settable: "all", delays: [] } as const;

test("--strict gives the figures of the hours that remain, and says what it omits", () => {
  const curve = accountCurve(fleetWith([3, 4, 20], true), QUESTION);
  expect(curve.account.periods).toBe(21);
  expect(curve.reconciliation).toMatchObject({
    hours_that_differ: 3,
    omitted: { hours: 3, periods: 3, active_h: 0.5 },
  });
  // Ten minutes of each hour, also of those that remain.
  expect(curve.recorded.active_h_per_day).toBeCloseTo(4, 10);
  expect(accountCurvePage(curve).answer.at(-1)).toBe(
    "Omitted: 3 hours that differ, and 3 periods that overlap them, 0.50 h active. The figures describe the remaining time.",
  );
});

test("--strict weights what remains of a compute by the time that it existed", () => {
  const [old, late] = [recordOf("old", []), recordOf("late", [15, 16, 20], 12)];
  const fleet = accountFleet(
    [old.compute, late.compute],
    [...old.metered, ...late.metered],
    ...([END, 300, true] as const),
  );
  // Ten minutes of each hour: 24 hours of one, and 12 of the other.
  expect(accountCurve(fleet, QUESTION).recorded.active_h_per_day).toBeCloseTo(6, 10);
});

test("without --strict, hours that differ are included, and the answer counts them", () => {
  const curve = accountCurve(fleetWith([3], false), QUESTION);
  expect(curve.account.periods).toBe(24);
  expect(curve.reconciliation).toMatchObject({ hours_that_differ: 1, omitted: null });
  expect(accountCurvePage(curve).answer.at(-1)).toMatch(
    /; 1 hour of 24 differs by more than the resolution\.$/,
  );
});

test("--strict changes no figure if no hour differs", () => {
  const [whole, strict] = [false, true].map((isStrict) => accountCurve(fleetWith([], isStrict), QUESTION));
  expect(strict).toEqual({
    ...whole,
    reconciliation: { ...whole?.reconciliation, omitted: { hours: 0, periods: 0, active_h: 0 } },
  });
});

test("an omitted hour has no share of the week, and those that remain have all of theirs", () => {
  const [shop] = awakeHours(fleetWith([3], true));
  expect(shop?.shares.slice(2, 5)).toEqual([1 / 6, 0, 1 / 6]);
});

test("a plan with --strict says what it omits", () => {
  const plan = planExperiment(fleetWith([3], true), () => true, REPORTED_BUDGET, QUESTION);
  expect(plan.omitted).toEqual({ hours: 1, periods: 1, active_h: 1 / 6 });
  expect(plan.computes).not.toEqual([]);
});

test("counts of periods are not rounded", () => {
  const curve = accountCurve(fleetWith([], false), QUESTION);
  const account = { ...curve.account, periods: 1_948, periods_with_known_delay: 3 };
  expect(accountCurvePage({ ...curve, account }).answer.join(" ")).toContain(
    "unknown for 1,945 of 1,948 periods",
  );
});
