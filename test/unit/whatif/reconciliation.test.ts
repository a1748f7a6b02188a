import { expect, test } from "vitest";
import { HOUR, SECOND } from "../../../src/kernel/time.ts";
import type { ActivePeriod } from "../../../src/whatif/periods/period-columns.ts";
import { reconcile } from "../../../src/whatif/periods/reconciliation.ts";
import { periodColumns } from "../../support/account/operation-columns.ts";

const T0 = 1_767_225_600_000;

/** A period of the compute, in seconds after the beginning. */
const period = (from: number, to: number | undefined, startMs = 0): ActivePeriod => ({
  ...{ requestedAt: T0 + from * SECOND, startedBy: "request", startMs },
  suspendedAt: to === undefined ? undefined : T0 + to * SECOND,
  ...{ delay: 300, restartedAt: [] },
  end: to === undefined ? "open" : "autosuspend",
});
const hour = (index: number, activeS: number, project = "shop") => ({
  ...{ project, activeS },
  ...{ startAt: T0 + index * HOUR, endAt: T0 + (index + 1) * HOUR },
});

function differences(activeS: number, periods: readonly ActivePeriod[]) {
  return reconcile([hour(0, activeS)], () => [periodColumns(periods)], T0 + HOUR).different.map(
    ({ byOperationsS }) => byOperationsS,
  );
}

test("a period that crosses an hour counts in both", () => {
  const answer = reconcile(
    [hour(0, 600), hour(1, 300)],
    () => [periodColumns([period(3_000, 3_900)])],
    T0 + 2 * HOUR,
  );
  const sums = { frames: 2, meteredS: 900, byOperationsS: 900 };
  expect(answer).toEqual({ ...sums, projects: [{ project: "shop", ...sums, different: 0 }], different: [] });
});

test("a start is not active time, and an open period lasts until the last pull", () => {
  const answer = reconcile(
    [hour(0, 590)],
    () => [periodColumns([period(0, undefined, 10_000)])],
    T0 + 600 * SECOND,
  );
  expect(answer.byOperationsS).toBe(590);
});

test("all computes of a project are metered together", () => {
  const answer = reconcile(
    [hour(0, 700)],
    () => [period(0, 400), period(100, 400)].map((own) => periodColumns([own])),
    T0 + HOUR,
  );
  expect(answer).toMatchObject({ byOperationsS: 700, different: [] });
});

test("each project has its own sums, and counts its hours that differ", () => {
  const answer = reconcile(
    [hour(0, 300, "shop"), hour(1, 900, "shop"), hour(0, 300, "blog")],
    () => [periodColumns([period(0, 300)])],
    T0 + 2 * HOUR,
  );
  expect(answer.projects).toEqual([
    { project: "shop", frames: 2, meteredS: 1_200, byOperationsS: 300, different: 1 },
    { project: "blog", frames: 1, meteredS: 300, byOperationsS: 300, different: 0 },
  ]);
});

test("an hour differs beyond a second for each start and suspend in it, and one for rounding", () => {
  const periods = [period(1_000, 1_400)];
  expect(differences(403, periods)).toEqual([]);
  expect(differences(397, periods)).toEqual([]);
  expect(differences(404, periods)).toEqual([400]);
  expect(differences(396, periods)).toEqual([400]);
});

test("hours that differ are listed, the largest difference first, each with its project", () => {
  const periodsOf = (project: string) => (project === "shop" ? [periodColumns([period(0, 400)])] : []);
  const { different } = reconcile([hour(0, 500), hour(0, 900, "blog")], periodsOf, T0 + HOUR);
  expect(different.map(({ project, activeS, byOperationsS }) => [project, activeS, byOperationsS])).toEqual([
    ["blog", 900, 0],
    ["shop", 500, 400],
  ]);
});

test("hours before the oldest operation are not compared", () => {
  const answer = reconcile([hour(0, 500), hour(1, 0)], () => [], T0 + 2 * HOUR, T0 + HOUR);
  expect(answer).toMatchObject({ frames: 1, meteredS: 0, byOperationsS: 0, different: [] });
});
