import { describe, expect, test } from "vitest";
import type { Granularity } from "../../../../../src/platform/model/usage-totals.ts";
import {
  checkConsumptionWindow,
  consumptionOf,
  usageThisMonth,
} from "../../../../../src/platform/rules/usage/consumption.ts";
import { active, at, idle, worldWith } from "./usage-scene.ts";

describe("timeframes", () => {
  const starts = (from: string, to: string, granularity: Granularity, now: string) =>
    consumptionOf(worldWith([]), "br-main", [], { from: at(from), to: at(to), granularity }, at(now)).map(
      ({ start, end }) => [start, end].map((instant) => new Date(instant).toISOString().slice(5, 13)),
    );

  test("begin with the one that contains from, and end before the one that contains to", () => {
    const hours = [
      ["01-05T10", "01-05T11"],
      ["01-05T11", "01-05T12"],
    ];
    expect(starts("05 10:59", "05 12:00", "hourly", "10 00:00")).toEqual(hours);
    expect(starts("05 10:00", "05 12:59", "hourly", "10 00:00")).toEqual(hours);
    expect(starts("30 12:00", "2026-03-01T00:00", "monthly", "2026-04-01T00:00")).toEqual([
      ["01-01T00", "02-01T00"],
      ["02-01T00", "03-01T00"],
    ]);
  });

  test("begin by the current instant at the latest", () => {
    expect(starts("05 10:00", "09 00:00", "hourly", "05 11:00")).toEqual([["01-05T10", "01-05T11"]]);
    expect(starts("05 10:00", "09 00:00", "daily", "05 11:00")).toEqual([["01-05T00", "01-06T00"]]);
  });
});

describe("consumption", () => {
  const seconds = (world: ReturnType<typeof worldWith>, from: string, to: string, granularity: Granularity) =>
    consumptionOf(
      world,
      "br-main",
      [],
      { from: at(from), to: at(to), granularity },
      at("2026-03-01T00:00"),
    ).map(({ activeSeconds, computeSeconds }) => [activeSeconds, computeSeconds]);

  test("counts active seconds, and compute seconds by the size", () => {
    const world = worldWith([["05 10:59:00", "05 11:00:30", 4]]);
    expect(seconds(world, "05 10:00", "05 12:00", "hourly")).toEqual([
      [60, 240],
      [30, 120],
    ]);
  });

  test("reports a second in the timeframe in which it is completed", () => {
    const world = worldWith([
      ["04 23:00:00.000", "04 23:00:00.600"],
      ["05 10:00:00.000", "05 10:00:00.600"],
      ["05 11:00:00.000", "05 11:00:00.700"],
      ["05 12:00:00.000", "05 12:00:00.200"],
    ]);
    expect(seconds(world, "04 00:00", "06 00:00", "daily")).toEqual([
      [0, 0],
      [2, 2],
    ]);
    // What is left of earlier days of the month, and of earlier hours of the day, counts as well.
    expect(seconds(world, "05 10:00", "05 13:00", "hourly")).toEqual([
      [1, 1],
      [0, 0],
      [1, 1],
    ]);
    expect(seconds(world, "05 12:00", "05 13:00", "hourly")).toEqual([[1, 1]]);
  });

  test("counts the days of the month whose hours have expired", () => {
    const world = worldWith([
      ["02 10:00:00.000", "02 10:00:00.600"],
      ["20 10:00:00.000", "20 10:00:00.600"],
    ]);
    expect(seconds(world, "20 10:00", "20 11:00", "hourly")).toEqual([[1, 1]]);
  });

  test("restarts the count of seconds each month", () => {
    const world = worldWith([
      ["31 23:00:00.000", "31 23:00:00.600"],
      ["2026-02-01T10:00:00.000", "2026-02-01T10:00:00.600"],
      ["2026-02-02T10:00:00.000", "2026-02-02T10:00:00.600"],
    ]);
    expect(seconds(world, "31 00:00", "2026-02-03T00:00", "daily")).toEqual([
      [0, 0],
      [0, 0],
      [1, 1],
    ]);
  });

  test("includes computes that are active, until now", () => {
    const window = { from: at("05 10:00"), to: at("05 14:00"), granularity: "hourly" } as const;
    const computes = [active("05 10:59", 2), idle];
    const frames = consumptionOf(worldWith([]), "br-main", computes, window, at("05 11:00:10"));
    expect(frames.map(({ use }) => use)).toEqual([
      { activeMs: 60_000, cuMs: 120_000 },
      { activeMs: 10_000, cuMs: 20_000 },
    ]);
  });
});

test("the usage of this month begins with the month", () => {
  const world = worldWith([
    ["31 23:30", "31 23:50"],
    ["31 23:55", "2026-02-01T00:10", 2],
  ]);
  expect(usageThisMonth(world, "br-main", [active("31 23:00", 4)], at("2026-02-01T01:00"))).toEqual({
    activeMs: (10 + 60) * 60_000,
    cuMs: (10 * 2 + 60 * 4) * 60_000,
  });
});

describe("the window of a request", () => {
  const NOW = "2026-07-15T12:30";
  const check = (from: string, to: string, granularity: Granularity, now = NOW) =>
    checkConsumptionWindow({ from: at(from), to: at(to), granularity }, at(now));

  test("may be empty, and must not end before it begins", () => {
    expect(check("2026-07-15T10:00", "2026-07-15T10:00", "hourly")).toBeUndefined();
    expect(check("2026-07-15T10:01", "2026-07-15T10:00", "hourly")).toEqual({
      code: "CONSUMPTION_WINDOW",
      message: "from: must not be later than to",
    });
  });

  const limits = [
    { granularity: "hourly", oldest: "2026-07-08T12:00", tooOld: "2026-07-08T11:59", text: "168 hours" },
    { granularity: "daily", oldest: "2026-05-16T00:00", tooOld: "2026-05-15T23:59", text: "60 days" },
    { granularity: "monthly", oldest: "2025-07-01T00:00", tooOld: "2025-06-30T23:59", text: "year" },
  ] as const;
  test.each(limits)("$granularity usage is available for the last $text", (limit) => {
    const { granularity, oldest, tooOld, text } = limit;
    expect(check(oldest, NOW, granularity)).toBeUndefined();
    expect(check(tooOld, NOW, granularity)).toEqual({
      code: "CONSUMPTION_WINDOW",
      message: `from: ${granularity} metrics are limited to the last ${text}, and start on March 1, 2024; use a later from or a coarser granularity`,
    });
  });

  test("begins on March 1, 2024 at the earliest", () => {
    expect(check("2024-03-01T00:00", "2024-04-01T00:00", "monthly", "2024-05-01T00:00")).toBeUndefined();
    expect(check("2024-02-29T23:59", "2024-04-01T00:00", "monthly", "2024-05-01T00:00")).toMatchObject({
      code: "CONSUMPTION_WINDOW",
    });
  });
});
